"""Joining the legs: one relevance a candidate, from its words and its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model import Part
from zapomni.search.constants import FAR_WEIGHT, NEAR_WEIGHT, VECTOR_WEIGHT
from zapomni.search.lexical import WordScore

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING = WordScore()


def fuse(words: Mapping[int, WordScore], cosines: Mapping[int, float]) -> list[tuple[float, int]]:
    """Return relevance and row of every candidate of either leg, best first; what says nothing is left out."""
    relevance = {no: VECTOR_WEIGHT * cosine for no, cosine in cosines.items()}
    for no, score in words.items():
        lexical = score.own + NEAR_WEIGHT * score.near + FAR_WEIGHT * score.far + score.exact
        relevance[no] = relevance.get(no, 0.0) + lexical
    kept = sorted((-value, no) for no, value in relevance.items() if value > 0)
    return [(-below, no) for below, no in kept]


def parts(words: WordScore | None, cosine: float | None) -> tuple[Part, ...]:
    """Return the summands of a relevance that are not zero, each with where it comes from."""
    words = words or _NOTHING
    named = (
        ("words", words.own, "BM25 as a share of the best score these words could have"),
        ("exact", words.exact, "words that stand there just as they were asked for"),
        ("window", NEAR_WEIGHT * words.near, "words of the passage, or of the nearest messages around it"),
        ("thread", FAR_WEIGHT * words.far, "words of the wider conversation around it"),
        ("meaning", VECTOR_WEIGHT * (cosine or 0.0), "mean-centred cosine of question and text"),
    )
    return tuple(Part(name=name, value=value, why=why) for name, value, why in named if value)
