"""Which format a transcript has: told by what stands in it, for one client may keep the files of another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from zapomni.readers.base import Unreadable
from zapomni.readers.transcripts import formats
from zapomni.readers.transcripts.lines import Line, first_lines, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from zapomni.model.session import Turn

WHOLE_LIMIT: Final = 32 * 2**20
"""Bytes of a transcript that is one JSON document: it has no end that could be read alone."""
_HEAD: Final = 100
"""Lines within which a transcript names its session: most clients do so in the first one."""
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_CODEX: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context"})


def read_transcript(path: Path, tail: int | None = None) -> list[Turn]:
    """Return what was said in the session of a file, in order; with `tail`, in about its last bytes.

    Raises `Unreadable` for a file that cannot be opened, is compressed or is no transcript.
    """
    try:
        if _has_no_end(path):
            raise Unreadable("it is a pipe or a device, not a file")
        with path.open("rb") as file:
            head = file.read(64)
        if head.startswith(_ZSTD):
            raise Unreadable("it is compressed with zstd; unpack it first")
        for lines in (read_lines(path, tail), _document(path)):
            parse = _format(lines)
            if parse is not None:
                return parse(lines)
    except OSError as error:
        raise Unreadable(error.strerror or "it cannot be opened") from None
    raise Unreadable("it is no transcript of a client that zapomni knows")


def session_of(path: Path) -> str:
    """Return the id of the session that a transcript names first, empty for none and for what cannot be read."""
    try:
        if _has_no_end(path):
            return ""
        for lines in (first_lines(path, _HEAD), _document(path)):
            named = next(filter(None, (formats.session_named(line.value) for line in lines)), "")
            if named:
                return named
    except (OSError, ValueError):  # a path with a NUL in it is a ValueError
        return ""
    return ""


def _has_no_end(path: Path) -> bool:
    """Tell whether reading a path could wait for ever."""
    return path.exists() and not (path.is_file() or path.is_dir())


def _document(path: Path) -> list[Line]:
    """Return a file that is one JSON document over several lines as the one line it means."""
    if path.stat().st_size > WHOLE_LIMIT:
        return []
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return []
    return [Line(1, value)] if isinstance(value, dict) else []


def _format(lines: Sequence[Line]) -> Callable[[Sequence[Line]], list[Turn]] | None:
    for line in lines:
        found = _format_of(line.value)
        if found is not None:
            return found
    return None


def _format_of(value: dict[str, Any]) -> Callable[[Sequence[Line]], list[Turn]] | None:
    kind = formats.text_of(value, "type")
    if "payload" in value and kind in _CODEX:
        return formats.codex
    if "projectHash" in value or "$set" in value or kind == "gemini":
        return formats.gemini
    if isinstance(value.get("data"), dict) and "." in kind:
        return formats.copilot
    if kind in {"user", "assistant"} and isinstance(value.get("message"), dict):
        return formats.claude
    if isinstance(value.get("messages"), list) or (
        formats.text_of(value, "role") in {"user", "assistant"} and "content" in value
    ):
        return formats.messages
    return None
