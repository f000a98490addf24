"""A memory as a note: its record between lines of `---`, then its text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PLAIN: Final = re.compile(r"[^\W\d_][\w \-./,()«»—]*(?<! )")
"""Texts that mean themselves in YAML; every other is written as JSON, which YAML reads too."""
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n", "none"})
_OURS: Final = (
    *("id", "scope", "kind", "path", "tags", "entities", "importance", "trust", "origin", "source", "position", "key"),
    *("observed_at", "valid_from", "valid_until", "created_at", "metadata"),
)
"""Fields under `zapomni:`; what only counts (versions, readings) is the history's business."""


def note_of(record: Mapping[str, Any], name: str) -> str:
    """Return a memory's record as a note of the file `name`: what harnesses read first, ours under `zapomni:`."""
    lines = ["---", f"name: {_value(record.get('title') or name)}", *_line("description", record.get("description"))]
    known = {"type": record.get("about"), "pinned": record.get("pinned") or None}
    lines += _block("metadata", known)
    lines += _block("zapomni", {field: record.get(field) for field in _OURS})
    return "\n".join([*lines, "---", "", str(record["content"]), ""])


def _block(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    told = [f"  {line}" for field, value in values.items() for line in _line(field, value)]
    if told:
        yield f"{name}:"
        yield from told


def _line(name: str, value: Any) -> Iterator[str]:
    if value not in (None, "", [], {}):
        yield f"{name}: {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.casefold() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
