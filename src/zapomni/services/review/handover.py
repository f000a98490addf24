"""Handing lessons over: each agent is told the rules that others raised, and what became of those it raised itself.

A lesson is told until its reader acknowledges it. A reader is an agent's scope; who has no name reads for the scope
that its writes go to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from zapomni.errors import Ambiguous, NotFound
from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.record import parse_scope
from zapomni.services.find import everything_in, given_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from zapomni.model import Memory, Scope
    from zapomni.model.proposal import Proposal
    from zapomni.services.context import Context

_MOST = 10_000


class Lesson(Struct, frozen=True, kw_only=True):
    """A rule that is handed over, or the answer to a lesson that was raised in vain.

    `id` is what is acknowledged: that of the rule, or of the rejected proposal. `memory` is the rule, or the memory
    that was raised; None where that is gone. `rejected` says why, and is empty for a rule.
    """

    id: str
    scope: Scope
    raised_from: Scope
    at: datetime
    memory: Memory | None
    rejected: str = ""


def lessons_for(context: Context, agent: Scope | None, scopes: Sequence[Scope]) -> list[Lesson]:
    """Return what an agent has not acknowledged yet: rules of the scopes that it sees, then answers to its own.

    Rules that it raised itself are none for it.
    """
    reader = agent or context.place.write
    return [*_rules(context, reader, scopes), *_answers(context, reader)]


def acknowledge(context: Context, ids: Iterable[str], agent: Scope | None) -> tuple[str, ...]:
    """Keep that an agent has taken note of lessons; unique beginnings of their ids are enough.

    What it acknowledged before is passed over. Raises `NotFound` for an id of no lesson of this agent, `Ambiguous` for
    one that fits several; nothing is kept then.
    """
    reader = agent or context.place.write
    waiting = [one.id for one in lessons_for(context, reader, context.store.scopes())]
    found = [_meant(context, reader, given_id(short), waiting) for short in ids]
    wanted = tuple(dict.fromkeys(one for one in found if one is not None))
    if wanted:
        with context.store.write() as tx:
            tx.lessons.acknowledge(reader, wanted, context.clock())
    return wanted


def _rules(context: Context, reader: Scope, scopes: Sequence[Scope]) -> list[Lesson]:
    rules = {rule.memory_id: rule for rule in context.store.lessons.rules(scopes, reader)}
    memories = context.store.get(list(rules), everything_in(scopes))
    return [
        Lesson(
            id=memory.id,
            scope=memory.scope,
            raised_from=rules[memory.id].raised_from,
            at=rules[memory.id].at,
            memory=memory,
        )
        for memory in memories
    ]


def _answers(context: Context, reader: Scope) -> list[Lesson]:
    inbox = context.store.proposals
    rejected = inbox.listed(
        context.store.scopes(), states=[ProposalState.REJECTED], kinds=[ProposalKind.PROMOTE], limit=_MOST
    )
    mine = [one for one in rejected if one.detail["from"] == str(reader)]
    known = context.store.lessons.acknowledged(reader, [one.id for one in mine])
    return [_answer(context, one) for one in mine if one.id not in known]


def _answer(context: Context, proposal: Proposal) -> Lesson:
    raised_from = parse_scope(str(proposal.detail["from"]))
    memories = context.store.get(proposal.memories, everything_in([raised_from]))
    return Lesson(
        id=proposal.id,
        scope=proposal.scope,
        raised_from=raised_from,
        at=proposal.decided_at or proposal.created_at,
        memory=memories[0] if memories else None,
        rejected=proposal.answer,
    )


def _meant(context: Context, reader: Scope, prefix: str, waiting: Sequence[str]) -> str | None:
    """Return the waiting lesson of an id, None for one that was acknowledged before."""
    fits = [one for one in waiting if one.startswith(prefix)]
    if prefix in fits or len(fits) == 1:
        return prefix if prefix in fits else fits[0]
    if fits:
        raise Ambiguous(prefix, tuple(fits), "lessons")
    before = context.store.lessons.acknowledged_from(reader, prefix)
    if len(before) > 1:
        raise Ambiguous(prefix, tuple(before), "lessons")
    if before:
        return None
    raise NotFound(f"no lesson {prefix!r} waits for {reader}", remedy="`zapomni lessons` lists those that do")
