"""Selection by description: memories are ranked by their titles and descriptions alone, as a reader of an index does.

The same words, cosine, fusion, floor and importance as for whole memories, over short texts. The content says nothing,
so that what is found this way tells how good the descriptions are.
"""

from __future__ import annotations

import math
from operator import mul
from typing import TYPE_CHECKING

from zapomni.model import Mode
from zapomni.search.fuse import fuse
from zapomni.search.lexical import WordScores
from zapomni.search.looked import Looked, judge
from zapomni.search.rank import rank
from zapomni.search.retrieve import in_its_language, ranked_hit
from zapomni.store.found import Lexical, LexicalHit, Merit
from zapomni.text.words import index_words, query_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Hit, Memory, Query, Space, Vector
    from zapomni.text.words import QueryWord


def described(memory: Memory) -> str:
    """Return what a memory is selected by: its title and its description; empty where it has neither."""
    return "\n".join(filter(None, (memory.title, memory.description)))


def select_by_description(
    memories: Sequence[Memory], query: Query, space: Space | None, vector: Vector | None, vectors: Mapping[int, Vector]
) -> Looked[Hit]:
    """Return at most `query.limit` of the memories, and how they were found.

    `vectors` are those of their descriptions, by place in the list.
    """
    words = () if query.mode is Mode.SEMANTIC else query_words(query.text)
    lexical = _lexical(memories, words)
    scores = WordScores(words, lexical, len(memories))
    by_words = {hit.no: scores.of_hit(hit) for hit in lexical.hits}
    cosines: dict[int, float] = {}
    if space is not None and vector is not None:
        asked = _centred(in_its_language(space, vector, query.text), space)
        cosines = {no: sum(map(mul, asked, _centred(own, space))) for no, own in vectors.items()}

    ranked = rank(_Listed(memories), fuse(by_words, cosines), query.limit)
    return judge(
        ranked,
        ranked_hit,
        question=query.text,
        words=words,
        lexical=lexical,
        by_words=by_words,
        cosines=cosines,
        visible=len(memories),
    )


class _Listed:
    """Memories that are ranked by their place in a list."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        self._memories = memories

    def merits(self, nos: Sequence[int]) -> dict[int, Merit]:
        found = self.fetch(nos)
        return {no: Merit(memory.id, memory.importance, memory.created_at) for no, memory in found.items()}

    def fetch(self, nos: Sequence[int]) -> dict[int, Memory]:
        return {no: self._memories[no] for no in nos}


def _lexical(memories: Sequence[Memory], words: Sequence[QueryWord]) -> Lexical:
    """Return what an index of the descriptions alone would answer."""
    if not words:
        return Lexical()
    indexed = [index_words(title="", body=described(memory)) for memory in memories]
    stems = [frozenset((one.body + b" " + one.exact).decode().split()) for one in indexed]
    asked = {term for word in words for term in word.terms}
    hits = tuple(
        LexicalHit(no, indexed[no].body.decode(), indexed[no].exact.decode(), None, None)
        for no, held in enumerate(stems)
        if asked & held
    )
    holding = {stem: sum(stem in held for held in stems) for stem in asked}
    return Lexical(hits=hits, total=len(memories), holding=holding)


def _centred(vector: Sequence[float], space: Space) -> list[float]:
    """Return the unit vector from the mean of the space; all zeros where the two are equal."""
    moved = [value - middle for value, middle in zip(vector, space.mean, strict=True)] if space.mean else list(vector)
    length = math.sqrt(sum(map(mul, moved, moved)))
    return [value / length for value in moved] if length else moved
