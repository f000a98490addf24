"""Writing documents: the row of a file, its chunks, and everything that is derived from those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.record import stamp
from zapomni.store.sqlite.connection import column_of, rows_of, value_of
from zapomni.store.sqlite.corpus import CHUNKS
from zapomni.store.sqlite.document_rows import ADD_CHUNK, PUT_DOCUMENT, chunk_values, document_values
from zapomni.store.sqlite.rows import dumps
from zapomni.text.fold import name_key
from zapomni.text.words import index_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    import apsw

    from zapomni.model.document import Chunk, Document, Source

Texts = tuple[str, str]
"""What a chunk is found by: the heading above it and its text."""

_MOVE_CHUNK: Final = (
    'UPDATE chunks SET ordinal = ?, start = ?, "end" = ?, first_line = ?, last_line = ?, page = ?, trail = ?,'
    " weight = ? WHERE no = ?"
)
_ADD_WORDS: Final = (
    "INSERT INTO chunk_words (rowid, title, body, exact) VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))"
)
_ORPHANS: Final = "DELETE FROM chunk_vectors WHERE no NOT IN (SELECT vector_no FROM chunk_pieces)"


def add_source(db: apsw.Connection, source: Source, scope_no: int) -> None:
    """Write a source; one of the same root, mode and scope takes over the patterns."""
    db.execute(
        "INSERT INTO sources (id, root, mode, scope_no, include, exclude, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (root, mode, scope_no) DO UPDATE SET include = excluded.include, exclude = excluded.exclude",
        (
            *(source.id, source.root, source.mode.value, scope_no),
            *(dumps(list(source.include)), dumps(list(source.exclude)), stamp(source.created_at)),
        ),
    )


def remove_source(db: apsw.Connection, source_id: str) -> None:
    """Remove a source with all its documents."""
    paths = column_of(
        db, "SELECT d.path FROM documents d JOIN sources s ON s.no = d.source_no WHERE s.id = ?", (source_id,)
    )
    drop(db, source_id, paths)
    db.execute("DELETE FROM sources WHERE id = ?", (source_id,))


def mark_scanned(db: apsw.Connection, source_id: str, at: datetime, problem: str | None) -> None:
    """Record a scan."""
    db.execute("UPDATE sources SET scanned_at = ?, problem = ? WHERE id = ?", (stamp(at), problem, source_id))


def put(db: apsw.Connection, document: Document, chunks: Sequence[Chunk], was: str | None) -> None:
    """Bring a document and its chunks to this state; chunks that stay what they were keep number and vectors."""
    source_no = value_of(db, "SELECT no FROM sources WHERE id = ?", (document.source_id,))
    if source_no is None:
        return
    if was is not None and was != document.path:
        drop(db, document.source_id, [document.path])
        sql = "UPDATE documents SET path = ? WHERE source_no = ? AND path = ?"
        db.execute(sql, (document.path, source_no, was))
    no: int = value_of(db, PUT_DOCUMENT, (source_no, *document_values(document)))
    _put_tags(db, no, document.tags)
    _put_chunks(db, no, document, chunks)


def touch(db: apsw.Connection, document: Document) -> None:
    """Bring size, time and hash up to date."""
    db.execute(
        "UPDATE documents SET size = ?, modified_ns = ?, sha256 = ? WHERE path = ?"
        " AND source_no = (SELECT no FROM sources WHERE id = ?)",
        (document.size, document.modified_ns, document.sha256, document.path, document.source_id),
    )


def drop(db: apsw.Connection, source_id: str, paths: Iterable[str]) -> None:
    """Remove documents with their chunks, words, pieces and jobs."""
    sql = "SELECT d.no FROM documents d JOIN sources s ON s.no = d.source_no WHERE s.id = ? AND d.path = ?"
    for path in paths:
        no = value_of(db, sql, (source_id, path))
        if no is not None:
            _drop_chunks(db, column_of(db, "SELECT no FROM chunks WHERE document_no = ?", (no,)))
            db.execute("DELETE FROM documents WHERE no = ?", (no,))


def sweep(db: apsw.Connection) -> bool:
    """Drop vectors without a chunk unless some chunk still waits, which may be the same text elsewhere."""
    if value_of(db, "SELECT 1 FROM chunk_jobs LIMIT 1") is not None:
        return False
    db.execute(_ORPHANS)
    return bool(db.changes())


def heading_of(document: Document, chunk: Chunk) -> str:
    """Return the line that is embedded above a chunk and indexed with it: title and headings."""
    trail = chunk.trail[1:] if chunk.trail[:1] == (document.title,) else chunk.trail
    return " > ".join(part for part in (document.title, *trail) if part)


def _put_tags(db: apsw.Connection, no: int, tags: Iterable[str]) -> None:
    db.execute("DELETE FROM document_tags WHERE document_no = ?", (no,))
    sql = "INSERT OR IGNORE INTO document_tags (fold, document_no) VALUES (?, ?)"
    db.executemany(sql, [(name_key(tag), no) for tag in tags])


def _put_chunks(db: apsw.Connection, document_no: int, document: Document, chunks: Sequence[Chunk]) -> None:
    held: dict[Texts, list[int]] = {}
    rows = rows_of(db, "SELECT no, heading, text FROM chunks WHERE document_no = ? ORDER BY no DESC", (document_no,))
    for no, heading, text in rows:
        held.setdefault((heading, text), []).append(no)
    kept: list[tuple[int, int, Chunk]] = []
    new: list[tuple[int, str, Chunk]] = []
    for ordinal, chunk in enumerate(chunks):
        heading = heading_of(document, chunk)
        same = held.get((heading, chunk.text))
        if same:
            kept.append((same.pop(), ordinal, chunk))
        else:
            new.append((ordinal, heading, chunk))
    _drop_chunks(db, [no for nos in held.values() for no in nos])
    db.execute("UPDATE chunks SET ordinal = -1 - ordinal WHERE document_no = ?", (document_no,))  # out of the way
    for no, ordinal, chunk in kept:
        values = chunk_values(chunk, "", document_no, ordinal)
        db.execute(_MOVE_CHUNK, (ordinal, *values[1:8], no))
    for ordinal, heading, chunk in new:
        _add_chunk(db, document_no, document, ordinal, heading, chunk)


def _add_chunk(
    db: apsw.Connection, document_no: int, document: Document, ordinal: int, heading: str, chunk: Chunk
) -> None:
    db.execute(ADD_CHUNK, chunk_values(chunk, heading, document_no, ordinal))
    no = db.last_insert_rowid()
    words = index_words(title=f"{heading}\n{document.path}", body=chunk.text)
    db.execute(_ADD_WORDS, (no, words.title, words.body, words.exact))
    open_spaces = f"SELECT no FROM {CHUNKS.spaces} WHERE state <> 'retired'"
    db.execute(f"INSERT INTO chunk_jobs (space_no, chunk_no) SELECT no, ? FROM ({open_spaces})", (no,))


def _drop_chunks(db: apsw.Connection, nos: Sequence[int]) -> None:
    """Remove chunks; their pieces and jobs go with them, their vectors with the next `sweep`."""
    listed = (dumps(list(nos)),)
    db.execute("DELETE FROM chunk_words WHERE rowid IN (SELECT value FROM json_each(?))", listed)
    db.execute("DELETE FROM chunks WHERE no IN (SELECT value FROM json_each(?))", listed)
