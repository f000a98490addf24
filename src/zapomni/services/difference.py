"""What changed in a memory between two revisions, or in every memory that a run touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zapomni.errors import InvalidInput, NotFound
from zapomni.record import FIELDS
from zapomni.services.history import history
from zapomni.text.changes import unified

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Revision, Run, Scope
    from zapomni.services.context import Context

    Record = Mapping[str, Any] | None

COUNTED: Final = frozenset({"id", "content", "version", "created_at", "updated_at", "accessed_at", "access_count"})
"""Fields that say nothing when they differ: the store's own book-keeping, and the content, compared line by line."""


class FieldChange(Struct, frozen=True, kw_only=True):
    """A field of a record and its plain JSON values before and after; None where there was none."""

    name: str
    before: Any
    after: Any


class Difference(Struct, frozen=True, kw_only=True):
    """What changed in one memory from revision `start` (None: from before it was there) to revision `end`.

    `lines` are the hunks of a unified diff of the content, `fields` what else changed. `erased` tells that the
    texts to compare are gone for good.
    """

    id: str
    title: str
    start: int | None
    end: int | None
    lines: tuple[str, ...]
    fields: tuple[FieldChange, ...]
    erased: bool = False


def difference(
    context: Context, short: str, *, scopes: Sequence[Scope], start: int | None = None, end: int | None = None
) -> Difference:
    """Compare a memory (deleted ones too) as it was after two revisions, by default before and after its last.

    Without `start`, the revision before `end` is taken. Raises `NotFound` for a revision that is none of its own.
    """
    _, revisions = history(context, short, scopes=scopes)
    last = len(revisions) - 1 if end is None else _place(revisions, end)
    first = last - 1 if start is None else _place(revisions, start)
    if start is not None and end is None and first == last:
        raise InvalidInput("from", f"{start} is the newest revision", remedy="Name an older one, or leave it out")
    was, now = revisions[first] if first >= 0 else None, revisions[last]
    before = was.after if was is not None else revisions[last].before
    return compared(
        now.memory_id, before, now.after, start=was.seq if was else None, end=now.seq, erased=_is_erased(revisions)
    )


def run_differences(context: Context, run_id: str) -> tuple[Run, list[Difference]]:
    """Compare every memory that a run changed, before its first change and after its last.

    Raises `NotFound` when there is no such run.
    """
    found = context.store.run(run_id.strip())
    if found is None:
        raise NotFound(f"no run {run_id!r}", remedy="`zapomni history --runs` lists them")
    run, revisions = found
    own: dict[str, list[Revision]] = {}
    for revision in revisions:
        own.setdefault(revision.memory_id, []).append(revision)
    return run, [
        compared(
            memory_id,
            changes[0].before,
            changes[-1].after,
            start=None,
            end=changes[-1].seq,
            erased=_is_erased(changes),
        )
        for memory_id, changes in own.items()
    ]


def compared(
    memory_id: str, before: Record, after: Record, *, start: int | None, end: int | None, erased: bool = False
) -> Difference:
    """Compare two records of one memory; None stands for a memory that is not there."""
    old, new = before or {}, after or {}
    names = [name for name in FIELDS if name not in COUNTED]
    return Difference(
        id=memory_id,
        title=str(new.get("title") or old.get("title") or ""),
        start=start,
        end=end,
        lines=unified(old.get("content"), new.get("content")),
        fields=tuple(
            FieldChange(name=name, before=old.get(name), after=new.get(name))
            for name in names
            if _says(old.get(name)) != _says(new.get(name))
        ),
        erased=erased,
    )


def _says(value: Any) -> Any:
    """Return a value; whatever is empty says as little as nothing."""
    return None if value in ("", [], {}, (), False) else value


def _place(revisions: Sequence[Revision], seq: int) -> int:
    for place, revision in enumerate(revisions):
        if revision.seq == seq:
            return place
    known = ", ".join(str(revision.seq) for revision in revisions)
    raise NotFound(f"memory {revisions[0].memory_id} has no revision {seq}", remedy=f"Its revisions are {known}")


def _is_erased(revisions: Sequence[Revision]) -> bool:
    return all(revision.before is None and revision.after is None for revision in revisions)
