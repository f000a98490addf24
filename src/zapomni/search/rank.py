"""Putting candidates in order: relevance times importance, at most as many as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.search.constants import IMPORTANCE_BASE, IMPORTANCE_SHARE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zapomni.model import Memory

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


def importance_factor(memory: Memory) -> float:
    """Return what a memory's importance multiplies its relevance by (article A)."""
    return IMPORTANCE_BASE + IMPORTANCE_SHARE * memory.importance


def rank(
    candidates: Sequence[tuple[float, int]],
    fetch: Callable[[Sequence[int]], Mapping[int, Memory]],
    limit: int,
) -> list[Ranked]:
    """Return the best of these pairs of relevance and row, which come best first; newer breaks a tie.

    `fetch` gives the memories of rows; it is asked for as many as can still rise into the answer.
    """
    best: list[Ranked] = []
    for start in range(0, len(candidates), 2 * limit):
        batch = candidates[start : start + 2 * limit]
        if len(best) == limit:
            least = best[-1].score
            if batch[0][0] * _MOST <= least:
                break
            batch = [pair for pair in batch if pair[0] * _MOST >= least]
        memories = fetch([no for _, no in batch])
        for relevance, no in batch:
            if (memory := memories.get(no)) is not None:
                best.append(Ranked(no, memory, relevance, relevance * importance_factor(memory)))
        best.sort(key=lambda item: (-item.score, -item.memory.created_at.timestamp(), item.memory.id))
        del best[limit:]
    return best
