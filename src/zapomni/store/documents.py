"""What a store must do with documents: attached sources, their files as they were read last, and the pieces of those.

All of it can be read anew from the files; nothing here is history. `no` is the store's own number of a chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from zapomni.store.base import Corpus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from zapomni.model import Space, Vector
    from zapomni.model.document import Chunk, Document, DocumentFilter, Source, SourceStatus
    from zapomni.store.found import Lexical
    from zapomni.text.words import QueryWord


class Found(NamedTuple):
    """A chunk with what it is part of."""

    source: Source
    document: Document
    chunk: Chunk


class WaitingChunk(NamedTuple):
    """A chunk that waits for its vector: its number, the line above its text that is embedded with it, and the text."""

    no: int
    heading: str
    text: str


class Documents(Corpus[WaitingChunk], Protocol):
    """Sources, documents and chunks, shared by any number of processes; methods may be called from any thread.

    Raises what `Store` raises.
    """

    # --- sources ---------------------------------------------------------------------------------------
    def add_source(self, source: Source) -> Source:
        """Keep a source and return it, or the one of this root, mode and scope with its patterns brought up to date."""

    def sources(self) -> list[Source]:
        """Return every source, oldest first."""

    def remove_source(self, source_id: str) -> None:
        """Forget a source with all its documents and chunks; one that is gone already is passed over."""

    def mark_scanned(self, source_id: str, at: datetime, problem: str | None) -> None:
        """Record when a source was scanned, and why the scan stopped before its end."""

    def status(self, source: Source) -> SourceStatus:
        """Count what stands of a source in the index and name what was skipped."""

    # --- documents -------------------------------------------------------------------------------------
    def documents(self, source_id: str) -> dict[str, Document]:
        """Return the documents of a source by path."""

    def put_document(self, document: Document, chunks: Sequence[Chunk], *, was: str | None = None) -> None:
        """Write a document with its chunks in one transaction, in place of the one of this path.

        `was` is the path that the same file had before; what stood there moves along. A source that was
        removed meanwhile is left removed.
        """

    def touch_document(self, document: Document) -> None:
        """Bring size, time and hash of a document up to date whose content did not change."""

    def drop_documents(self, source_id: str, paths: Sequence[str]) -> None:
        """Remove documents with their chunks in one transaction."""

    def sweep(self) -> None:
        """Drop the vectors that no chunk refers to, once no chunk waits: a moved file finds its vectors again."""

    # --- the read path ---------------------------------------------------------------------------------
    def lexical(self, words: Sequence[QueryWord], where: DocumentFilter, limit: int) -> Lexical:
        """Return the chunks that hold some of the words, best first by BM25; none stands in a thread."""

    def nearest(
        self, space: Space, query: Vector, where: DocumentFilter, limit: int, also: Sequence[int] = ()
    ) -> list[tuple[int, float]]:
        """Return the chunks nearest to a unit query vector with their mean-centred cosine, best first."""

    def visible(self, where: DocumentFilter) -> int:
        """Return how many chunks the filter lets through, counted no further than `VISIBLE_MOST`."""

    def fetch(self, nos: Sequence[int]) -> Mapping[int, Found]:
        """Return the chunks of these numbers with what they are part of."""
