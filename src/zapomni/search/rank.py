"""Putting candidates in order: relevance times importance, above the floor, at most as many as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model import Hit, Part
from zapomni.search.constants import FLOOR, IMPORTANCE_BASE, IMPORTANCE_SHARE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zapomni.model import Memory
    from zapomni.search.fuse import Scored


def above_floor(scored: Sequence[Scored]) -> list[Scored]:
    """Drop what is too weak to be an answer, so that an unrelated question returns nothing."""
    return [item for item in scored if item.relevance >= FLOOR]


def rank(scored: Sequence[Scored], fetch: Callable[[Sequence[int]], Mapping[int, Memory]], limit: int) -> list[Hit]:
    """Return the best hits: importance multiplies relevance (article A), newer breaks a tie.

    `fetch` gives the memories of rows; it is asked for as many as can still rise into the answer.
    """
    hits: list[Hit] = []
    for start in range(0, len(scored), 2 * limit):
        batch = scored[start : start + 2 * limit]
        if len(hits) == limit and batch[0].relevance * (IMPORTANCE_BASE + IMPORTANCE_SHARE) <= hits[-1].score:
            break
        memories = fetch([item.no for item in batch])
        hits += [_hit(item, memories[item.no]) for item in batch if item.no in memories]
        hits.sort(key=lambda hit: (-hit.score, -hit.memory.created_at.timestamp(), hit.memory.id))
        del hits[limit:]
    return hits


def _hit(item: Scored, memory: Memory) -> Hit:
    factor = IMPORTANCE_BASE + IMPORTANCE_SHARE * memory.importance
    note = Part(name="importance", value=factor, why=f"multiplies: importance {memory.importance:g}")
    return Hit(memory=memory, score=item.relevance * factor, parts=(*item.parts(), note))
