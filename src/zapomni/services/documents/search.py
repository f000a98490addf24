"""Answering a question from the documents: by words and by meaning, inside the scopes that may be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from zapomni.model import Mode
from zapomni.model.document import Findings
from zapomni.search.documents import retrieve_chunks
from zapomni.services.embedding import Asked
from zapomni.services.questions import checked_question, mode_of, reason_for, unasked
from zapomni.text.pieces import headed_pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from zapomni.model.document import DocumentFilter, DocumentHit, DocumentQuery
    from zapomni.model.explanation import Barred, Explanation
    from zapomni.search.looked import Looked
    from zapomni.services.embedding import Embedding
    from zapomni.store.documents import Documents, WaitingChunk


def search(documents: Documents, embedding: Embedding[WaitingChunk], query: DocumentQuery) -> Findings:
    """Return the chunks that answer a question, best first, and say how they were looked for.

    Without vectors the words answer alone, as in `recall`. Raises `InvalidInput` for a blank or too long
    question, `Unavailable` when `strict` cannot be kept.
    """
    query = replace(query, text=checked_question(query.text, query.limit))
    scopes = query.where.scopes
    stale = tuple(
        f"{source.root}: {source.problem or 'not scanned yet'}"
        for source in documents.sources()
        if (not scopes or source.scope in scopes) and (source.problem or source.scanned_at is None)
    )
    waiting = embedding.backlog().waiting
    if reason := unasked(query.text):
        return Findings(hits=(), mode=Mode.LEXICAL, scopes=scopes, reason=reason, waiting=waiting, stale=stale)
    asked = Asked() if query.mode is Mode.LEXICAL else embedding.ask(query.text)
    wanted = query.mode
    mode = mode_of(wanted, asked, strict=query.strict)
    query = replace(query, mode=mode)

    def look(where: DocumentFilter) -> Looked[DocumentHit]:
        return retrieve_chunks(documents, replace(query, where=where), asked.space, asked.vector)

    looked = look(query.where)
    why = query.explain and not looked.hits
    return Findings(
        hits=tuple(looked.hits),
        mode=mode,
        scopes=scopes,
        reason=reason_for(embedding, wanted, asked) if looked.visible else None,
        waiting=waiting,
        stale=stale,
        explanations=(_explained(query, looked, look),) if why else (),
        barred=None if looked.visible else _barred(documents, query.where),
    )


def _explained(
    query: DocumentQuery, looked: Looked[DocumentHit], look: Callable[[DocumentFilter], Looked[DocumentHit]]
) -> Explanation:
    from zapomni.services.explaining import explain_documents  # few ask why

    return explain_documents(looked, query, lambda where: [hit.source.scope for hit in look(where).hits])


def _barred(documents: Documents, where: DocumentFilter) -> Barred | None:
    from zapomni.services.explaining import barring  # few see nothing

    return barring(where, documents.visible)


def chunk_texts(chunk: WaitingChunk, size: int) -> list[str]:
    """Return the texts whose vectors stand for a chunk: its heading with each piece of its text."""
    return headed_pieces(chunk.heading, chunk.text, size)
