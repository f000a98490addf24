"""The review desk: what is proposed and what a person says to it, every verb as one method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.model import PAGE_LIMIT
from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.services.scopes import scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Actor, Scope
    from zapomni.model.proposal import Proposal
    from zapomni.services.context import Context
    from zapomni.services.inbox import Action, Decision

LISTED: Final = 100
"""Proposals of one listing when nobody says otherwise."""


def _actions() -> Mapping[ProposalKind, Action]:
    """Return who carries out what: each kind of proposal with the module of its verb."""
    from zapomni.services.expire import expire

    return {ProposalKind.EXPIRE: expire, ProposalKind.CONFLICT: _settle}


def _settle(context: Context, proposal: Proposal, decision: Decision) -> None:
    """Settle what two sides changed: a branch and the main line, or a file and its memory."""
    from zapomni.services import merge, mirror_conflicts

    settle = merge.settle if "branch" in proposal.detail else mirror_conflicts.settle
    settle(context, proposal, decision)


class ReviewDesk:
    """The review desk of one memory, as `Zapomni.review` gives it; safe to use from many threads.

    Every method raises only `zapomni.errors.ZapomniError`.
    """

    def __init__(self, context: Context, *, actor: Actor) -> None:
        self._context = context
        self._actor = actor

    # --- the inbox ----------------------------------------------------------------------------------------
    def proposals(
        self,
        *,
        scopes: Sequence[str] = (),
        kinds: Sequence[ProposalKind | str] = (),
        states: Sequence[ProposalState | str] = (),
        limit: int | None = None,
    ) -> list[Proposal]:
        """Return what is proposed in some scopes, oldest first, at most `limit` (100); no states are the open ones."""
        from zapomni.services.inbox import proposals
        from zapomni.services.parse import parse_choice, parse_whole

        wanted = [parse_choice("kind", kind, ProposalKind, ProposalKind.MERGE) for kind in kinds]
        in_states = [parse_choice("state", state, ProposalState, ProposalState.OPEN) for state in states]
        most = parse_whole("limit", limit, LISTED, low=1, high=PAGE_LIMIT)
        states_seen = in_states or [ProposalState.OPEN]
        return proposals(self._context, self._scopes(scopes), states=states_seen, kinds=wanted, limit=most)

    def proposal(self, proposal_id: str, *, scopes: Sequence[str] = ()) -> Proposal:
        """Return one proposal; a unique beginning of its id is enough, here and below."""
        from zapomni.services.inbox import find_proposal

        return find_proposal(self._context, proposal_id, self._scopes(scopes))

    def accept(
        self,
        proposal_id: str,
        *,
        choice: str | None = None,
        scopes: Sequence[str] = (),
        actor: Actor | None = None,
    ) -> Proposal:
        """Carry out a proposal as one run, which `undo_run` takes back; one that fails stays open."""
        from zapomni.services.inbox import accept

        found = self.proposal(proposal_id, scopes=scopes)
        return accept(self._context, found.id, actor=actor or self._actor, choice=choice, actions=_actions())

    def reject(self, proposal_id: str, *, why: str, scopes: Sequence[str] = (), actor: Actor | None = None) -> Proposal:
        """Refuse a proposal for good; whoever made it is told why."""
        from zapomni.services.inbox import reject

        found = self.proposal(proposal_id, scopes=scopes)
        return reject(self._context, found.id, actor=actor or self._actor, why=why)

    def _scopes(self, asked: Sequence[str]) -> tuple[Scope, ...]:
        return scopes_to_read(self._context, asked)
