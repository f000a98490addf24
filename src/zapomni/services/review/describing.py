"""Answering a question by descriptions alone: what is seen, the vectors of its descriptions, and the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.errors import EmbedderError, InvalidInput
from zapomni.model import PAGE_LIMIT
from zapomni.search.described import described, select_by_description
from zapomni.services.embedding import text_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Filter, Hit, Memory, Query, Vector
    from zapomni.search.looked import Looked
    from zapomni.services.context import Context
    from zapomni.services.embedding import Asked, Embedding

MOST: Final = 2_000
"""Memories that are selected from: ten times the number from which a list of descriptions is too long (article B)."""


class Selected(NamedTuple):
    """What was found, and why it may not be all: memories without a description, or descriptions without a vector."""

    looked: Looked[Hit]
    reason: str | None = None


def select(context: Context, embedding: Embedding[Memory], query: Query, asked: Asked) -> Selected:
    """Return the memories that the filter lets through and whose descriptions answer a question, best first.

    Descriptions get their vectors when they are first asked for; they are kept. Raises `InvalidInput` where more than
    `MOST` memories are seen.
    """
    seen = _seen(context, query.where)
    memories = [memory for memory in seen if described(memory)]
    vectors: dict[int, Vector] = {}
    reason = None
    if asked.space is not None and asked.vector is not None:
        try:
            vectors = _vectors(context, embedding, asked, memories)
        except EmbedderError as error:
            reason = f"the descriptions were compared by words alone: {error.message}"
    looked = select_by_description(memories, query, asked.space, asked.vector, vectors)
    blank = len(seen) - len(memories)
    if blank and reason is None:
        reason = f"{blank:,} of {len(seen):,} memories have neither title nor description and cannot be selected"
    return Selected(looked, reason)


def _seen(context: Context, where: Filter) -> list[Memory]:
    """Return everything that the filter lets through; raises `InvalidInput` where that is too much."""
    memories: list[Memory] = []
    cursor: str | None = None
    while True:
        page = context.store.page(where, PAGE_LIMIT, cursor)
        if page.total > MOST:
            problem = f"{page.total:,} memories are seen, and at most {MOST:,} are selected from by description"
            raise InvalidInput("by", problem, remedy="Narrow it by scope, path or tags, or ask without it")
        memories += page.memories
        cursor = page.next
        if cursor is None:
            return memories


def _vectors(
    context: Context, embedding: Embedding[Memory], asked: Asked, memories: Sequence[Memory]
) -> dict[int, Vector]:
    space = asked.space
    assert space is not None
    texts = {text_digest(described(memory)): described(memory) for memory in memories}
    known = context.store.descriptions.vectors(space.no, list(texts))
    missing = [mark for mark in texts if mark not in known]
    if missing:
        made = embedding.passages(space, [texts[mark] for mark in missing])
        fresh = {mark: vector for mark, vector in zip(missing, made, strict=True) if vector is not None}
        context.store.descriptions.keep(space.no, fresh)
        known |= fresh
    marks = [text_digest(described(memory)) for memory in memories]
    return {no: known[mark] for no, mark in enumerate(marks) if mark in known}
