"""The leg of words: FTS5 with BM25, and the score that a perfect document could have had."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final

from zapomni.store.base import Lexical, LexicalHit
from zapomni.store.sqlite.connection import rows_of, value_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from zapomni.store.sqlite.condition import Condition
    from zapomni.text.words import QueryWord

TITLE_WEIGHT: Final = 1.0
BODY_WEIGHT: Final = 1.0
EXACT_WEIGHT: Final = 0.3
"""What one occurrence counts in each column; to be chosen by benchmark, like `search.constants`."""

K1: Final = 1.2
"""FTS5's own BM25 constant, which cannot be set."""
PERFECT: Final = 0.75
"""Share of BM25's upper bound that a document full of the words really comes near to."""
_MORE: Final = 0x80  # the bit of a variable-length number that says that another byte follows
_RAREST: Final = 1e-6  # FTS5 lets no word of the query count for less

# Filtering by a join lets FTS5 work out BM25 for the rows that pass alone. At 100,000 memories that costs as much
# as no filter for a scope of three quarters of them and a third for a small one; an extra column with the scope as
# a token was up to a quarter dearer for the large scope, and `ORDER BY rank` up to thrice.
_SEARCH: Final = """
SELECT w.rowid, -bm25(words, {weights}) AS score
FROM words w CROSS JOIN memories m ON m.no = w.rowid
WHERE w.words MATCH :words AND {condition}
ORDER BY score DESC, w.rowid DESC LIMIT :most
"""


def lexical(db: apsw.Connection, words: Sequence[QueryWord], condition: Condition, limit: int) -> Lexical:
    """Return the memories that hold some of the words, best first."""
    if not words or limit < 1:
        return Lexical()
    sql = _SEARCH.format(weights=f"{TITLE_WEIGHT}, {BODY_WEIGHT}, {EXACT_WEIGHT}", condition=condition.sql)
    values = {**condition.values, "words": match(words), "most": limit}
    hits = tuple(LexicalHit(no=no, score=score) for no, score in db.execute(sql, values))
    return Lexical(hits=hits, best=_best(db, words) if hits else 0.0)


def match(words: Sequence[QueryWord]) -> str:
    """Return the FTS5 expression for any of the words; each is quoted, so that nothing in it is syntax."""
    terms = []
    for word in words:
        terms.append(f"{{title body}} : {_quoted(word.stem)}")
        if word.exact is not None:
            terms.append(f"exact : {_quoted(word.exact)}")
    return " OR ".join(terms)


def indexed(db: apsw.Connection) -> int:
    """Return how many memories the index of words holds, as its own averages record says."""
    # Counting rows takes milliseconds; the record is one blob that begins with the number (FTS5's file format).
    block: bytes | None = value_of(db, "SELECT block FROM words_data WHERE id = 1")
    number = 0
    for byte in block or b"":
        number = number << 7 | byte & ~_MORE
        if not byte & _MORE:
            break
    return number


def _best(db: apsw.Connection, words: Sequence[QueryWord]) -> float:
    """Return the score of a document that holds every word as often as counts."""
    total = indexed(db)
    stems = [word.stem for word in words]
    sql = "SELECT term, doc FROM word_counts WHERE term IN (SELECT value FROM json_each(?))"
    holding: dict[str, int] = dict(rows_of(db, sql, (json.dumps(stems),)))
    weights = (_idf(total, holding.get(stem, 0)) for stem in stems)
    return sum(weights) * (K1 + 1) * PERFECT


def _idf(total: int, holding: int) -> float:
    """Return the weight of a word as FTS5 works it out."""
    odds = (total - holding + 0.5) / (holding + 0.5)
    return max(math.log(odds), _RAREST) if odds > 0 else _RAREST


def _quoted(token: str) -> str:
    escaped = token.replace('"', '""')
    return f'"{escaped}"'
