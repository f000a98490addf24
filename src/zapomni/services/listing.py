"""Looking at memories without a question: show one, list many, count all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from zapomni.errors import InvalidInput
from zapomni.model import PAGE_LIMIT, Filter, Link, Memory, Page, Trust
from zapomni.services.find import find_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Scope
    from zapomni.services.context import Context
    from zapomni.store.base import Stats


def show(context: Context, short: str, *, scopes: Sequence[Scope]) -> tuple[Memory, list[Link]]:
    """Return one memory whole, with the links from and to it, and count the reading."""
    memory = find_one(context, short, scopes)
    context.touches.add([memory.id], context.clock())
    return memory, context.store.links(memory.id)


def list_memories(context: Context, where: Filter, *, limit: int = 20, cursor: str | None = None) -> Page:
    """Return one page of what the filter lets through, newest first.

    Raises `InvalidInput` for a limit outside 1 to 1,000 or a cursor that is not ours.
    """
    if not 1 <= limit <= PAGE_LIMIT:
        raise InvalidInput("limit", f"{limit} is not from 1 to {PAGE_LIMIT:,}", remedy="Ask page by page")
    return context.store.page(where, limit, cursor or None)


def deletable(context: Context, where: Filter, *, for_good: bool = False) -> list[Memory]:
    """Return everything that a deletion by this filter takes, newest first: what `list_memories` shows for it.

    `for_good` adds what a listing leaves out, for its text is there too: what is deleted already, and, unless the
    filter asks for a time or a trust, what does not hold now, was rejected or superseded.
    """
    if for_good:
        where = replace(where, deleted=True, expired=where.as_of is None, trusts=where.trusts or tuple(Trust))
    page = list_memories(context, where, limit=PAGE_LIMIT)
    found = [*page.memories]
    while page.next is not None:
        page = list_memories(context, where, limit=PAGE_LIMIT, cursor=page.next)
        found += page.memories
    return found


def stats(context: Context, where: Filter) -> Stats:
    """Count what the filter lets through and measure the store."""
    return context.store.stats(where)
