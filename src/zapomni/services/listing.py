"""Looking at memories without a question: show one, list many, count all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.errors import InvalidInput
from zapomni.model import PAGE_LIMIT, Filter, Link, Memory, Page
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


def stats(context: Context, where: Filter) -> Stats:
    """Count what the filter lets through and measure the store."""
    return context.store.stats(where)
