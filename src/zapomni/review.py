"""The review desk: what is proposed, raised, handed over and missed, and what a person says to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.model import PAGE_LIMIT
from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.services.scopes import scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zapomni.llm.base import Llm
    from zapomni.model import Actor, Memory, Scope
    from zapomni.model.miss import Miss
    from zapomni.model.proposal import Proposal
    from zapomni.services.context import Context
    from zapomni.services.embedding import Embedding
    from zapomni.services.review.handover import Lesson
    from zapomni.services.review.inbox import Action, Decision
    from zapomni.services.review.misses import Alarm, Missed

LISTED: Final = 100
"""Proposals, or misses, of one listing when nobody says otherwise."""


def _actions() -> Mapping[ProposalKind, Action]:
    """Return who carries out what: each kind of proposal with the module of its verb."""
    from zapomni.services.review.expire import expire
    from zapomni.services.review.misses import describe
    from zapomni.services.review.promote import raise_lesson
    from zapomni.services.vault.compact import merge, shorten

    return {
        ProposalKind.CONFLICT: _settle,
        ProposalKind.PROMOTE: raise_lesson,
        ProposalKind.DESCRIBE: describe,
        ProposalKind.EXPIRE: expire,
        ProposalKind.SHORTEN: shorten,
        ProposalKind.MERGE: merge,
    }


def _settle(context: Context, proposal: Proposal, decision: Decision) -> None:
    """Settle what two sides changed: a branch and the main line, or a file and its memory."""
    from zapomni.services.branching import merge
    from zapomni.services.mirror import conflicts as mirror_conflicts

    settle = merge.settle if "branch" in proposal.detail else mirror_conflicts.settle
    settle(context, proposal, decision)


class ReviewDesk:
    """The review desk of one memory, as `Zapomni.review` gives it; safe to use from many threads.

    Every method raises only `zapomni.errors.ZapomniError`.
    """

    def __init__(
        self, context: Context, embedding: Embedding[Memory], llm: Callable[[], Llm | None], *, actor: Actor
    ) -> None:
        self._context = context
        self._embedding = embedding
        self._llm = llm
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
        from zapomni.services.parse import parse_choice, parse_whole
        from zapomni.services.review.inbox import proposals

        wanted = [parse_choice("kind", kind, ProposalKind, ProposalKind.MERGE) for kind in kinds]
        named = [parse_choice("state", state, ProposalState, ProposalState.OPEN) for state in states]
        most = parse_whole("limit", limit, LISTED, low=1, high=PAGE_LIMIT)
        return proposals(
            self._context, self._scopes(scopes), states=named or [ProposalState.OPEN], kinds=wanted, limit=most
        )

    def proposal(self, proposal_id: str, *, scopes: Sequence[str] = ()) -> Proposal:
        """Return one proposal; a unique beginning of its id is enough, here and below."""
        from zapomni.services.review.inbox import find_proposal

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
        from zapomni.services.review.inbox import accept

        found = self.proposal(proposal_id, scopes=scopes)
        return accept(self._context, found.id, actor=actor or self._actor, choice=choice, actions=_actions())

    def reject(self, proposal_id: str, *, why: str, scopes: Sequence[str] = (), actor: Actor | None = None) -> Proposal:
        """Refuse a proposal for good; whoever made it is told why."""
        from zapomni.services.review.inbox import reject

        found = self.proposal(proposal_id, scopes=scopes)
        return reject(self._context, found.id, actor=actor or self._actor, why=why)

    # --- lessons ------------------------------------------------------------------------------------------
    def promote(
        self,
        memory_id: str,
        *,
        to: str,
        why: str = "",
        pinned: bool = False,
        scopes: Sequence[str] = (),
        actor: Actor | None = None,
    ) -> Proposal:
        """Propose that a memory become a rule of a team or of the user; a person decides it in the inbox."""
        from zapomni.record import parse_scope
        from zapomni.services.review.promote import Wish, promote

        wish = Wish(to=parse_scope(to), why=why, pinned=pinned)
        return promote(self._context, memory_id, wish, scopes=self._scopes(scopes), actor=actor or self._actor)

    def lessons(self, *, agent: str | None = None, scopes: Sequence[str] = ()) -> list[Lesson]:
        """Return what an agent has not acknowledged yet: rules that others raised, and answers to its own.

        `agent` is a name; None is the agent of the settings, and without one whoever writes to the scope of the place.
        """
        from zapomni.services.review.handover import lessons_for

        reader = self._reader(agent)
        return lessons_for(self._context, reader, self._scopes(scopes))

    def acknowledge(self, ids: Sequence[str], *, agent: str | None = None) -> tuple[str, ...]:
        """Keep that an agent has taken note of lessons; they are not handed to it again."""
        from zapomni.services.review.handover import acknowledge

        return acknowledge(self._context, ids, self._reader(agent))

    def _reader(self, agent: str | None) -> Scope | None:
        from zapomni.record import parse_scope

        return self._context.place.agent if agent is None else parse_scope(f"agent:{agent}")

    # --- misses -------------------------------------------------------------------------------------------
    def miss(self, question: str, *, expected: str, scopes: Sequence[str] = (), actor: Actor | None = None) -> Missed:
        """Keep that a question did not find a memory, and propose a better description."""
        from zapomni.services.review.misses import report_miss

        seen, who = self._scopes(scopes), actor or self._actor
        return report_miss(self._context, self._embedding, self._llm, question, expected, scopes=seen, actor=who)

    def misses(self, *, scopes: Sequence[str] = (), limit: int | None = None) -> list[Miss]:
        """Return the latest misses, newest first, at most `limit` (100)."""
        from zapomni.services.parse import parse_whole
        from zapomni.services.review.misses import misses

        most = parse_whole("limit", limit, LISTED, low=1, high=PAGE_LIMIT)
        return misses(self._context, self._scopes(scopes), limit=most)

    def alarms(self, *, scopes: Sequence[str] = ()) -> list[Alarm]:
        """Say of each scope whether it holds too many memories to choose from and questions miss more than before."""
        from zapomni.services.review.misses import alarm

        self._context.touches.flush()
        return alarm(self._context, self._scopes(scopes))

    def _scopes(self, asked: Sequence[str]) -> tuple[Scope, ...]:
        return scopes_to_read(self._context, asked)
