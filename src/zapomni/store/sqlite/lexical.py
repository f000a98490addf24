"""The leg of words: FTS5 gathers the best hits by BM25, with their tokens, and tells how rare each word is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.store.base import VISIBLE_MOST, Lexical, LexicalHit
from zapomni.store.sqlite.condition import SEEN
from zapomni.store.sqlite.connection import value_of
from zapomni.store.sqlite.near_words import holding, near_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from zapomni.store.sqlite.condition import Condition
    from zapomni.text.words import QueryWord

WEIGHTS: Final = "2.0, 1.0, 0.1"
"""What one occurrence in title, body and exact counts when hits are gathered; `search.fuse` counts them again.

LoCoMo rec@10 is .653 with exact at .1, .647 without it and .646 at 1; DaNetQA hit@5 .798, .789 and .741.
"""
_MORE: Final = 0x80  # the bit of a variable-length number that says that another byte follows

_WIDE: Final = 4
"""How many times the wanted hits are gathered before the filter, for a scope that holds most of the memories."""

# Filtering by a join lets FTS5 work out BM25 for the rows that pass alone: against no filter at all it costs 1.3
# times as much for a scope of three quarters of the memories and two thirds for one of a twentieth. An extra column
# with the scope as a token was up to a quarter dearer for large scopes, `ORDER BY rank` up to thrice.
_FILTERED: Final = """
  SELECT w.rowid AS no, bm25(words, {weights}) AS score, m.scope_no, m.position
  FROM words w CROSS JOIN {seen} ON m.no = w.rowid
  WHERE w.words MATCH :words AND {condition}
  ORDER BY score, w.rowid DESC LIMIT :most
"""
# The best of all, filtered afterwards: the same hits for less, when enough of them pass.
_BEST_FIRST: Final = """
  SELECT f.no, f.score, m.scope_no, m.position
  FROM (
    SELECT w.rowid AS no, bm25(words, {weights}) AS score FROM words w
    WHERE w.words MATCH :words ORDER BY score, w.rowid DESC LIMIT :wide
  ) f CROSS JOIN {seen} ON m.no = f.no
  WHERE {condition}
  ORDER BY f.score, f.no DESC LIMIT :most
"""
_SEARCH: Final = """
WITH best AS MATERIALIZED ({best})
SELECT b.no, c.c0, c.c1, c.c2, b.scope_no, b.position,
  CASE WHEN b.position IS NOT NULL THEN (SELECT source FROM memories WHERE no = b.no) END
FROM best b CROSS JOIN words_content c ON c.id = b.no
ORDER BY b.score, b.no DESC
"""
_VISIBLE: Final = "SELECT count(*) FROM (SELECT 1 FROM {seen} WHERE {condition} LIMIT :most)"


def lexical(db: apsw.Connection, words: Sequence[QueryWord], condition: Condition, limit: int) -> Lexical:
    """Return the memories that hold some of the words, or what stands for them, best first by BM25."""
    if not words or limit < 1:
        return Lexical()
    held = holding(db, [word.stem for word in words])
    total = indexed(db)
    near = near_words(db, words, held, total) if len(held) < len(words) else {}
    if near:
        held |= holding(db, near.values())
    asked = dict.fromkeys(near.get(word.stem, word.stem) for word in words)
    values = {**condition.values, "words": match(asked), "most": limit, "wide": _WIDE * limit}
    hits: tuple[LexicalHit, ...] = ()
    for best in (_BEST_FIRST, _FILTERED):
        if len(hits) < limit:
            part = best.format(seen=SEEN, weights=WEIGHTS, condition=condition.sql)
            hits = tuple(_hit(row) for row in db.execute(_SEARCH.format(best=part), values))
    if not hits:
        return Lexical()
    return Lexical(hits=hits, total=total, holding=held, near=near)


def visible(db: apsw.Connection, condition: Condition) -> int:
    """Return how many memories the condition lets through, counted no further than `VISIBLE_MOST`."""
    sql = _VISIBLE.format(seen=SEEN, condition=condition.sql)
    count: int = value_of(db, sql, {**condition.values, "most": VISIBLE_MOST})
    return count


def _hit(row: tuple[Any, ...]) -> LexicalHit:
    no, title, body, exact, scope_no, position, source = row
    words = f"{title} {body}" if title else body
    thread = None if source is None else (scope_no, source)
    return LexicalHit(no, words, exact, thread, None if source is None else position)


def match(stems: Iterable[str]) -> str:
    """Return the FTS5 expression for any of the stems; each is quoted, so that nothing in it is syntax.

    The stems alone are asked for: wherever an exact form stands, its stem stands too.
    """
    return " OR ".join(map(_quoted, stems))


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


def _quoted(token: str) -> str:
    escaped = token.replace('"', '""').replace("\0", " ")  # FTS5 takes a NUL for the end of the expression
    return f'"{escaped}"'
