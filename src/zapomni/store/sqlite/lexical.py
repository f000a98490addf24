"""The leg of words: FTS5 gathers the best hits by BM25, with their tokens, and tells how rare each word is."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zapomni.store.found import VISIBLE_MOST, Lexical, LexicalHit
from zapomni.store.sqlite.condition import SEEN
from zapomni.store.sqlite.connection import value_of
from zapomni.store.sqlite.corpus import CHUNKS, MEMORIES
from zapomni.store.sqlite.near_words import holding, near_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from zapomni.store.sqlite.condition import Condition
    from zapomni.store.sqlite.corpus import Corpus
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
  SELECT w.rowid AS no, bm25({table}, {weights}) AS score, {place}
  FROM {table} w CROSS JOIN {joined}
  WHERE w.{table} MATCH :words AND {condition}
  ORDER BY score, w.rowid DESC LIMIT :most
"""
# The best of all, filtered afterwards: the same hits for less, when enough of them pass.
_BEST_FIRST: Final = """
  SELECT w.rowid AS no, w.score, {place}
  FROM (
    SELECT w.rowid, bm25({table}, {weights}) AS score FROM {table} w
    WHERE w.{table} MATCH :words ORDER BY score, w.rowid DESC LIMIT :wide
  ) w CROSS JOIN {joined}
  WHERE {condition}
  ORDER BY w.score, w.rowid DESC LIMIT :most
"""
_SEARCH: Final = """
WITH best AS MATERIALIZED ({best})
SELECT b.no, t.c0, t.c1, t.c2, b.owner, b.position, {source}
FROM best b CROSS JOIN {table}_content t ON t.id = b.no
ORDER BY b.score, b.no DESC
"""
_VISIBLE: Final = "SELECT count(*) FROM (SELECT 1 FROM {visible} WHERE {condition} LIMIT :most)"


class Leg(Struct, frozen=True):
    """The words of one corpus: what its index joins with to be filtered, and where a hit stands.

    The order that it stands in is named by `owner` in `place`, together with `source`.
    """

    corpus: Corpus
    joined: str
    visible: str
    place: str
    source: str


MEMORIES_LEG: Final = Leg(
    MEMORIES,
    joined=f"{SEEN} ON m.no = w.rowid",
    visible=SEEN,
    place="m.scope_no AS owner, m.position",
    source="CASE WHEN b.position IS NOT NULL THEN (SELECT source FROM memories WHERE no = b.no) END",
)
CHUNKS_LEG: Final = Leg(
    CHUNKS,
    joined="chunks c ON c.no = w.rowid CROSS JOIN documents d ON d.no = c.document_no",
    visible="documents d CROSS JOIN chunks c ON c.document_no = d.no",
    place="NULL AS owner, NULL AS position",
    source="NULL",
)
"""Chunks stand for themselves: neighbours' words blur them (nDCG@10 .65 with the windows of messages, .75 without)."""


def lexical(db: apsw.Connection, leg: Leg, words: Sequence[QueryWord], condition: Condition, limit: int) -> Lexical:
    """Return the items that hold some of the words, or what stands for them, best first by BM25."""
    if not words or limit < 1:
        return Lexical()
    counts = leg.corpus.counts
    held = holding(db, counts, chain.from_iterable(word.terms for word in words))
    total = indexed(db, leg.corpus)
    near = near_words(db, counts, words, held, total)
    if near:
        held |= holding(db, counts, near.values())
    asked = dict.fromkeys(term for word in words for term in (*word.terms, near.get(word.stem)) if term in held)
    if not asked:
        return Lexical()
    values = {**condition.values, "words": match(asked), "most": limit, "wide": _WIDE * limit}
    hits: tuple[LexicalHit, ...] = ()
    for best in (_BEST_FIRST, _FILTERED):
        if len(hits) < limit:
            sql = _sql(leg, best, condition.sql)
            hits = tuple(_hit(row) for row in db.execute(sql, values))
    if not hits:
        return Lexical()
    return Lexical(hits=hits, total=total, holding=held, near=near)


def visible(db: apsw.Connection, leg: Leg, condition: Condition) -> int:
    """Return how many items the condition lets through, counted no further than `VISIBLE_MOST`."""
    sql = _VISIBLE.format(visible=leg.visible, condition=condition.sql)
    count: int = value_of(db, sql, {**condition.values, "most": VISIBLE_MOST})
    return count


def _sql(leg: Leg, best: str, condition: str) -> str:
    table = leg.corpus.words
    part = best.format(table=table, joined=leg.joined, place=leg.place, weights=WEIGHTS, condition=condition)
    return _SEARCH.format(best=part, table=table, source=leg.source)


def _hit(row: tuple[Any, ...]) -> LexicalHit:
    no, title, body, exact, owner, position, source = row
    words = f"{title} {body}" if title else body
    thread = None if source is None else (owner, source)
    return LexicalHit(no, words, exact, thread, None if source is None else position)


def match(terms: Iterable[str]) -> str:
    """Return the FTS5 expression for any of the terms; each is quoted, so that nothing in it is syntax."""
    return " OR ".join(map(_quoted, terms))


def indexed(db: apsw.Connection, corpus: Corpus) -> int:
    """Return how many items the index of words holds, as its own averages record says."""
    # Counting rows takes milliseconds; the record is one blob that begins with the number (FTS5's file format).
    block: bytes | None = value_of(db, f"SELECT block FROM {corpus.words}_data WHERE id = 1")
    number = 0
    for byte in block or b"":
        number = number << 7 | byte & ~_MORE
        if not byte & _MORE:
            break
    return number


def _quoted(token: str) -> str:
    escaped = token.replace('"', '""').replace("\0", " ")  # FTS5 takes a NUL for the end of the expression
    return f'"{escaped}"'
