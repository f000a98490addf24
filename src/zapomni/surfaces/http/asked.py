"""Reading a request: path, query and body as one set of named values, each of them one that the route knows."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zapomni.errors import InvalidInput
from zapomni.model import NAME_LIMIT
from zapomni.services.parse import parse_flag, parse_scopes
from zapomni.surfaces.http.call import JSON
from zapomni.text.clean import cut
from zapomni.text.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zapomni.model import Actor
    from zapomni.surfaces.http.call import Call

_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")


class Asked(Struct, frozen=True):
    """What was asked: the values by name, who asks, and the body of a route that takes bytes.

    `tell` takes what is known before the answer, where the client wants it as events.
    """

    values: dict[str, Any]
    actor: Actor
    data: bytes = b""
    tell: Callable[[Mapping[str, Any]], None] | None = None

    def take(self, name: str, default: Any = None) -> Any:
        """Return one value, the default where it was left out, and leave the others."""
        value = self.values.pop(name, None)
        return default if value is None else value

    def text(self, name: str) -> str:
        """Return one text, an empty one where it was left out, and leave the others; raises `InvalidInput`."""
        value = self.take(name, "")
        if not isinstance(value, str):
            raise InvalidInput(name, f"it must be text, not {type(value).__name__}")
        return value

    def flag(self, name: str) -> bool:
        """Return a yes or no, no where it was left out, and leave the others; raises `InvalidInput`."""
        return parse_flag(name, self.take(name))

    def scopes(self) -> tuple[str, ...]:
        """Return the scopes to look into and leave the others; raises `InvalidInput`."""
        return parse_scopes(self.take("scope"))


def read_query(call: Call, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the parameters: a list or a whole number where the route takes one, a text otherwise.

    Raises `InvalidInput` for a name that the route does not know and for a single value given twice.
    """
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name not in call.query:
            raise _unknown(name, call.query)
        if call.query[name]["type"] == "array":
            values.setdefault(name, []).append(text)
        elif name in values:
            raise InvalidInput(name, "it is given twice", remedy="Give it once")
        else:
            values[name] = int(text) if call.query[name]["type"] == "integer" and _WHOLE.fullmatch(text) else text
    return values


def read_body(call: Call, body: bytes) -> dict[str, Any]:
    """Return the fields of a JSON object; no body is an empty one.

    Raises `InvalidInput` for what is no such object and for a name that the route does not know.
    """
    if call.body is None or call.takes != JSON or not body.strip():
        return {}
    try:
        found = json.loads(body.decode("utf-8-sig"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("body", _no_json(error), remedy="Send a JSON object") from None
    if not isinstance(found, dict):
        raise InvalidInput("body", f"it must be an object, not {type(found).__name__}", remedy="Send a JSON object")
    for name in found:
        if name not in call.body:
            raise _unknown(name, call.body)
    return found


def _no_json(error: Exception) -> str:
    """Say why a body cannot be read, and where."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is no JSON in UTF-8 (byte {error.start + 1:,})"
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON (line {error.lineno:,}, character {error.colno:,})"
    if isinstance(error, RecursionError):
        return "it is no JSON that can be read: it is nested too deeply"
    return "it is no JSON that can be read: a number in it is too long"


def check_required(call: Call, values: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` for the first value that the route needs and did not get."""
    for name in call.required:
        if values.get(name) is None:
            raise InvalidInput(name, "it is missing", remedy=f"{call.title} needs {', '.join(call.required)}")


def _unknown(name: str, known: Mapping[str, Any]) -> InvalidInput:
    name = cut(name, NAME_LIMIT)
    close = nearest(name, tuple(known), 1)
    hint = f"Did you mean {close[0]}?" if close else f"It takes {', '.join(known) or 'nothing'}"
    return InvalidInput(name, "there is no such field", remedy=hint)


def _no_number(name: str) -> Any:
    raise InvalidInput("body", f"it is no JSON: {name} is no number", remedy="Send a JSON object")
