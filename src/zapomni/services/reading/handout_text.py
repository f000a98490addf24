"""Handing a text that waits to an agent that reads it in the place of a model: no key and no tokens of ours.

A batch is one text, or the first piece of a long one; what is left of it waits as texts of its own. Like every batch it
is a run from the moment it is handed out and no lock: whoever gives facts first has read it, and the other one is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from zapomni.errors import NotFound, Refused
from zapomni.llm.replies import misfit
from zapomni.model import Draft
from zapomni.services.find import everything_in
from zapomni.services.reading.enrich import VERB, replace_text
from zapomni.services.reading.facts import SCHEMA, Extracted, Fact, Piece, facts_of
from zapomni.services.reading.handout import Handout, begun, checked_reason, handed_out
from zapomni.services.reading.retire import ingest_actor
from zapomni.text.quotes import places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Actor, Memory, Outcome, Scope
    from zapomni.services.context import Context
    from zapomni.services.reading.facts import Terms

PIECE: Final = 10_000
"""Most characters that an agent is handed: in two copies and two bytes each they fit one answer of the protocol."""
_COUNTED: Final = 1_000
"""Most texts that are counted as waiting."""
_NAMED: Final = 8
"""Facts that a refusal names."""


class TextRead(NamedTuple):
    """What reading a text came to: a memory for each fact, none where it stays; `notes` tell what was left out."""

    outcomes: tuple[Outcome, ...] = ()
    notes: tuple[str, ...] = ()


def next_text(context: Context, scopes: Sequence[Scope], *, actor: Actor, terms: Terms) -> Handout | None:
    """Return the oldest text that waits in the first scope that has one, as a batch of one; None where none does."""
    size = min(terms.piece, PIECE)
    for scope in scopes:
        waiting = context.store.readings.unread(scope, _COUNTED)
        if waiting:
            batch = begun(context, VERB, scope, waiting[:1], actor, piece=size)
            return Handout(
                batch, scope, (replace(waiting[0], content=_pieces(waiting[0], size)[0].text),), len(waiting)
            )
    return None


def is_text(context: Context, batch_id: str) -> bool:
    """Tell whether a batch is a text to be read, and not memories to be looked at together."""
    found = context.store.run(batch_id.strip())
    return found is not None and found[0].verb == VERB


def save_facts(
    context: Context,
    batch_id: str,
    facts: Sequence[Mapping[str, Any]],
    *,
    scopes: Sequence[Scope],
    actor: Actor,
    terms: Terms,
    reason: str = "",
) -> TextRead:
    """Put facts in the place of the text of a batch, each held against it as a model's are; without any, a `reason`.

    With a reason the text stays as it is and waits no more. Raises `NotFound` for no batch of these scopes,
    `InvalidInput` for neither facts nor a reason, and `Refused` where no fact can be kept (the text waits on) and for a
    text that was read or changed since.
    """
    run, scope = handed_out(context, batch_id, VERB, scopes)
    memory = _text_of(context, run.detail["versions"], scope)
    piece, *rest = _pieces(memory, run.detail["piece"])
    told = "" if facts else checked_reason(reason, "there are neither facts nor a reason")
    found, notes = _checked(facts, piece, terms) if facts else (_as_it_is(piece) if rest else [], [])
    read = Extracted(facts=tuple(found), failed=tuple(one.place for one in rest), parts=1 + len(rest))
    outcomes = replace_text(context, memory, read, actor=ingest_actor(actor), run=run.id, begun=True)
    if found and not outcomes:
        raise Refused("the text was changed since it was handed out, and stays as it is", remedy="Take the next batch")
    if not outcomes:
        with context.store.write() as tx:
            tx.finish_run(run.id, context.clock(), {**run.detail, "reason": told})
    return TextRead(outcomes[: len(outcomes) - len(rest)] if facts else (), tuple(notes))


def _text_of(context: Context, versions: Mapping[str, int], scope: Scope) -> Memory:
    for memory in context.store.get(list(versions), everything_in([scope])):
        return memory
    raise NotFound("the text of this batch waits no more", remedy="Ask next_batch for another one")


def _pieces(memory: Memory, size: int) -> list[Piece]:
    at = memory.observed_at or memory.created_at
    text = memory.content
    return [Piece(text[one.start : one.end], one, memory.source or "", at) for one in places(text, size)]


def _checked(facts: Sequence[Mapping[str, Any]], piece: Piece, terms: Terms) -> tuple[list[Fact], list[str]]:
    """Return the facts that can be kept, and why others cannot; raises `Refused` where none can."""
    problems = [misfit({"facts": [one]}, SCHEMA) for one in facts]
    fitting = [one for one, problem in zip(facts, problems, strict=True) if not problem]
    found, notes = facts_of({"facts": fitting}, piece, terms.zone)
    notes = [*(f"a fact was left out, for it {problem}" for problem in problems if problem), *notes]
    if not found:
        raise Refused(
            f"no fact was saved, and the text waits on: {'; '.join(notes[:_NAMED])}",
            remedy="Give facts that the text says, in its language, or a reason why there are none",
        )
    return found, notes


def _as_it_is(piece: Piece) -> list[Fact]:
    """Return a piece in which nothing was found as it stands, for its text has others behind it that still wait."""
    return [Fact(Draft(content=piece.text, source=piece.source), piece.place)]
