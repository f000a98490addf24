"""A memory as a note of a git repository: as every note of ours, with all that its record says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from zapomni.model import About, Kind
from zapomni.text.note_header import scalar
from zapomni.text.notes import new_note

if TYPE_CHECKING:
    from collections.abc import Mapping

_MORE: Final = (
    *("scope", "path", "entities", "trust", "origin", "source", "position", "key"),
    *("observed_at", "valid_from", "valid_until", "created_at", "metadata"),
)
"""Fields beside those of any note; what only counts (versions, readings) is the history's business."""
_END: Final = "\n---\n"


def note_of(record: Mapping[str, Any], name: str) -> str:
    """Return a memory's record as the note of a file `name` (without its ending), ours under `zapomni:`."""
    note = new_note(
        name=name,
        title=record["title"] or name,
        description=record["description"],
        about=About(record["about"]) if record["about"] else None,
        pinned=record["pinned"],
        body=record["content"],
        memory_id=record["id"],
        kind=Kind(record["kind"]),
        tags=tuple(record["tags"]),
        importance=record["importance"],
    )
    header, end, body = note.partition(_END)
    more = [f"  {field}: {_value(record[field])}" for field in _MORE if record.get(field) not in (None, "", [], {})]
    return "\n".join([header, *more]) + end + body


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, dict) else scalar(value)
