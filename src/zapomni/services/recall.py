"""Answering a question from the memory: by words and by meaning, inside the scopes that may be seen."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from zapomni.errors import InvalidInput
from zapomni.model import By, Hit, Mode, Query, Recollection
from zapomni.search.pack import pack
from zapomni.search.retrieve import retrieve
from zapomni.services.embedding import Asked
from zapomni.services.questions import UNSEEN, WORDLESS, checked_question, is_wordless, mode_of, reason_for
from zapomni.text.clean import is_blank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.model import Memory
    from zapomni.model.document import DocumentHit, Findings
    from zapomni.services.context import Context
    from zapomni.services.embedding import Embedding


def recall(
    context: Context, embedding: Embedding[Memory], query: Query, beside: Callable[[], Findings] | None = None
) -> Recollection:
    """Return the memories that answer a question, best first, and say how they were looked for.

    `beside` asks the documents too: both are scored alike, and the best of both share limit and budget.
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
    mode = mode_of(query.mode, asked, strict=query.strict)
    hits, lacking = _hits(context, embedding, replace(query, mode=mode), asked)
    context.touches.asked(query.where.scopes, context.clock())
    found = beside() if beside is not None else None
    both: list[Hit | DocumentHit] = [*hits, *(found.hits if found else ())]
    best = sorted(both, key=attrgetter("score"), reverse=True)[: query.limit]
    kept, left_out = pack(best, query.budget)
    memories = tuple(hit for hit in kept if isinstance(hit, Hit))
    context.touches.add((hit.memory.id for hit in memories), context.clock())
    own = Recollection(
        hits=memories,
        documents=tuple(hit for hit in kept if not isinstance(hit, Hit)),
        mode=mode,
        scopes=query.where.scopes,
        reason=_wordless(context, query, both) or reason_for(embedding, query.mode, asked) or lacking,
        waiting=embedding.backlog().waiting + (found.waiting if found else 0),
        left_out=tuple(hit.handle for hit in left_out),
    )
    asked_docs = found is not None and (found.hits or context.store.documents.sources())
    return replace(own, mode=found.mode, reason=found.reason) if found is not None and asked_docs and not hits else own


def _wordless(context: Context, query: Query, found: Sequence[object]) -> str | None:
    """Say that there was nothing to look for, where that is why nothing was found."""
    if found or query.mode is Mode.SEMANTIC or not is_wordless(query.text, context.clock()):
        return None
    return WORDLESS


def _hits(context: Context, embedding: Embedding[Memory], query: Query, asked: Asked) -> tuple[list[Hit], str | None]:
    """Return the hits, and what may be missing among them."""
    if query.by is By.TEXT:
        return retrieve(context.store, query, asked.space, asked.vector), None
    from zapomni.services.review.describing import select  # most questions look at all of a memory

    return select(context, embedding, query, asked)


def _checked(query: Query) -> Query:
    text = checked_question(query.text, query.limit)
    if query.budget is not None and query.budget < 1:
        raise InvalidInput("budget", f"{query.budget} is not a number of tokens from 1 up")
    return replace(query, text=text)
