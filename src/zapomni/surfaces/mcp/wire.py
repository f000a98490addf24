"""The messages on the wire, before the SDK sees them: reading JSON as clients really send it.

The SDK never answers a call that holds half a surrogate pair, and drops a line that is no JSON; here both
get an answer.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from msgspec import Struct

LATEST_HANDSHAKE: Final = "2025-11-25"
"""What an `initialize` that names no version is taken to ask for."""
ENVELOPE: Final = "io.modelcontextprotocol/protocolVersion"
"""The key in `_meta` by which every request of the revision 2026-07-28 can be told."""
HALVES: Final = "zapomni/halves"
"""The key in `_meta` under which a call's handler finds what was replaced in the message."""
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600

_ESCAPED_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_HALF: Final = re.compile("[\ud800-\udfff]")
_ID: Final = rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,20})'
_ID_FIRST: Final = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?(?:"method"\s*:\s*"[^"]*"\s*,\s*)?' + _ID)
_ID_LAST: Final = re.compile(_ID + rb"\s*\}\s*$")


class Unreadable(Exception):
    """What came is no JSON."""


class Overlong(Struct, frozen=True):
    """The two ends of a line that is too long to be kept."""

    head: bytes
    tail: bytes

    def request_id(self) -> str | int | None:
        """Return the id of the request where it can be seen at one of the ends."""
        found = _ID_FIRST.match(self.head) or _ID_LAST.search(self.tail)
        try:
            value = json.loads(found[1]) if found else None
        except ValueError:
            value = None
        return value if isinstance(value, str | int) else None


def read(data: bytes) -> Any:
    """Return the JSON value in these bytes: bad UTF-8 and half surrogate pairs become U+FFFD.

    A message says under `HALVES` in its `_meta` how many halves were replaced. Raises `Unreadable`.
    """
    text = data.decode("utf-8-sig", "replace")
    try:
        value = json.loads(text, strict=False, parse_constant=_no_number)
        if _ESCAPED_HALF.search(text):
            text, halves = _HALF.subn("\ufffd", json.dumps(value, ensure_ascii=False))
            value = _noted(json.loads(text), halves)
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error) or "too deep") from None
    return value


def mended(message: Any) -> Any:
    """Return a message with what clients leave out of a handshake, and arguments sent as text read.

    Everything else is returned as it came, right or wrong.
    """
    if not isinstance(message, dict) or not isinstance(params := message.get("params", {}), dict):
        return message
    if message.get("method") == "initialize":
        asked = params.get("protocolVersion")
        known: dict[str, Any] = {"protocolVersion": asked if isinstance(asked, str) else LATEST_HANDSHAKE}
        if not isinstance(params.get("capabilities"), dict):
            known["capabilities"] = {}
        info = params.get("clientInfo")
        given = info if isinstance(info, dict) else {}
        known["clientInfo"] = {**given, **{name: str(given.get(name) or "") for name in ("name", "version")}}
        return {**message, "params": {**params, **known}}
    if message.get("method") == "tools/call" and isinstance(text := params.get("arguments"), str):
        return {**message, "params": {**params, "arguments": _object_in(text)}}
    return message


def is_modern(message: dict[str, Any]) -> bool:
    """Tell whether a request is one of the revision 2026-07-28, which has no handshake."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return message.get("method") != "initialize" and isinstance(meta, dict) and ENVELOPE in meta


def error_reply(code: int, message: str, request_id: str | int | None = None) -> bytes:
    """Return an error of the protocol as a line of the wire."""
    return line({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}})


def line(message: Any) -> bytes:
    """Return a message as one line, whatever a client takes for the end of a line."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    for end in "\u0085\u2028\u2029":
        text = text.replace(end, f"\\u{ord(end):04x}")
    return text.encode("utf-8", "replace") + b"\n"


def _noted(message: Any, halves: int) -> Any:
    params = message.get("params") if isinstance(message, dict) else None
    if not halves or not isinstance(params, dict) or not isinstance(meta := params.get("_meta") or {}, dict):
        return message
    return {**message, "params": {**params, "_meta": {**meta, HALVES: halves}}}


def _object_in(text: str) -> Any:
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
