"""Joining the legs: one relevance a candidate, from its words and its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zapomni.model import Part
from zapomni.search.constants import FAR_WEIGHT, NEAR_WEIGHT, VECTOR_WEIGHT
from zapomni.search.lexical import WordScore

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING = WordScore()


class Scored(NamedTuple):
    """A candidate row: its relevance, what the words say of it and its cosine (None without a vector)."""

    no: int
    relevance: float
    words: WordScore
    cosine: float | None

    def parts(self) -> tuple[Part, ...]:
        """Return the summands of the relevance that are not zero, each with where it comes from."""
        words = self.words
        named = (
            ("words", words.own, "BM25 as a share of the best score these words could have"),
            ("exact", words.exact, "words that stand there just as they were asked for"),
            ("window", NEAR_WEIGHT * words.near, "words of the passage, or of the nearest messages around it"),
            ("thread", FAR_WEIGHT * words.far, "words of the wider conversation around it"),
            ("meaning", VECTOR_WEIGHT * (self.cosine or 0.0), "mean-centred cosine of question and text"),
        )
        return tuple(Part(name=name, value=value, why=why) for name, value, why in named if value)


def fuse(words: Mapping[int, WordScore], cosines: Mapping[int, float]) -> list[Scored]:
    """Return every candidate of either leg with its relevance, best first."""
    scored = [_scored(no, words.get(no, _NOTHING), cosines.get(no)) for no in {**words, **cosines}]
    scored.sort(key=lambda item: (-item.relevance, item.no))
    return scored


def _scored(no: int, words: WordScore, cosine: float | None) -> Scored:
    return Scored(no, words.total + VECTOR_WEIGHT * (cosine or 0.0), words, cosine)
