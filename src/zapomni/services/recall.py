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
from zapomni.services.questions import WORDLESS, checked_question, is_wordless, mode_of, reason_for, unasked
from zapomni.services.scopes import EVERY, scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.model import Filter, Memory, Scope
    from zapomni.model.document import DocumentHit, Findings
    from zapomni.model.explanation import Barred, Explanation
    from zapomni.search.looked import Looked
    from zapomni.services.context import Context
    from zapomni.services.embedding import Embedding


def recall(
    context: Context, embedding: Embedding[Memory], query: Query, beside: Callable[[], Findings] | None = None
) -> Recollection:
    """Return the memories that answer a question, best first, and say how they were looked for.

    `beside` asks the documents too: both are scored alike, and the best of both share limit and budget.
    Without vectors the words answer alone: `mode` is then lexical and `reason` says why; `strict` (or mode
    semantic) makes that an error. An unrelated question returns nothing, and so does one without a letter or
    digit, which no model is asked about. Raises `InvalidInput` for a blank or too long question,
    `Unavailable` when `strict` cannot be kept.
    """
    query = _checked(query)
    if reason := unasked(query.text):
        scopes, waiting = query.where.scopes, embedding.backlog().waiting
        return Recollection(hits=(), mode=Mode.LEXICAL, scopes=scopes, reason=reason, waiting=waiting)
    asked = Asked() if query.mode is Mode.LEXICAL else embedding.ask(query.text)
    answering = replace(query, mode=mode_of(query.mode, asked, strict=query.strict))
    looked, lacking = _look(context, embedding, answering, asked)
    context.touches.asked(query.where.scopes, context.clock())
    found = beside() if beside is not None else None
    both: list[Hit | DocumentHit] = [*looked.hits, *(found.hits if found else ())]
    why = (_explained(context, embedding, answering, asked, looked),) if query.explain and not both else ()
    kept, left_out = pack(sorted(both, key=attrgetter("score"), reverse=True)[: query.limit], query.budget)
    memories = tuple(hit for hit in kept if isinstance(hit, Hit))
    context.touches.add((hit.memory.id for hit in memories), context.clock())
    missing = (_wordless(context, query, both) or reason_for(embedding, query.mode, asked)) if looked.visible else None
    own = Recollection(
        hits=memories,
        documents=tuple(hit for hit in kept if not isinstance(hit, Hit)),
        mode=answering.mode,
        scopes=query.where.scopes,
        reason=missing or lacking,
        waiting=embedding.backlog().waiting + (found.waiting if found else 0),
        left_out=tuple(hit.handle for hit in left_out),
        explanations=(*why, *(found.explanations if found else ())) if why else (),
        barred=None if both or looked.visible else _barred(context, query.where),
    )
    if found is None or looked.hits or not (found.hits or context.store.documents.sources()):
        return own
    return replace(own, mode=found.mode, reason=found.reason)


def _wordless(context: Context, query: Query, found: Sequence[object]) -> str | None:
    """Say that there was nothing to look for, where that is why nothing was found."""
    if found or query.mode is Mode.SEMANTIC or not is_wordless(query.text, context.clock()):
        return None
    return WORDLESS


def _barred(context: Context, where: Filter) -> Barred | None:
    from zapomni.services.explaining import barring  # few see nothing

    return barring(where, context.store.visible)


def _explained(
    context: Context, embedding: Embedding[Memory], query: Query, asked: Asked, looked: Looked[Hit]
) -> Explanation:
    from zapomni.services.explaining import explain_memories  # few ask why

    def found(where: Filter) -> list[Scope]:
        try:
            looked = _look(context, embedding, replace(query, where=where), asked)[0]
        except InvalidInput:  # by description, and more is seen under this filter than can be selected from
            return []
        return [hit.memory.scope for hit in looked.hits]

    return explain_memories(looked, query, scopes_to_read(context, (EVERY,)), found)


def _look(context: Context, embedding: Embedding[Memory], query: Query, asked: Asked) -> tuple[Looked[Hit], str | None]:
    """Return what was found, and what may be missing of it."""
    if query.by is By.TEXT:
        return retrieve(context.store, query, asked.space, asked.vector), None
    from zapomni.services.review.describing import select  # most questions look at all of a memory

    return select(context, embedding, query, asked)


def _checked(query: Query) -> Query:
    text = checked_question(query.text, query.limit)
    if query.budget is not None and query.budget < 1:
        raise InvalidInput("budget", f"{query.budget} is not a number of tokens from 1 up")
    return replace(query, text=text)
