"""The review inbox: what is proposed waits for a person, who accepts or rejects it.

Whoever would change or merge what others wrote proposes it and changes nothing. Accepting carries the change out in
one transaction and one run, so that a change which fails leaves the proposal open and the memories as they were, and
`undo --run` takes back all of it and opens the proposal again. What was rejected is not proposed a second time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zapomni.errors import Ambiguous, Conflict, InvalidInput, NotFound, Refused
from zapomni.model import DESCRIPTION_LIMIT, Run
from zapomni.model.proposal import Proposal, ProposalKind, ProposalState
from zapomni.services.context import Place
from zapomni.services.find import given_id
from zapomni.services.scopes import named
from zapomni.text.clean import is_blank, preview
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Actor, Memory, Scope
    from zapomni.services.context import Context
    from zapomni.store.base import Tx

_MARK: Final = 16
"""Bytes of the digest by which the same proposal is known again."""
STOOD: Final = "stood"
"""What of a detail is how things stood, by which undoing is told; it makes no other proposal."""


class Decision(Struct, frozen=True, kw_only=True):
    """A person's yes: who says it, the run and the transaction that carry it out, and the word that was chosen."""

    actor: Actor
    run: str
    tx: Tx
    choice: str | None = None


Action = Callable[["Context", Proposal, Decision], None]
"""Carries out what was proposed, by `Decision.tx` and as part of `Decision.run`; raises what keeps it from it."""


def propose(
    context: Context,
    tx: Tx,
    kind: ProposalKind,
    *,
    scope: Scope,
    memories: Sequence[str],
    reason: str,
    detail: Mapping[str, Any],
    actor: Actor,
) -> Proposal | None:
    """File a proposal in an open transaction; None when the same is open already or was rejected before.

    The same is what has the same kind, memories and detail. Secrets are cut out of `reason`; `detail` is kept as it
    is given.
    """
    proposal = Proposal(
        id=context.new_id(),
        kind=kind,
        scope=scope,
        memories=tuple(memories),
        reason=_line(reason),
        detail=dict(detail),
        created_at=context.clock(),
        actor=actor.name,
    )
    return proposal if tx.proposals.file(proposal, _mark(proposal)) else None


def proposals(
    context: Context,
    scopes: Sequence[Scope],
    *,
    states: Sequence[ProposalState] = (ProposalState.OPEN,),
    kinds: Sequence[ProposalKind] = (),
    limit: int = 100,
) -> list[Proposal]:
    """Return the proposals of some scopes, oldest first; no kinds are every kind."""
    return context.store.proposals.listed(scopes, states=states, kinds=kinds, limit=limit)


def find_proposal(context: Context, short: str, scopes: Sequence[Scope]) -> Proposal:
    """Return the proposal whose id begins with `short`; raises `NotFound`, or `Ambiguous` with those that fit."""
    prefix = given_id(short)
    matches = context.store.proposals.match_id(prefix, scopes)
    if len(matches) > 1:
        raise Ambiguous(prefix, tuple(matches), "proposals")
    found = context.store.proposals.get(matches[0]) if matches else None
    if found is None:
        seen = ", ".join(str(scope) for scope in scopes)
        raise NotFound(f"no proposal {prefix!r} in {seen}", remedy="`zapomni inbox` lists those that wait")
    return found


def accept(
    context: Context,
    proposal_id: str,
    *,
    actor: Actor,
    choice: str | None = None,
    actions: Mapping[ProposalKind, Action],
) -> Proposal:
    """Carry out an open proposal and return it as it then stands, with the run that undoes it.

    Raises `Conflict` for one that is decided already, `InvalidInput` for a choice that it does not offer, and what
    its action raises: it stays open then and nothing is changed.
    """
    proposal = _open(context, proposal_id)
    _check_choice(proposal, choice)
    action = actions.get(proposal.kind)
    if action is None:
        problem = f"nothing here can carry out a proposal of kind {proposal.kind.value}"
        raise Refused(problem, remedy="Change the memories by hand and reject it")
    run, now = context.new_id(), context.clock()
    with context.store.write() as tx:
        tx.start_run(Run(id=run, verb=f"accept {proposal.kind.value}", actor=actor.name, started_at=now))
        if not tx.proposals.decide(
            proposal.id, ProposalState.ACCEPTED, at=now, by=actor.name, answer=choice or "", run=run
        ):
            raise _decided(proposal)
        action(context, proposal, Decision(actor=actor, run=run, tx=tx, choice=choice))
        tx.finish_run(run, context.clock(), {"proposal": proposal.id, "scope": str(proposal.scope)})
    return _current(context, proposal)


def reject(context: Context, proposal_id: str, *, actor: Actor, why: str) -> Proposal:
    """Refuse an open proposal for good and return it as it then stands; the reason is kept for who made it.

    Raises `Conflict` for one that is decided already and `InvalidInput` for no reason.
    """
    if is_blank(why):
        raise InvalidInput("why", "it is blank", remedy="Say why in a few words: whoever proposed it reads them")
    proposal = _open(context, proposal_id)
    with context.store.write() as tx:
        if not tx.proposals.decide(
            proposal.id, ProposalState.REJECTED, at=context.clock(), by=actor.name, answer=_line(why)
        ):
            raise _decided(proposal)
    return _current(context, proposal)


def living(tx: Tx, proposal: Proposal) -> list[Memory]:
    """Return the memories of a proposal as a transaction sees them; raises `NotFound` when one of them is gone."""
    found = [tx.get(memory_id) for memory_id in proposal.memories]
    there = [memory for memory in found if memory is not None]
    deleted = [memory for memory in there if memory.deleted_at is not None]
    standing = {memory.id for memory in there if memory.deleted_at is None}
    gone = [memory_id for memory_id in proposal.memories if memory_id not in standing]
    if gone:
        ways = " and ".join(f"by `zapomni undo {memory.id}{named(Place(), memory.scope)}`" for memory in deleted)
        back = f", or bring {'it' if len(deleted) == 1 else 'them'} back {ways}" if len(deleted) == len(gone) else ""
        told = f"nothing was changed: memory {', '.join(gone)} is there no more"
        raise NotFound(told, remedy=f"Reject the proposal{back}")
    return there


def _open(context: Context, proposal_id: str) -> Proposal:
    proposal = context.store.proposals.get(proposal_id)
    if proposal is None:
        raise NotFound(f"no proposal {proposal_id!r}", remedy="`zapomni inbox` lists those that wait")
    if proposal.state is not ProposalState.OPEN:
        raise _decided(proposal)
    return proposal


def _decided(proposal: Proposal) -> Conflict:
    remedy = f"`zapomni inbox show {proposal.id}` says by whom"
    if proposal.run is not None:
        remedy = f"`zapomni undo --run {proposal.run}` takes it back and opens it again"
    return Conflict(f"proposal {proposal.id} is decided already", remedy=remedy)


def _current(context: Context, proposal: Proposal) -> Proposal:
    return context.store.proposals.get(proposal.id) or proposal


def _check_choice(proposal: Proposal, choice: str | None) -> None:
    allowed = proposal.choices
    if choice is None and allowed:
        raise InvalidInput("choice", "it is missing", remedy=f"Say which: {', '.join(allowed)}")
    if choice is not None and choice not in allowed:
        hint = f"It offers {', '.join(allowed)}" if allowed else "It offers no choice: leave it out"
        raise InvalidInput("choice", f"{choice!r} is none of this proposal", remedy=hint)


def _mark(proposal: Proposal) -> bytes:
    detail = {name: value for name, value in proposal.detail.items() if name != STOOD}
    told = [proposal.kind.value, list(proposal.memories), detail]
    text = json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("utf-8", "replace"), digest_size=_MARK).digest()


def _line(text: str) -> str:
    return redact(preview(text, DESCRIPTION_LIMIT))[0]
