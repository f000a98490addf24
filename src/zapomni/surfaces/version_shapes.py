"""The JSON shapes of what was: comparisons, lines with where they come from, topics; documented in `docs/json.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.record import stamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zapomni.model import Revision
    from zapomni.services.blame import Blame
    from zapomni.services.difference import Difference


def difference_shape(difference: Difference) -> dict[str, Any]:
    """Return what changed in one memory: hunks of a unified diff of the content, and the other fields."""
    shape: dict[str, Any] = {
        "id": difference.id,
        "title": difference.title,
        "from": difference.start,
        "to": difference.end,
        "lines": list(difference.lines),
        "fields": [{"name": one.name, "before": one.before, "after": one.after} for one in difference.fields],
    }
    return shape | {"erased": True} if difference.erased else shape


def blame_shape(blame: Blame) -> dict[str, Any]:
    """Return each line and each field with the revision that brought it."""
    return {
        "id": blame.id,
        "lines": [{"no": line.no, "text": line.text, **_brought(line.revision)} for line in blame.lines],
        "fields": [{"name": one.name, "value": one.value, **_brought(one.revision)} for one in blame.fields],
    }


def topics_shape(topics: Mapping[str, int]) -> dict[str, Any]:
    """Return how many memories stand at each topic path, without those below it."""
    return {"count": len(topics), "topics": [{"path": path, "memories": count} for path, count in topics.items()]}


def _brought(revision: Revision) -> dict[str, Any]:
    return {
        "revision": revision.seq,
        "verb": revision.verb.value,
        "at": stamp(revision.at),
        "actor": revision.actor,
        "origin": (revision.after or {}).get("origin"),
        "run": revision.run,
    }
