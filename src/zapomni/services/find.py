"""Finding one memory by its id or the beginning of it, inside the scopes that may be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.errors import Ambiguous, InvalidInput, NotFound
from zapomni.model import Filter, Memory, Trust, Verb, deleted_on
from zapomni.services.scopes import named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from zapomni.model import Revision, Scope
    from zapomni.services.context import Context


def everything_in(scopes: Sequence[Scope], *, deleted: bool = False) -> Filter:
    """Return the filter of a direct look: any trust and any validity, inside the scopes, or in every one."""
    return Filter(scopes=tuple(scopes), trusts=tuple(Trust), expired=True, deleted=deleted)


def given_id(short: str) -> str:
    """Return the id or beginning of one that was given; raises `InvalidInput` when there is none."""
    prefix = str(short).strip()
    if not prefix:
        raise InvalidInput("id", "it is blank", remedy="Give an id as `recall` or `list` shows it")
    return prefix


def find_one(context: Context, short: str, scopes: Sequence[Scope], *, deleted: bool = False) -> Memory:
    """Return the memory whose id begins with `short`; an exact id wins over longer ones.

    On a branch, what stands for a memory there is found by that memory's id too.

    Raises `NotFound`, which names one that is deleted or was erased, or `Ambiguous` with the ids that fit.
    """
    prefix = given_id(short)
    matches = _fitting(context, prefix, scopes, deleted=deleted)
    if len(matches) > 1:
        raise Ambiguous(prefix, tuple(memory.id for memory in matches))
    if not matches:
        raise _absent(context, prefix, scopes, deleted=deleted)
    return matches[0]


def erased(revision: Revision) -> NotFound:
    """Return the error of a memory of which nothing is left but the entry of its history that erased it."""
    return NotFound(
        f"memory {revision.memory_id} was erased on {_told(revision.at)}",
        remedy=f"By whom is told by `zapomni history {revision.memory_id}`; its text is gone for good",
    )


def _fitting(context: Context, prefix: str, scopes: Sequence[Scope], *, deleted: bool) -> list[Memory]:
    branch = context.place.branch
    seen = (*scopes, deleted_on(branch)) if branch and deleted else tuple(scopes)
    where = everything_in(seen, deleted=deleted)
    matches = context.store.match_id(prefix, where)
    if branch and matches != [prefix]:
        own = context.store.get(context.store.branches.standing_for(branch, prefix), where)
        matches = list(dict.fromkeys((*matches, *(memory.id for memory in own))))
    return context.store.get(matches, where)


def _absent(context: Context, prefix: str, scopes: Sequence[Scope], *, deleted: bool) -> NotFound:
    """Return the error of an id that fits nothing: it says what became of a memory that was there once."""
    gone = [] if deleted else _fitting(context, prefix, scopes, deleted=True)
    if len(gone) == 1 and gone[0].deleted_at is not None:
        memory_id, there = gone[0].id, named(context.place, gone[0].scope)
        return NotFound(
            f"memory {memory_id} is deleted since {_told(gone[0].deleted_at)}",
            remedy=f"It is brought back by `zapomni undo {memory_id}{there}`",
        )
    revisions = context.store.history(prefix)
    if revisions and revisions[-1].verb is Verb.ERASE:
        return erased(revisions[-1])
    names = ", ".join(str(scope) for scope in scopes)
    return NotFound(f"no memory {prefix!r} in {names}", remedy="Look it up with `list` or name its scope")


def _told(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
