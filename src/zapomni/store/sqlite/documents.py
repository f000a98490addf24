"""The documents of one SQLite file: composes the rooms of this folder behind `store.documents.Documents`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zapomni.model.document import DocumentKind, Skipped, SourceStatus
from zapomni.record import stamp
from zapomni.store.documents import Found, WaitingChunk
from zapomni.store.jobs import EmbedJob
from zapomni.store.sqlite import document_write, lexical, queue, spaces
from zapomni.store.sqlite.connection import rows_of, value_of
from zapomni.store.sqlite.corpus import CHUNKS
from zapomni.store.sqlite.document_rows import (
    CHUNK,
    DOCUMENT,
    DOCUMENT_COLUMNS,
    SELECT_SOURCE,
    SOURCE_COLUMNS,
    chunk_of,
    document_condition,
    document_of,
    source_of,
)
from zapomni.store.sqlite.locks import worker_lock
from zapomni.store.sqlite.rows import dumps
from zapomni.store.sqlite.write import SqliteTx

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from zapomni.model import Space, Vector
    from zapomni.model.document import Chunk, Document, DocumentFilter, Source
    from zapomni.store.found import Lexical
    from zapomni.store.jobs import Backlog
    from zapomni.store.sqlite.connection import Connections
    from zapomni.text.words import QueryWord

_JOBS: Final = (
    "SELECT j.attempts, j.error, c.no, c.heading, c.text FROM chunk_jobs j JOIN chunks c ON c.no = j.chunk_no"
    + queue.WAITING
)
_FOUND: Final = SELECT_SOURCE.replace(" FROM sources s", f", {DOCUMENT}, {CHUNK}, c.no FROM sources s", 1) + (
    " JOIN documents d ON d.source_no = s.no JOIN chunks c ON c.document_no = d.no"
    " WHERE c.no IN (SELECT value FROM json_each(?))"
)
_OF_SOURCE: Final = "FROM documents d JOIN sources s ON s.no = d.source_no WHERE s.id = ?"


class SqliteDocuments:
    """What one SQLite file holds of documents; `store.documents` says what each method promises."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    # --- sources ---------------------------------------------------------------------------------------
    def add_source(self, source: Source) -> Source:
        """Keep a source and return it, or the one of this root, mode and scope with its patterns brought up to date."""
        with self._db.writing() as db:
            document_write.add_source(db, source, SqliteTx(db).scope_no(source.scope))
        wanted = (source.root, source.mode, source.scope)
        return next(kept for kept in self.sources() if (kept.root, kept.mode, kept.scope) == wanted)

    def sources(self) -> list[Source]:
        """Return every source, oldest first."""
        with self._db.reading() as db:
            return [source_of(row) for row in rows_of(db, f"{SELECT_SOURCE} ORDER BY s.no")]

    def remove_source(self, source_id: str) -> None:
        """Forget a source with all its documents and chunks; one that is gone already is passed over."""
        with self._db.writing() as db:
            document_write.remove_source(db, source_id)
        self.sweep()
        self._db.clear_log()  # what was removed stood in the log as well

    def mark_scanned(self, source_id: str, at: datetime, problem: str | None) -> None:
        """Record when a source was scanned, and why the scan stopped before its end."""
        with self._db.transaction() as db:
            document_write.mark_scanned(db, source_id, at, problem)

    def status(self, source: Source) -> SourceStatus:
        """Count what stands of a source in the index and name what was skipped."""
        with self._db.reading() as db:
            kinds = dict(
                rows_of(db, f"SELECT d.kind, count(*) {_OF_SOURCE} AND d.problem IS NULL GROUP BY 1", (source.id,))
            )
            chunks = value_of(db, f"SELECT coalesce(sum(d.chunks), 0) {_OF_SOURCE}", (source.id,))
            jobs = "SELECT count(DISTINCT j.chunk_no) FROM chunk_jobs j JOIN chunks c ON c.no = j.chunk_no"
            waiting = value_of(db, f"{jobs} WHERE c.document_no IN (SELECT d.no {_OF_SOURCE})", (source.id,))
            skipped = rows_of(
                db, f"SELECT d.path, d.problem {_OF_SOURCE} AND d.problem IS NOT NULL ORDER BY 1", (source.id,)
            )
            without = not spaces.spaces(db, CHUNKS)
        return SourceStatus(
            source=source,
            documents=sum(kinds.values()),
            chunks=chunks,
            waiting=chunks if without else waiting,
            kinds={DocumentKind(kind).value: count for kind, count in sorted(kinds.items())},
            skipped=tuple(Skipped(path=path, reason=problem) for path, problem in skipped),
        )

    # --- documents -------------------------------------------------------------------------------------
    def documents(self, source_id: str) -> dict[str, Document]:
        """Return the documents of a source by path."""
        with self._db.reading() as db:
            rows = rows_of(db, f"SELECT {DOCUMENT} {_OF_SOURCE}", (source_id,))
        return {document.path: document for document in (document_of(source_id, row) for row in rows)}

    def put_document(self, document: Document, chunks: Sequence[Chunk], *, was: str | None = None) -> None:
        """Write a document with its chunks in one transaction, in place of the one of this path."""
        with self._db.writing() as db:
            document_write.put(db, replace(document, chunks=len(chunks)), chunks, was)

    def touch_document(self, document: Document) -> None:
        """Bring size, time and hash of a document up to date whose content did not change."""
        with self._db.transaction() as db:
            document_write.touch(db, document)

    def drop_documents(self, source_id: str, paths: Sequence[str]) -> None:
        """Remove documents with their chunks in one transaction."""
        with self._db.writing() as db:
            document_write.drop(db, source_id, paths)
        self._db.clear_log()  # as for a source

    def sweep(self) -> None:
        """Drop the vectors that no chunk refers to, once no chunk waits."""
        with self._db.transaction() as db:
            document_write.sweep(db)

    # --- the read path ---------------------------------------------------------------------------------
    def lexical(self, words: Sequence[QueryWord], where: DocumentFilter, limit: int) -> Lexical:
        """Return the chunks that hold some of the words, best first by BM25; none stands in a thread."""
        with self._db.reading() as db:
            return lexical.lexical(db, lexical.CHUNKS_LEG, words, document_condition(where), limit)

    def nearest(
        self, space: Space, query: Vector, where: DocumentFilter, limit: int, also: Sequence[int] = ()
    ) -> list[tuple[int, float]]:
        """Return the chunks nearest to a unit query vector with their mean-centred cosine, best first."""
        from zapomni.store.sqlite.chunk_vectors import ChunkVectors

        with self._db.reading() as db:
            return self._db.keep(ChunkVectors).nearest(db, space.no, query, document_condition(where), limit, also)

    def visible(self, where: DocumentFilter) -> int:
        """Return how many chunks the filter lets through, counted no further than `VISIBLE_MOST`."""
        with self._db.reading() as db:
            return lexical.visible(db, lexical.CHUNKS_LEG, document_condition(where))

    def fetch(self, nos: Sequence[int]) -> Mapping[int, Found]:
        """Return the chunks of these numbers with what they are part of."""
        with self._db.reading() as db:
            rows = rows_of(db, _FOUND, (dumps(list(nos)),))
        found = {}
        for row in rows:
            source = source_of(row[:SOURCE_COLUMNS])
            rest = row[SOURCE_COLUMNS:]
            document = document_of(source.id, rest[:DOCUMENT_COLUMNS])
            found[rest[-1]] = Found(source, document, chunk_of(rest[DOCUMENT_COLUMNS:-1]))
        return found

    # --- spaces and the embed queue --------------------------------------------------------------------
    def size(self) -> int:
        """Return how many chunks there are to be searched."""
        with self._db.reading() as db:
            return lexical.indexed(db, CHUNKS)

    def spaces(self) -> list[Space]:
        """Return every space that is not retired, the active one first."""
        with self._db.reading() as db:
            return spaces.spaces(db, CHUNKS)

    def open_space(self, provider: str, model: str, dimension: int, preparation: int, mean: Vector | None) -> Space:
        """Return the space of this name, building it with a job for every chunk when it is new."""
        wanted = spaces.Name(provider, model, dimension, preparation)
        with self._db.writing() as db:
            return spaces.find(db, CHUNKS, wanted) or spaces.build(db, CHUNKS, wanted, mean)

    def activate(self, space_no: int) -> None:
        """Make a whole space the active one, retire the others and drop their vectors."""
        with self._db.writing() as db:
            spaces.activate(db, CHUNKS, space_no)

    def embed_jobs(
        self, space_no: int, limit: int, now: datetime, *, retry: bool = False
    ) -> list[EmbedJob[WaitingChunk]]:
        """Return waiting jobs, oldest first; those that failed wait for their time unless `retry`."""
        values = {"space": space_no, "now": None if retry else stamp(now), "most": limit}
        with self._db.reading() as db:
            rows = rows_of(db, _JOBS, values)
        return [
            EmbedJob(
                item=WaitingChunk(*chunk),
                key=str(chunk[0]),
                version=1,
                space_no=space_no,
                attempts=attempts,
                error=error,
            )
            for attempts, error, *chunk in rows
        ]

    def known_vectors(self, space_no: int, digests: Sequence[bytes]) -> set[bytes]:
        """Return which of these text digests have a vector in the space already."""
        with self._db.reading() as db:
            return queue.known(db, CHUNKS, space_no, digests)

    def save_vectors(
        self,
        space_no: int,
        vectors: Mapping[bytes, Vector],
        pieces: Sequence[tuple[WaitingChunk, Sequence[bytes]]],
    ) -> None:
        """Keep vectors by text digest and tie chunks to theirs; those that are gone are passed over."""
        with self._db.writing() as db:
            if not spaces.is_kept(db, CHUNKS, space_no):
                return
            for chunk, digests in pieces:
                if value_of(db, "SELECT 1 FROM chunks WHERE no = ?", (chunk.no,)) is not None:
                    queue.tie(db, CHUNKS, space_no, chunk.no, digests, vectors)
            spaces.renew_mean(db, CHUNKS, space_no)

    def postpone(self, job: EmbedJob[WaitingChunk], error: str, until: datetime) -> None:
        """Record a failed try and when to try again."""
        with self._db.writing() as db:
            queue.postpone(db, CHUNKS, job.item.no, job, error, stamp(until))

    def backlog(self, space_no: int) -> Backlog:
        """Count what waits in a space."""
        with self._db.reading() as db:
            return queue.backlog(db, CHUNKS, space_no)

    def worker_lock(self, name: str) -> AbstractContextManager[bool]:
        """Try to become the one process that does this background work; False when another one is."""
        return worker_lock(self._db.path, name)
