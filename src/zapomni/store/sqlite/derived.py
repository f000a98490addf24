"""What is derived from a memory's row: its names, its words, its vectors and the jobs that make those."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from zapomni.model import SpaceState
from zapomni.store.sqlite.connection import column_of
from zapomni.store.sqlite.corpus import MEMORIES
from zapomni.text.fold import name_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from zapomni.model import Memory
    from zapomni.store.sqlite.corpus import Corpus
    from zapomni.text.words import IndexWords

_fold: Final = lru_cache(maxsize=4_096)(name_key)  # the memories of one import share their tags
_ROW: Final = "(?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))"
_INSERT_JOB: Final = "INSERT OR IGNORE INTO embed_jobs (space_no, memory_no) VALUES (?, ?)"
_MISSING_JOB: Final = (
    "INSERT OR IGNORE INTO embed_jobs (space_no, memory_no) SELECT ?1, ?2"
    " WHERE NOT EXISTS (SELECT 1 FROM pieces WHERE memory_no = ?2 AND space_no = ?1)"
)
MISSING_JOBS: Final = (
    "INSERT OR IGNORE INTO embed_jobs (space_no, memory_no) SELECT s.no, m.no FROM spaces s, memories m"
    f" WHERE s.state <> '{SpaceState.RETIRED.value}' AND m.deleted_at IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM pieces p WHERE p.memory_no = m.no AND p.space_no = s.no)"
)
"""Asks for every vector that is missing anywhere."""


def embedded_text(memory: Memory) -> tuple[str, str, str]:
    """Return the fields whose change makes a memory's vectors void."""
    return memory.title, memory.description, memory.content


def add_words(db: apsw.Connection, words: Sequence[tuple[int, IndexWords]]) -> None:
    """Index the words of memories, each with its number.

    It is one statement: while SQLite works at it other threads have the interpreter.
    """
    rows = ", ".join([_ROW] * len(words))
    values = [value for no, one in words for value in (no, one.title, one.body, one.exact)]
    db.execute(f"INSERT INTO words (rowid, title, body, exact) VALUES {rows}", tuple(values))


def drop_words(db: apsw.Connection, no: int) -> None:
    """Take a memory out of the index of words; one that is not in it is passed over."""
    db.execute("DELETE FROM words WHERE rowid = ?", (no,))


def add_names(db: apsw.Connection, no: int, memory: Memory) -> None:
    """Index the tags and entities of a memory; of names that are equal when folded the first one counts."""
    if memory.tags:
        db.executemany("INSERT OR IGNORE INTO tags (fold, memory_no, label) VALUES (?, ?, ?)", _names(no, memory.tags))
    if memory.entities:
        db.executemany(
            "INSERT OR IGNORE INTO entities (fold, memory_no, label) VALUES (?, ?, ?)", _names(no, memory.entities)
        )


def drop_names(db: apsw.Connection, no: int) -> None:
    """Take a memory out of the indexes of tags and entities."""
    db.execute("DELETE FROM tags WHERE memory_no = ?", (no,))
    db.execute("DELETE FROM entities WHERE memory_no = ?", (no,))


def add_jobs(db: apsw.Connection, no: int, spaces: Iterable[int]) -> None:
    """Ask for the vectors of a new memory."""
    for space_no in spaces:
        db.execute(_INSERT_JOB, (space_no, no))


def add_missing_jobs(db: apsw.Connection, no: int, spaces: Iterable[int]) -> None:
    """Ask for the vectors of a memory where it has none."""
    for space_no in spaces:
        db.execute(_MISSING_JOB, (space_no, no))


def drop_jobs(db: apsw.Connection, no: int) -> None:
    """Ask for no vectors of a memory any more."""
    db.execute("DELETE FROM embed_jobs WHERE memory_no = ?", (no,))


def drop_vectors(db: apsw.Connection, no: int) -> None:
    """Drop a memory's pieces and the vectors that no other memory shares."""
    drop_orphans(db, MEMORIES, drop_pieces(db, MEMORIES, no))


def drop_pieces(db: apsw.Connection, corpus: Corpus, no: int, space_no: int | None = None) -> list[int]:
    """Drop an item's pieces, of one space or all; return the vectors that they referred to."""
    chosen = f"FROM {corpus.pieces} WHERE {corpus.item} = ?1 AND (?2 IS NULL OR space_no = ?2)"
    held = column_of(db, f"SELECT DISTINCT vector_no {chosen}", (no, space_no))
    if held:
        db.execute(f"DELETE {chosen}", (no, space_no))
    return held


def drop_orphans(db: apsw.Connection, corpus: Corpus, vector_nos: Sequence[int]) -> None:
    """Drop those of these vectors that no piece refers to."""
    if not vector_nos:
        return
    db.execute(
        f"DELETE FROM {corpus.vectors} WHERE no IN (SELECT value FROM json_each(?))"
        f" AND NOT EXISTS (SELECT 1 FROM {corpus.pieces} WHERE vector_no = {corpus.vectors}.no)",
        (json.dumps(vector_nos),),
    )


def _names(no: int, labels: Iterable[str]) -> list[tuple[str, int, str]]:
    return [(_fold(label), no, label) for label in labels]
