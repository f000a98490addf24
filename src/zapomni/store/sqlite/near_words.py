"""Near words: for a word of the question that no memory holds, the nearest one that some memory holds.

Stemmers part forms that belong together (`веток` and `ветки`), and people mistype. Only plain words are taken for
another: an identifier or a number that nobody wrote down stays unknown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from zapomni.store.sqlite.connection import rows_of, value_of
from zapomni.text.slips import spellings, strokes
from zapomni.text.stem import stem as stem_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from zapomni.text.words import QueryWord

_WORDS: Final = 8
"""Most unknown words of one question that are looked for."""
_TERMS: Final = 2_000
"""Most terms of the vocabulary that are looked at for one of them."""
_TRIED: Final = 4
"""Most candidates that are asked whether a memory holds them as a stem."""
_SHORTEST: Final = 4
_LONG: Final = 8
"""Letters from which a word may be mistyped at all, and from which twice."""
_SHARED: Final = 2
"""First letters that are taken to be right."""
_LAST: Final = "\U0010ffff"

_NEIGHBOURS: Final = f"""
SELECT term, doc FROM (SELECT term, doc FROM word_counts WHERE term >= ? AND term < ? LIMIT {_TERMS})
WHERE length(term) BETWEEN ? AND ?
"""
_HELD: Final = "SELECT term, doc FROM word_counts WHERE term IN (SELECT value FROM json_each(?))"
_IS_STEM: Final = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"


def holding(db: apsw.Connection, stems: Iterable[str]) -> dict[str, int]:
    """Return how many memories hold each of these stems; those that none holds are left out."""
    return dict(rows_of(db, _HELD, (json.dumps(list(stems)),)))


def near_words(db: apsw.Connection, words: Sequence[QueryWord], held: Mapping[str, int]) -> dict[str, str]:
    """Return the stem that stands for each plain word which none of the memories holds, where one is near."""
    wholes = {word.whole for word in words}
    unknown = [
        word
        for word in words
        if word.stem not in held and word.stem.isalpha() and word.whole is None and word.stem not in wholes
    ]
    found = ((word.stem, _spelt(db, word.stem) or _nearest(db, word.stem)) for word in unknown[:_WORDS])
    return {stem: near for stem, near in found if near is not None}


def _spelt(db: apsw.Connection, stem: str) -> str | None:
    """Return the other spelling of the stem that most memories hold."""
    known = holding(db, spellings(stem))
    return max(known, key=lambda term: known[term], default=None)


def _nearest(db: apsw.Connection, stem: str) -> str | None:
    """Return the held stem that the fewest strokes part from this one, the commoner of two."""
    if len(stem) < _SHORTEST:
        return None
    most = 2 if len(stem) >= _LONG else 1
    first, letters = stem[:_SHARED], set(stem)
    near: list[tuple[int, int, str]] = []
    for term, held in rows_of(db, _NEIGHBOURS, (first, first + _LAST, len(stem) - most, len(stem) + most)):
        # One stroke changes two of the sorts of letters at most: a cheap test that few terms pass.
        if len(letters.symmetric_difference(term)) <= 2 * most and term.isalpha():
            distance = strokes(stem, term, most)
            if distance <= most:
                near.append((distance, -held, term))
    as_stems = (_as_stem(db, term) for _, _, term in sorted(near)[:_TRIED])
    return next((found for found in as_stems if found is not None), None)


def _as_stem(db: apsw.Connection, term: str) -> str | None:
    """Return the stem by which memories are found that hold the term: itself, or its own stem if it is a form."""
    if value_of(db, _IS_STEM, (f'{{title body}} : "{term}"',)):
        return term
    stem = stem_of(term)
    return stem if holding(db, [stem]) else None
