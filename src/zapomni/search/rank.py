"""Putting candidates in order: relevance times importance, at most as many as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.search.constants import IMPORTANCE_BASE, IMPORTANCE_SHARE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Memory
    from zapomni.store.base import Store

_MOST: Final = IMPORTANCE_BASE + IMPORTANCE_SHARE
"""What the greatest importance multiplies by."""


class Ranked(NamedTuple):
    """A memory with its row, its relevance and the score that importance makes of it."""

    no: int
    memory: Memory
    relevance: float
    score: float

    @property
    def text(self) -> str:
        """What the memory says."""
        return self.memory.content


class _Standing(NamedTuple):
    """A candidate in the order of the answer: the greatest score first, of equal ones the newest."""

    below: float
    older: float
    id: str
    no: int
    relevance: float


def importance_factor(importance: float) -> float:
    """Return what a memory's importance multiplies its relevance by (article A)."""
    return IMPORTANCE_BASE + IMPORTANCE_SHARE * importance


def rank(store: Store, candidates: Sequence[tuple[float, int]], limit: int) -> list[Ranked]:
    """Return the best of these pairs of relevance and row, which come best first; newer breaks a tie.

    The store is asked how as many stand as can still rise into the answer, and for the memories of the answer.
    """
    best: list[_Standing] = []
    for start in range(0, len(candidates), 2 * limit):
        batch = candidates[start : start + 2 * limit]
        if len(best) == limit:
            least = -best[-1].below
            if batch[0][0] * _MOST <= least:
                break
            batch = [pair for pair in batch if pair[0] * _MOST >= least]
        found = store.standings([no for _, no in batch])
        for relevance, no in batch:
            if (standing := found.get(no)) is not None:
                score = relevance * importance_factor(standing.importance)
                best.append(_Standing(-score, -standing.created_at.timestamp(), standing.id, no, relevance))
        best.sort()
        del best[limit:]
    memories = store.fetch([item.no for item in best])
    return [Ranked(item.no, memories[item.no], item.relevance, -item.below) for item in best if item.no in memories]
