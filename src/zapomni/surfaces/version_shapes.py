"""The JSON shapes of what was: comparisons, lines with where they come from, topics; documented in `docs/json.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.record import stamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Revision
    from zapomni.services.blame import Blame
    from zapomni.services.branching.branches import BranchChange, Listed
    from zapomni.services.branching.merge import Merged
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


def branch_shape(listed: Listed) -> dict[str, Any]:
    """Return a branch and how many memories it changed."""
    branch = listed.branch
    return {
        "name": branch.name,
        "created_at": stamp(branch.created_at),
        "actor": branch.actor,
        "changes": listed.changes,
    }


def changes_shape(name: str, changes: Sequence[BranchChange]) -> dict[str, Any]:
    """Return what a branch changed; `moved_on` marks what the main line changed since, too."""
    told = [
        {"verb": change.verb.value, "moved_on": change.moved_on, **difference_shape(change.difference)}
        for change in changes
    ]
    return {"branch": name, "count": len(told), "changes": told}


def merged_shape(merged: Merged) -> dict[str, Any]:
    """Return what a merge did with each memory of a branch; `run` undoes it, null where nothing was written."""
    steps = [
        {
            "id": step.id,
            "branch_id": step.branch_id,
            "title": step.title,
            "done": step.done.value,
            "policy": step.policy.value if step.policy else None,
            "clash": list(step.clash),
            "reason": step.reason,
        }
        for step in merged.steps
    ]
    return {"branch": merged.branch, "run": merged.run, "count": len(steps), "steps": steps}


def _brought(revision: Revision) -> dict[str, Any]:
    return {
        "revision": revision.seq,
        "verb": revision.verb.value,
        "at": stamp(revision.at),
        "actor": revision.actor,
        "origin": (revision.after or {}).get("origin"),
        "run": revision.run,
    }
