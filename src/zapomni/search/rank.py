"""Putting candidates in order: relevance times importance, at most as many as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from msgspec import Struct

from zapomni.search.constants import IMPORTANCE_BASE, IMPORTANCE_SHARE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Memory
    from zapomni.store.found import Merit

_MOST: Final = IMPORTANCE_BASE + IMPORTANCE_SHARE
"""What the greatest importance multiplies by."""


class Ranked(Struct, frozen=True):
    """A memory with its row, its relevance and the score that importance makes of it."""

    no: int
    memory: Memory
    relevance: float
    score: float

    @property
    def text(self) -> str:
        """What the memory says."""
        return self.memory.content


class Candidates(Protocol):
    """Where the memories of a ranking stand: a store, or a list."""

    def merits(self, nos: Sequence[int]) -> Mapping[int, Merit]:
        """Return what of these rows says how they stand in an answer; rows that are gone are missing."""

    def fetch(self, nos: Sequence[int]) -> Mapping[int, Memory]:
        """Return the memories of these rows."""


class _Place(NamedTuple):
    """A candidate in the order of the answer: the greatest score first, of equal ones the newest."""

    below: float
    older: float
    id: str
    no: int
    relevance: float


def importance_factor(importance: float) -> float:
    """Return what a memory's importance multiplies its relevance by (article A)."""
    return IMPORTANCE_BASE + IMPORTANCE_SHARE * importance


def rank(held: Candidates, scored: Sequence[tuple[float, int]], limit: int) -> list[Ranked]:
    """Return the best of these pairs of relevance and row, which come best first; newer breaks a tie.

    What stands of them is asked of as many as can still rise into the answer, and of the answer the memories.
    """
    best: list[_Place] = []
    for start in range(0, len(scored), 2 * limit):
        batch = scored[start : start + 2 * limit]
        if len(best) == limit:
            least = -best[-1].below
            if batch[0][0] * _MOST <= least:
                break
            batch = [pair for pair in batch if pair[0] * _MOST >= least]
        found = held.merits([no for _, no in batch])
        for relevance, no in batch:
            if (merit := found.get(no)) is not None:
                score = relevance * importance_factor(merit.importance)
                best.append(_Place(-score, -merit.created_at.timestamp(), merit.id, no, relevance))
        best.sort()
        del best[limit:]
    memories = held.fetch([item.no for item in best])
    return [Ranked(item.no, memories[item.no], item.relevance, -item.below) for item in best if item.no in memories]
