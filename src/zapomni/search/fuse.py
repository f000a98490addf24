"""Joining the legs: one relevance a candidate, from its words, its neighbours' words and its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zapomni.model import Part
from zapomni.search.constants import LEXICAL_WEIGHT, NEIGHBOUR_WEIGHT, REACH, VECTOR_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.store.base import Lexical, Neighbour


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate row with its relevance and the parts that it is the sum of."""

    no: int
    relevance: float
    parts: tuple[Part, ...]


def word_scores(lexical: Lexical) -> dict[int, float]:
    """Return each hit's BM25 as a share of the best that any document could have had (0 to 1)."""
    return {hit.no: min(hit.score / lexical.best, 1.0) for hit in lexical.hits} if lexical.best > 0 else {}


def fuse(words: Mapping[int, float], cosines: Mapping[int, float], neighbours: Sequence[Neighbour]) -> list[Scored]:
    """Return every candidate of either leg with its relevance, best first."""
    lent: dict[int, float] = {}
    for pair in neighbours:
        lent[pair.other] = lent.get(pair.other, 0.0) + words.get(pair.no, 0.0) / REACH
    candidates = {*words, *cosines, *lent}
    scored = [_score(no, words.get(no, 0.0), lent.get(no, 0.0), cosines.get(no)) for no in candidates]
    return sorted(scored, key=lambda item: (-item.relevance, item.no))


def _score(no: int, words: float, lent: float, cosine: float | None) -> Scored:
    parts = (
        Part(name="words", value=LEXICAL_WEIGHT * words, why="BM25 over the best score these words could have"),
        Part(name="neighbours", value=NEIGHBOUR_WEIGHT * lent, why="words of the turns around it"),
        Part(name="meaning", value=VECTOR_WEIGHT * max(cosine or 0.0, 0.0), why="mean-centred cosine"),
    )
    return Scored(no=no, relevance=sum(part.value for part in parts), parts=tuple(p for p in parts if p.value))
