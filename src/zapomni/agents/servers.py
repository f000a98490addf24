"""The shapes in which clients want a server, and how one of ours is told from somebody else's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from zapomni.agents.base import AGENT
from zapomni.agents.edits import NAME
from zapomni.agents.json_edit import Member
from zapomni.agents.toml_edit import Table
from zapomni.agents.yaml_edit import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zapomni.agents.base import Launch
    from zapomni.agents.edits import Edit

    Shape = Callable[[Launch], Mapping[str, Any]]

ABOUT: Final = "One durable memory for all agents"
TIMEOUT_S: Final = 300
"""How long Goose waits for a call, as its other writers set it (integrations, the oracle)."""

_VARIABLES: Final = ("env", "environment", "envs")
"""What clients call the variables of an entry."""
_PROGRAM: Final = re.compile(r"(?:.*[/\\])?zapomni(?:\.exe)?", re.IGNORECASE | re.DOTALL)


def words(entry: Any) -> tuple[str, ...]:
    """Return the command line of an entry, whatever client's shape it has; empty for what starts no program."""
    entry = _launched(entry)
    command = entry.get("command", entry.get("cmd", ()))
    parts = [command] if isinstance(command, str) else command
    return tuple(str(part) for part in [*_listed(parts), *_listed(entry.get("args"))])


def variables(entry: Any) -> dict[str, str]:
    """Return the variables that an entry hands over."""
    entry = _launched(entry)
    found: Any = next((entry[name] for name in _VARIABLES if entry.get(name)), {})
    return dict(found) if isinstance(found, dict) else {}


def is_ours(entry: Any) -> bool:
    """Tell whether an entry starts our server, by whichever runner."""
    line = words(entry)
    return any(_PROGRAM.fullmatch(word) for word in line) and "serve" in line


def is_same(found: Any, wanted: Any) -> bool:
    """Tell whether an entry starts our server as wanted; options that a person added to it are theirs to keep."""
    line, given, told = words(wanted), variables(found), variables(wanted)
    return words(found)[: len(line)] == line and all(given.get(name) == told.get(name) for name in {AGENT, *told})


def renewed(found: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of ours brought up to date: it starts our server as wanted, all that was added to it stays.

    What stands behind `serve` is kept as well as variables and fields of others, such as who approved which tool.
    """
    entry = _launched(found)
    line = words(entry)
    added = list(line[line.index("serve") + 1 :])
    variable = next((name for name in _VARIABLES if name in wanted or name in entry), _VARIABLES[0])
    given = {name: value for name, value in variables(entry).items() if name != AGENT} | variables(wanted)
    tail = "args" if "args" in wanted else "command"
    fresh = {name: wanted[name] for name in ("command", "cmd") if name in wanted}
    fresh[tail] = [*wanted[tail], *added]
    kept = {name: value for name, value in entry.items() if name not in {"command", "cmd", "args", *_VARIABLES}}
    return {**wanted, **fresh, **kept, **({variable: given} if given or variable in wanted else {})}


def member(path: str, shape: Shape) -> Callable[[Launch], Edit]:
    """Return how the entry is put into an object of a JSON file."""
    return lambda launch: Member(path=(path,), value=shape(launch), ours=is_ours, same=is_same, renewed=renewed)


def table(parent: str, shape: Shape) -> Callable[[Launch], Edit]:
    """Return how the entry is put into a TOML file."""
    return lambda launch: Table(parent=parent, value=shape(launch), ours=is_ours, same=is_same, renewed=renewed)


def entry(parent: str, shape: Shape) -> Callable[[Launch], Edit]:
    """Return how the entry is put into a YAML file."""
    return lambda launch: Entry(parent=parent, value=shape(launch), ours=is_ours, same=is_same, renewed=renewed)


# --- shapes ---------------------------------------------------------------------------------------------
def plain(launch: Launch) -> dict[str, Any]:
    """`command`, `args` and `env`, which most clients share."""
    command, *args = launch.server
    found: dict[str, Any] = {"command": command, "args": args}
    return {**found, "env": dict(launch.environment)} if launch.environment else found


def typed(launch: Launch) -> dict[str, Any]:
    """The same with the transport said."""
    return {"type": "stdio", **plain(launch)}


def claude(launch: Launch) -> dict[str, Any]:
    """Claude Code hides tools behind a search unless `alwaysLoad` says otherwise."""
    return {**typed(launch), "alwaysLoad": True}


def copilot(launch: Launch) -> dict[str, Any]:
    """Copilot CLI shows only the tools that are listed."""
    return {**typed(launch), "tools": ["*"]}


def cline(launch: Launch) -> dict[str, Any]:
    """Cline's extension writes whether a server is switched off."""
    return {**plain(launch), "disabled": False}


def opencode(launch: Launch) -> dict[str, Any]:
    """OpenCode takes the command line as one list."""
    found: dict[str, Any] = {"type": "local", "command": list(launch.server), "enabled": True}
    return {**found, "environment": dict(launch.environment)} if launch.environment else found


def goose(launch: Launch) -> dict[str, Any]:
    """Goose calls servers extensions, and a command `cmd`."""
    command, *args = launch.server
    head = {"name": NAME, "description": ABOUT, "type": "stdio", "cmd": command, "args": args}
    return {**head, "envs": dict(launch.environment), "enabled": True, "timeout": TIMEOUT_S}


def _launched(entry: Any) -> dict[str, Any]:
    """Return the part of an entry that starts a program: some clients keep it in an object of its own."""
    if not isinstance(entry, dict):
        return {}
    inner = entry.get("transport")
    return inner if isinstance(inner, dict) else entry


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
