"""Raising a lesson: a memory of one agent becomes, after a review, a rule of a wider scope.

Nothing is copied before a person says so. The rule is a memory of its own with a link to the one that it was raised
from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import Conflict, InvalidInput, Refused
from zapomni.model import Draft, Link, LinkKind, ScopeKind, Trust, Verb
from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.record import parse_scope
from zapomni.services.find import find_one
from zapomni.services.remember import admit, entry_of
from zapomni.services.review.inbox import living, propose
from zapomni.store.lessons import Rule
from zapomni.text.clean import preview
from zapomni.text.fold import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Actor, Memory, Scope
    from zapomni.model.proposal import Proposal
    from zapomni.services.context import Context
    from zapomni.services.review.inbox import Decision
    from zapomni.store.base import Tx

_SHOWN: Final = 120
_WIDER: Final = (ScopeKind.USER, ScopeKind.TEAM)
_KEPT: Final = tuple(name for name in Draft.__struct_fields__ if name not in {"scope", "key", "position", "pinned"})
"""What a rule takes over; an idempotency key and a place in a conversation belong to the one it was raised from."""


class Wish(Struct, frozen=True, kw_only=True):
    """Where a lesson should go, why, and whether it should be pinned there."""

    to: Scope
    why: str = ""
    pinned: bool = False


def promote(context: Context, short: str, wish: Wish, *, scopes: Sequence[Scope], actor: Actor) -> Proposal:
    """Propose that a memory become a rule of a team or of the user, and return the proposal.

    Raises `NotFound`, `InvalidInput` for a scope that is no wider one, and `Refused` when the same was proposed before.
    """
    memory = find_one(context, short, scopes)
    if wish.to.kind not in _WIDER:
        raise InvalidInput("to", f"{wish.to} is no wider scope", remedy="Raise it to user or to team:NAME")
    if memory.scope == wish.to or memory.scope.kind is ScopeKind.USER:
        raise InvalidInput("to", f"memory {memory.id} belongs to {memory.scope}", remedy="There is nothing to raise")
    detail = {
        "from": str(memory.scope),
        "to": str(wish.to),
        "pinned": wish.pinned,
        "digest": digest(memory.content).hex(),
    }
    said = preview(memory.title or memory.content, _SHOWN)
    reason = f"{memory.scope} raises a lesson to {wish.to}: {said}" + (f" ({wish.why})" if wish.why.strip() else "")
    with context.store.write() as tx:
        proposal = propose(
            context,
            tx,
            ProposalKind.PROMOTE,
            scope=wish.to,
            memories=[memory.id],
            reason=reason,
            detail=detail,
            actor=actor,
        )
    if proposal is None:
        raise _known(context, memory, wish.to, detail)
    return proposal


def raise_lesson(context: Context, proposal: Proposal, decision: Decision) -> None:
    """Make the rule that was proposed, in the wider scope; what stands there already becomes the rule.

    Raises `Conflict` when the memory was changed since it was raised, `Refused` when its text was refused there.
    """
    (memory,) = living(decision.tx, proposal)
    detail, tx = proposal.detail, decision.tx
    if digest(memory.content).hex() != detail["digest"]:
        remedy = "Reject it, and have the lesson raised again as it is now"
        raise Conflict(f"memory {memory.id} was changed since it was raised", current=memory, remedy=remedy)
    rule = _rule(context, tx, memory, parse_scope(str(detail["to"])), decision, pinned=bool(detail["pinned"]))
    tx.link([Link(source=rule.id, target=memory.id, kind=LinkKind.DERIVED_FROM)])
    tx.lessons.add_rule(Rule(rule.id, parse_scope(str(detail["from"])), context.clock()))


def _rule(context: Context, tx: Tx, memory: Memory, scope: Scope, decision: Decision, *, pinned: bool) -> Memory:
    draft = Draft(**{name: getattr(memory, name) for name in _KEPT}, scope=scope, pinned=pinned)
    outcome = admit(context, tx, entry_of(context, draft, actor=decision.actor, run=decision.run))
    if outcome.memory is None:
        remedy = "Reject it, or undo the deletion that refused this text"
        raise Refused(f"the rule was not made: {'; '.join(outcome.warnings)}", remedy=remedy)
    rule = outcome.memory
    trusted = replace(rule, trust=Trust.CONFIRMED, pinned=rule.pinned or pinned)
    if trusted == rule:
        return rule
    after = replace(trusted, updated_at=context.clock(), version=rule.version + 1)
    tx.put(rule, after, verb=Verb.UPDATE, actor=decision.actor, at=after.updated_at, run=decision.run)
    return after


def _known(context: Context, memory: Memory, to: Scope, detail: dict[str, object]) -> Refused:
    """Say why the same is not proposed a second time."""
    states = (ProposalState.OPEN, ProposalState.REJECTED)
    found = context.store.proposals.listed([to], states=states, kinds=[ProposalKind.PROMOTE], limit=10_000)
    before = next((one for one in found if one.memories == (memory.id,) and one.detail == detail), None)
    if before is not None and before.state is ProposalState.REJECTED:
        problem = f"memory {memory.id} was raised to {to} before and rejected by {before.decided_by}: {before.answer}"
        return Refused(problem, remedy="Change the memory to what would be accepted, and raise it again")
    waits = f"it waits as proposal {before.id}" if before is not None else "it waits already"
    return Refused(f"memory {memory.id} is raised to {to}: {waits}", remedy="`zapomni inbox` shows it")
