"""Whether the store is whole, and building anew what is derived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import apsw

from zapomni.store.base import Check
from zapomni.store.sqlite import derived
from zapomni.store.sqlite.connection import column_of, rows_of, value_of
from zapomni.store.sqlite.opening import APPLICATION
from zapomni.store.sqlite.rows import SELECT_MEMORY, memory_of
from zapomni.text.words import memory_words

if TYPE_CHECKING:
    from pathlib import Path

_REBUILD: Final = "Run `zapomni doctor --repair`"
_RESTORE: Final = "Restore a backup; `zapomni export` saves what can still be read"
_ONE_NAME: Final = (
    "End every zapomni process and remove the other names (`find / -samefile FILE` lists them): each has a journal and"
    " locks of its own, so that what is written under one can be lost under the other"
)
_OPEN: Final = 0o077
"""Permission bits of everybody but the owner."""

_FAULTS: Final = {
    "words": (
        "SELECT count(*) FROM memories WHERE deleted_at IS NULL AND no NOT IN (SELECT id FROM words_docsize)",
        "SELECT count(*) FROM words_docsize WHERE id NOT IN (SELECT no FROM memories WHERE deleted_at IS NULL)",
        "{} memories are missing from the index of words, {} entries of it belong to none",
    ),
    "tags": (
        """SELECT count(*) FROM memories m WHERE json_array_length(m.tags) > 0
        AND NOT EXISTS (SELECT 1 FROM tags WHERE memory_no = m.no)""",
        "SELECT count(*) FROM tags WHERE memory_no NOT IN (SELECT no FROM memories)",
        "{} memories are missing from the index of tags, {} entries of it belong to none",
    ),
    "vectors": (
        "SELECT count(*) FROM vectors WHERE no NOT IN (SELECT vector_no FROM pieces)",
        """SELECT count(*) FROM pieces WHERE memory_no NOT IN (SELECT no FROM memories)
        OR vector_no NOT IN (SELECT no FROM vectors)""",
        "{} vectors belong to no memory, {} pieces have lost their memory or vector",
    ),
    "jobs": (
        """SELECT count(*) FROM memories m, spaces s WHERE m.deleted_at IS NULL AND s.state <> 'retired'
        AND NOT EXISTS (SELECT 1 FROM pieces WHERE memory_no = m.no AND space_no = s.no)
        AND NOT EXISTS (SELECT 1 FROM embed_jobs WHERE memory_no = m.no AND space_no = s.no)""",
        """SELECT count(*) FROM embed_jobs j
        WHERE NOT EXISTS (SELECT 1 FROM memories WHERE no = j.memory_no AND deleted_at IS NULL)""",
        "{} memories wait for a vector that nobody is asked for, {} jobs belong to no memory",
    ),
    "documents": (
        """SELECT count(*) FROM documents d
        WHERE d.chunks <> (SELECT count(*) FROM chunks c JOIN chunk_words_docsize w ON w.id = c.no
          WHERE c.document_no = d.no)""",
        """SELECT (SELECT count(*) FROM chunk_words_docsize WHERE id NOT IN (SELECT no FROM chunks))
        + (SELECT count(*) FROM chunks WHERE document_no NOT IN (SELECT no FROM documents))
        + (SELECT count(*) FROM chunk_pieces WHERE vector_no NOT IN (SELECT no FROM chunk_vectors))
        + (SELECT count(*) FROM chunks c, chunk_spaces s WHERE s.state <> 'retired'
          AND NOT EXISTS (SELECT 1 FROM chunk_pieces WHERE chunk_no = c.no AND space_no = s.no)
          AND NOT EXISTS (SELECT 1 FROM chunk_jobs WHERE chunk_no = c.no AND space_no = s.no))""",
        "{} documents have lost some of their chunks, {} chunks, words or vectors are astray",
    ),
}
"""For each derived index two counts that must be zero, and what they count."""


def check(db: apsw.Connection, path: Path) -> list[Check]:
    """Look at the file, its permissions, its integrity and each derived index."""
    checks = [_file(db, path), _permissions(path), _integrity(db)]
    if not checks[-1].ok:
        return checks  # counts from a damaged file mean nothing
    return [*checks, _references(db), *(_derived(db, name) for name in _FAULTS)]


def rebuild(db: apsw.Connection) -> None:
    """Build words, names, pieces, vectors and jobs anew from the memories; vectors that are whole stay."""
    db.execute("DELETE FROM words")
    db.execute("DELETE FROM tags; DELETE FROM entities")
    for row in rows_of(db, f"{SELECT_MEMORY} ORDER BY m.no"):
        memory = memory_of(row)
        derived.add_names(db, row[0], memory)
        if memory.deleted_at is None:
            derived.add_words(db, [(row[0], memory_words(memory))])
    db.execute(
        "DELETE FROM pieces WHERE memory_no NOT IN (SELECT no FROM memories)"
        " OR memory_no IN (SELECT memory_no FROM pieces WHERE vector_no NOT IN (SELECT no FROM vectors))"
        " OR space_no IN (SELECT no FROM spaces WHERE state = 'retired')"
    )
    db.execute("DELETE FROM vectors WHERE no NOT IN (SELECT vector_no FROM pieces)")
    db.execute("DELETE FROM embed_jobs WHERE memory_no NOT IN (SELECT no FROM memories WHERE deleted_at IS NULL)")
    db.execute(derived.MISSING_JOBS)
    db.execute("UPDATE spaces SET epoch = epoch + 1")
    if not _derived(db, "documents").ok:
        _forget_documents(db)


def _forget_documents(db: apsw.Connection) -> None:
    """Empty the index of documents; the next scan reads the files again and finds the vectors of their texts."""
    db.execute("DELETE FROM chunk_words; DELETE FROM chunk_pieces; DELETE FROM chunk_jobs")
    db.execute("DELETE FROM chunks; DELETE FROM documents; UPDATE chunk_spaces SET epoch = epoch + 1")


def _file(db: apsw.Connection, path: Path) -> Check:
    schema, application = value_of(db, "PRAGMA user_version"), value_of(db, "PRAGMA application_id")
    found = path.stat()
    detail = f"{path}, {found.st_size:,} bytes, schema {schema}"
    if found.st_nlink > 1:
        return Check(name="file", ok=False, detail=f"{detail}, under {found.st_nlink} names", remedy=_ONE_NAME)
    return Check(name="file", ok=application == APPLICATION, detail=detail, remedy="Move the file away")


def _permissions(path: Path) -> Check:
    wide = [
        file.name
        for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm"))
        if file.exists() and file.stat().st_mode & _OPEN
    ]
    if not wide:
        return Check(name="permissions", ok=True, detail="only the owner can read it")
    remedy = f"Run `chmod 600 {path}*`"
    return Check(name="permissions", ok=False, detail=f"others may open {', '.join(wide)}", remedy=remedy)


def _integrity(db: apsw.Connection) -> Check:
    try:
        # FTS5 compares the index with what it remembers of it; a question makes it look what others have written.
        db.execute("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").fetchall()
        found = column_of(db, "PRAGMA integrity_check(20)")
    except apsw.CorruptError:
        found = ["the file cannot be read to its end"]
    if found == ["ok"]:
        return Check(name="integrity", ok=True, detail="every page is whole")
    return Check(name="integrity", ok=False, detail=f"{len(found)} faults or more", remedy=_RESTORE)


def _references(db: apsw.Connection) -> Check:
    broken = len(db.execute("PRAGMA foreign_key_check").fetchall())
    detail = "every reference leads somewhere" if not broken else f"{broken} references lead nowhere"
    return Check(name="references", ok=not broken, detail=detail, remedy="" if not broken else _REBUILD)


def _derived(db: apsw.Connection, name: str) -> Check:
    missing_sql, surplus_sql, meaning = _FAULTS[name]
    missing, surplus = value_of(db, missing_sql), value_of(db, surplus_sql)
    if not missing and not surplus:
        return Check(name=name, ok=True, detail="agrees with what it is derived from")
    return Check(name=name, ok=False, detail=meaning.format(missing, surplus), remedy=_REBUILD)
