"""Answering a question from the memory: by words and by meaning, inside the scopes that may be seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from zapomni.errors import InvalidInput, Unavailable
from zapomni.model import QUERY_LIMIT, RECALL_LIMIT, Mode, Query, Recollection
from zapomni.search.pack import pack
from zapomni.search.retrieve import retrieve
from zapomni.services.embedding import Asked
from zapomni.text.clean import clean, is_blank

if TYPE_CHECKING:
    from zapomni.services.context import Context
    from zapomni.services.embedding import Embedding


UNSEEN: Final = "nothing in the question can be seen"


def recall(context: Context, embedding: Embedding, query: Query) -> Recollection:
    """Return the memories that answer a question, best first, and say how they were looked for.

    Without vectors the words answer alone: `mode` is then lexical and `reason` says why; `strict` (or mode
    semantic) makes that an error. An unrelated question returns nothing, and so does one of invisible marks
    alone, which no model is asked about. Raises `InvalidInput` for a blank or too long question,
    `Unavailable` when `strict` cannot be kept.
    """
    query = _checked(query)
    if is_blank(query.text):
        scopes, waiting = query.where.scopes, embedding.backlog().waiting
        return Recollection(hits=(), mode=Mode.LEXICAL, scopes=scopes, reason=UNSEEN, waiting=waiting)
    asked = Asked() if query.mode is Mode.LEXICAL else embedding.ask(query.text)
    mode = query.mode
    if query.mode is not Mode.LEXICAL and asked.vector is None:
        if query.strict or query.mode is Mode.SEMANTIC:
            raise Unavailable(
                f"semantic search is not available: {asked.reason}", remedy="Ask without `strict` to search by words"
            )
        mode = Mode.LEXICAL
    hits = retrieve(context.store, replace(query, mode=mode), asked.space, asked.vector)
    kept, left_out = pack(hits, query.budget)
    context.touches.add((hit.memory.id for hit in kept), context.clock())
    return Recollection(
        hits=tuple(kept),
        mode=mode,
        scopes=query.where.scopes,
        reason=_reason(embedding, query, asked),
        waiting=embedding.backlog().waiting,
        left_out=tuple(hit.memory.id for hit in left_out),
    )


def _checked(query: Query) -> Query:
    text, _ = clean(query.text)
    if not text.strip():
        raise InvalidInput("query", "it is blank", remedy="Ask something, or use `list` to see what there is")
    if len(text) > QUERY_LIMIT:
        raise InvalidInput("query", f"{len(text):,} characters, at most {QUERY_LIMIT:,} are allowed")
    if not 1 <= query.limit <= RECALL_LIMIT:
        raise InvalidInput("limit", f"{query.limit} is not from 1 to {RECALL_LIMIT}", remedy="Use `list` for more")
    if query.budget is not None and query.budget < 1:
        raise InvalidInput("budget", f"{query.budget} is not a number of tokens from 1 up")
    return replace(query, text=text)


def _reason(embedding: Embedding, query: Query, asked: Asked) -> str | None:
    """Say why this is not the whole answer that was asked for, or nothing when it is."""
    if query.mode is Mode.LEXICAL:
        return None
    if asked.space is None:
        return asked.reason
    target = embedding.target()
    if target is None or target.no != asked.space.no:
        return f"still searching by {asked.space.label} while the new model's vectors are built"
    return None
