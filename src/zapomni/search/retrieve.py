"""The read path from a question to its hits: both legs, their neighbours, fusion, floor, rank, cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model import Mode
from zapomni.search.constants import LEXICAL_CUT, NEAR, VECTOR_CUT
from zapomni.search.fuse import fuse
from zapomni.search.lexical import WordScores
from zapomni.search.rank import above_floor, rank
from zapomni.store.base import Lexical
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from zapomni.model import Hit, Query, Space, Vector
    from zapomni.search.lexical import WordScore
    from zapomni.store.base import Store


def retrieve(store: Store, query: Query, space: Space | None, vector: Vector | None) -> list[Hit]:
    """Return at most `query.limit` hits; the vector leg takes part when there is a vector."""
    words = () if query.mode is Mode.SEMANTIC else query_words(query.text)
    lexical = store.lexical(words, query.where, LEXICAL_CUT) if words else Lexical()
    scores = WordScores(words, lexical)
    by_words = {hit.no: scores.of_hit(hit) for hit in lexical.hits}
    lent = [hit.no for hit in lexical.hits if hit.thread is not None]
    if lent:
        by_words |= _around(store, query, scores, lent, NEAR, by_words)
    cosines: dict[int, float] = {}
    if space is not None and vector is not None:
        cosines = dict(store.nearest(space, vector, query.where, VECTOR_CUT, also=list(by_words)))
        if lent:
            by_words |= _around(store, query, scores, [no for no in cosines if no not in by_words], 0, by_words)
    return rank(above_floor(fuse(by_words, cosines)), store.fetch, query.limit)


def _around(
    store: Store, query: Query, scores: WordScores, nos: list[int], reach: int, known: dict[int, WordScore]
) -> dict[int, WordScore]:
    """Return what those around hits have from them: memories that hold none of the words themselves."""
    places = store.places(nos, query.where, reach) if nos else []
    return {place.no: scores.of_place(place) for place in places if place.no not in known}
