"""Finding one memory by its id or the beginning of it, inside the scopes that may be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.errors import Ambiguous, InvalidInput, NotFound
from zapomni.model import Filter, Memory, Trust, deleted_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Scope
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

    Raises `NotFound`, or `Ambiguous` with the ids that fit.
    """
    prefix = given_id(short)
    branch = context.place.branch
    seen = (*scopes, deleted_on(branch)) if branch and deleted else tuple(scopes)
    where = everything_in(seen, deleted=deleted)
    matches = context.store.match_id(prefix, where)
    if branch and matches != [prefix]:
        own = context.store.get(context.store.branches.standing_for(branch, prefix), where)
        matches = list(dict.fromkeys((*matches, *(memory.id for memory in own))))
    if len(matches) > 1:
        raise Ambiguous(prefix, tuple(matches))
    found = context.store.get(matches, where)
    if not found:
        names = ", ".join(str(scope) for scope in scopes)
        raise NotFound(f"no memory {prefix!r} in {names}", remedy="Look it up with `list` or name its scope")
    return found[0]
