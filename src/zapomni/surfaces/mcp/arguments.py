"""Reading the arguments of a call as a model means them, before the services read their values.

Models fill what they do not use with null, an empty text or the word "null", send numbers and lists as
text, and remember names from other servers. What is plainly meant is read so and told; what may be meant
otherwise is an error that names the argument.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from zapomni.errors import InvalidInput
from zapomni.model import NAME_LIMIT, ScopeKind
from zapomni.text.clean import cut
from zapomni.text.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zapomni.surfaces.mcp.tool import Tool

NO_VALUES: Final = {"null", "none", "undefined"}
"""Words that stand for "nothing" in some language; no scope, tag or date is called so."""
_CLEARING: Final = "none"
"""The one of them by which `update_memory` empties a field."""
_LOOKS_UP: Final = {"id", "scope", "move_to", "version"}
"""Arguments of `update_memory` that are no fields of the memory and cannot be emptied."""
_IGNORED: Final = 20
"""Most unknown arguments that an answer names."""
_ALIASES: Final = {"type": "kind", "context": "scope"}
"""Names of the ancestor's tools (article A) that its users' rules still hold."""


class Given(Struct):
    """The arguments that were really given, by name, and what has to be told about the others.

    `tell` takes a word on how the call goes on, before its answer.
    """

    values: dict[str, Any] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tell: Callable[[str], None] | None = None

    def take(self, name: str) -> Any:
        """Return one argument, None when it was left out, and leave the others."""
        return self.values.pop(name, None)


def read_arguments(tool: Tool, raw: Mapping[str, Any] | None) -> Given:
    """Return the arguments of a call: nothing blank, nothing unknown, every required one there.

    Raises `InvalidInput` naming the argument.
    """
    given = Given()
    for name, value in _renamed(tool, raw or {}, given.notes).items():
        if name not in tool.known:
            if len(given.ignored) < _IGNORED:
                given.ignored.append(_unknown(name, tool))
        elif name in tool.required:
            if value is not None:
                given.values[name] = _required(name, value)
        elif not _is_blank(value := _plain(tool, name, value)):
            _refuse_no_value(tool, name, value)
            given.values[name] = value
    for name in tool.required:
        if name not in given.values:
            raise InvalidInput(name, "it is missing", remedy=f"{tool.name} needs {', '.join(tool.required)}")
    return given


def _unknown(name: str, tool: Tool) -> str:
    name = cut(name, NAME_LIMIT)
    close = nearest(name, tool.known, 1)
    return f"{name} (did you mean {close[0]}?)" if close else name


def _renamed(tool: Tool, raw: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return the arguments with the ancestor's names in ours; ours win where both are given."""
    values = dict(raw)
    for old, new in _ALIASES.items():
        if old not in values or old in tool.known or new not in tool.known:
            continue
        value = values.pop(old)
        if _is_blank(value):
            continue
        if _is_blank(values.get(new)):
            values[new] = _scope_of(value) if new == "scope" else value
            notes.append(f"{old} was read as {new}: {values[new]}")
        else:
            notes.append(f"{old} was passed over: {new} is given")
    return values


def _scope_of(context: Any) -> Any:
    """Return the scope that a `context` of article A stands for: a project, unless it names a scope already."""
    if not isinstance(context, str) or context.strip().lower() in NO_VALUES:
        return context
    head = context.strip().partition(":")[0]
    return context if head in set(ScopeKind) else f"project:{context.strip()}"


def _plain(tool: Tool, name: str, value: Any) -> Any:
    """Return a value without what says nothing: blank entries of a list, a number where text is meant."""
    kind = tool.takes.get(name, {}).get("type", "string")
    if kind == "array" and isinstance(value, str) and value.strip().startswith("["):
        value = _decoded(value)
    if isinstance(value, list):
        return [_as_text(item) for item in value if not _is_blank(item)]
    return _as_text(value) if kind == "string" else value


def _decoded(text: str) -> Any:
    """Return the JSON list inside a text, or the text when it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, list) else [text]


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or value in ([], {})


def _required(name: str, value: Any) -> str:
    """Return a text, a blank one too: the services say what to give instead."""
    value = _as_text(value)
    if not isinstance(value, str):
        raise InvalidInput(name, f"it must be text, not {type(value).__name__}")
    return value


def _refuse_no_value(tool: Tool, name: str, value: Any) -> None:
    for item in value if isinstance(value, list) else [value]:
        word = item.strip().lower() if isinstance(item, str) else ""
        if word not in NO_VALUES:
            continue
        if word == _CLEARING and tool.name == "update_memory" and name not in _LOOKS_UP:
            continue
        raise InvalidInput(name, f"the word {item!r} is no value", remedy="Leave the argument out")
