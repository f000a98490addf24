"""Near words: for a word of the question that no memory holds, the nearest one that some memory holds.

Stemmers part forms that belong together (`веток` and `ветки`), and people mistype. Only plain words are taken for
another: an identifier or a number that nobody wrote down stays unknown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from zapomni.store.sqlite.connection import rows_of
from zapomni.text.slips import spellings, strokes
from zapomni.text.stem import stem as stem_of
from zapomni.text.words import SURNAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from zapomni.text.words import QueryWord

_WORDS: Final = 8
"""Most unknown words of one question that are looked for."""
_TERMS: Final = 2_000
"""Most terms of the vocabulary that are looked at for one of them."""
_SHORTEST: Final = 4
_SURE: Final = 5
_LONG: Final = 8
"""Letters from which a word may lack one (`памя` for `памят`), be mistyped in any way, and mistyped twice.

Of four letters too many are one stroke apart: `tall` and the stem of `table`.
"""
_SHARED: Final = 2
_SHARED_OF_MANY: Final = 3
_MANY: Final = 10_000
"""First letters that are taken to be right, and of how many memories on a letter more: a term costs as it is held."""
_LAST: Final = "\U0010ffff"

_NEIGHBOURS: Final = f"""
SELECT term, doc FROM (SELECT term, doc FROM {{counts}} WHERE term >= ? AND term < ? LIMIT {_TERMS})
WHERE length(term) BETWEEN ? AND ?
"""
_HELD: Final = "SELECT term, doc FROM {counts} WHERE term IN (SELECT value FROM json_each(?))"


def holding(db: apsw.Connection, counts: str, stems: Iterable[str]) -> dict[str, int]:
    """Return how many items hold each of these stems, by the vocabulary `counts`; those held by none are left out."""
    return dict(rows_of(db, _HELD.format(counts=counts), (json.dumps(list(stems)),)))


def near_words(
    db: apsw.Connection, counts: str, words: Sequence[QueryWord], held: Mapping[str, int], total: int
) -> dict[str, str]:
    """Return the stem that stands for each plain word which none of the `total` items holds, where one is near."""
    shared = _SHARED if total < _MANY else _SHARED_OF_MANY
    wholes = {word.whole for word in words}
    unknown = [
        word
        for word in words
        if held.keys().isdisjoint(word.terms) and word.stem.isalpha() and word.whole is None and word.stem not in wholes
    ]
    found = (
        (word.stem, _spelt(db, counts, word.stem) or _nearest(db, counts, word.stem, shared))
        for word in unknown[:_WORDS]
    )
    return {stem: near for stem, near in found if near is not None}


def _spelt(db: apsw.Connection, counts: str, stem: str) -> str | None:
    """Return the other spelling of the stem that most memories hold."""
    known = holding(db, counts, spellings(stem))
    return max(known, key=lambda term: known[term], default=None)


def _nearest(db: apsw.Connection, counts: str, stem: str, shared: int) -> str | None:
    """Return the held stem that the fewest strokes part from this one, the commoner of two."""
    if len(stem) < _SHORTEST:
        return None
    most = 2 if len(stem) >= _LONG else 1
    least = len(stem) - most if len(stem) >= _SURE else len(stem) + 1
    first, letters = stem[:shared], set(stem)
    ending = stem[-2:] if stem.endswith(SURNAME) else ""  # Кузнецов is no slip of кузнец, nor Соловьёв of соловей
    near: list[tuple[int, int, str]] = []
    for term, held in rows_of(db, _NEIGHBOURS.format(counts=counts), (first, first + _LAST, least, len(stem) + most)):
        # One stroke changes two of the sorts of letters at most: a cheap test that few terms pass.
        if len(letters.symmetric_difference(term)) <= 2 * most and term.isalpha() and term.endswith(ending):
            distance = strokes(stem, term, most)
            if distance <= most:
                near.append((distance, -held, term))
    return _as_stem(db, counts, min(near)[2]) if near else None


def _as_stem(db: apsw.Connection, counts: str, term: str) -> str:
    """Return the stem of a held term, which is itself unless it is one of the exact forms."""
    stem = stem_of(term)
    return stem if holding(db, counts, [stem]) else term
