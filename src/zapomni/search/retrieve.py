"""The read path from a question to its hits: both legs, their neighbours, fusion, floor, rank, cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model import Mode
from zapomni.search.constants import LEXICAL_CUT, REACH, VECTOR_CUT
from zapomni.search.fuse import fuse, word_scores
from zapomni.search.rank import above_floor, rank
from zapomni.store.base import Lexical
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from zapomni.model import Hit, Query, Space, Vector
    from zapomni.store.base import Store


def retrieve(store: Store, query: Query, space: Space | None, vector: Vector | None) -> list[Hit]:
    """Return at most `query.limit` hits; the vector leg takes part when there is a vector."""
    lexical = Lexical() if query.mode is Mode.SEMANTIC else _by_words(store, query)
    words = word_scores(lexical)
    neighbours = store.neighbours(list(words), query.where, REACH) if words else []
    cosines: dict[int, float] = {}
    if space is not None and vector is not None:
        also = {*words, *(pair.other for pair in neighbours)}
        cosines = dict(store.nearest(space, vector, query.where, VECTOR_CUT, also=list(also)))
    scored = above_floor(fuse(words, cosines, neighbours))
    # Importance can at most halve a score, so nothing below half of the last place can still rise into it.
    reach = scored[: query.limit * 4]
    return rank(reach, store.fetch([item.no for item in reach]), query.limit)


def _by_words(store: Store, query: Query) -> Lexical:
    words = query_words(query.text)
    return store.lexical(words, query.where, LEXICAL_CUT) if words else Lexical()
