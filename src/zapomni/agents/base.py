"""What a client is to us: what of ours it can hold, where on this machine, and what it will and will not do."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from zapomni.agents.edits import Edit


AGENT: Final = "ZAPOMNI_AGENT"
"""The variable by which a server is told whose agent it serves: it sees `agent:NAME`, as that client's hooks do."""


class Part(StrEnum):
    """The four things of ours that a client may hold."""

    SERVER = "server"
    HOOKS = "hooks"
    RULES = "rules"
    SKILL = "skill"


class Reach(StrEnum):
    """Whom a wiring serves: the user everywhere, or whoever works in one project."""

    USER = "user"
    PROJECT = "project"


class Launch(Struct, frozen=True, kw_only=True):
    """How a client starts us.

    `command` is a whole path for the user, and the bare name in a project's files, which other people share;
    `environment` are variables that the client hands over, `windows` is for how a command line is quoted.
    """

    client: str
    command: str
    environment: Mapping[str, str] = field(default_factory=dict)
    windows: bool = False

    @property
    def server(self) -> tuple[str, ...]:
        """The command of the server, word by word."""
        return (self.command, "serve")

    @property
    def hook_words(self) -> tuple[str, ...]:
        """The command of the hook, word by word; few clients hand variables to hooks, so the folder is an option."""
        home = self.environment.get("ZAPOMNI_HOME")
        return (self.command, "hook", "--client", self.client, *(("--home", home) if home else ()))

    @property
    def hook(self) -> str:
        """The command line of the hook. It stays the same over upgrades: Codex trusts its very characters."""
        from shlex import quote

        if self.windows:
            return " ".join(f'"{word}"' if " " in word else word for word in self.hook_words)
        return " ".join(map(quote, self.hook_words))


class Aim(Struct, frozen=True, kw_only=True):
    """One part of ours in one file: its places for the user and for a project, and the edit that puts it there.

    A place is a path under a root of the machine, such as `{home}/.cursor/mcp.json`. Of several the first that is
    there is meant, or else the last. `where` is a place that must be there, such as the folder of an extension.
    """

    part: Part
    user: tuple[str, ...] = ()
    project: tuple[str, ...] = ()
    edit: Callable[[Launch], Edit]
    executable: bool = False
    where: str = ""


class OwnCommand(Struct, frozen=True, kw_only=True):
    """A client's own command for adding a server: the program, and what it is called with in each of its reaches."""

    program: str
    add: Callable[[Launch, Reach], tuple[str, ...]]
    reaches: tuple[Reach, ...] = (Reach.USER,)


class Client(Struct, frozen=True, kw_only=True):
    """One agent's program: how it is told that it is installed, what it holds of ours, and what a person must know.

    `agent` is whose agent it runs, where that is not its own name. `open_servers` tells that other clients read the
    file in which it keeps a project's servers. `does` and `does_not` are sentences for people; the latter says what no
    wiring of ours can bring about, and `lacks` what none can for the user, though a project's can.
    """

    name: str
    title: str
    marks: tuple[str, ...]
    programs: tuple[str, ...] = ()
    aims: tuple[Aim, ...]
    own: OwnCommand | None = None
    agent: str = ""
    open_servers: bool = False
    does: str
    does_not: str
    lacks: str = ""

    def limits(self, reach: Reach) -> str:
        """Say what a wiring of this reach does not bring about."""
        return "; ".join(filter(None, [self.lacks if reach is Reach.USER else "", self.does_not]))


class Machine(Struct, frozen=True, kw_only=True):
    """Where clients keep their files here, and the variables that their programs are started with.

    `roots` are `home`, `app`, `config`, `claude`, `claude_state`, `codex`, `copilot`, `goose`, `zed` and `project`.
    """

    roots: Mapping[str, Path]
    environ: Mapping[str, str]
    windows: bool = False

    def path(self, place: str) -> Path:
        """Return the path of a place such as `{home}/.cursor/mcp.json`."""
        root, _, rest = place.partition("}")
        return self.roots[root.removeprefix("{")] / rest.lstrip("/")

    def places(self, aim: Aim, reach: Reach) -> list[Path]:
        """Return every path at which an aim may lie; a program is a script of PowerShell on Windows."""
        if reach is Reach.PROJECT and "project" not in self.roots:
            return []
        ending = ".ps1" if aim.executable and self.windows else ""
        return [self.path(place + ending) for place in (aim.user if reach is Reach.USER else aim.project)]

    def file(self, aim: Aim, reach: Reach) -> Path | None:
        """Return the file that an aim means, None where it has no place in this reach."""
        if aim.where and not _is_there(self.path(aim.where)):
            return None
        places = self.places(aim, reach)
        return next((path for path in places if _is_there(path)), places[-1] if places else None)

    def installed(self, client: Client) -> bool:
        """Tell whether a client is here: a folder or a file of it, or its program."""
        return any(_is_there(self.path(mark)) for mark in client.marks) or any(map(self.program, client.programs))

    def program(self, name: str) -> str | None:
        """Return the path of a program, None where it is not installed."""
        from shutil import which

        return which(name, path=self.environ.get("PATH", ""))


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # in a folder that may not be looked into
        return False
