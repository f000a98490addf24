"""What a store must do for the review inbox: proposals, and what a person said to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from zapomni.model import Scope
    from zapomni.model.proposal import Proposal, ProposalKind, ProposalState


class ProposalWrites(Protocol):
    """The writes of the inbox inside an open transaction (`Tx.proposals`)."""

    def file(self, proposal: Proposal, mark: bytes) -> bool:
        """Keep a new proposal; False when one of this mark is open, or was rejected, and nothing is kept."""

    def decide(
        self, proposal_id: str, state: ProposalState, *, at: datetime, by: str, answer: str, run: str | None = None
    ) -> bool:
        """Say what became of an open proposal; False when it is not open any more, and nothing changes."""

    def reopen(self, run: str) -> None:
        """Let what was accepted in a run wait again, but for what was filed anew since."""


class Proposals(Protocol):
    """The proposals of one store; methods may be called from any thread. Raises what `Store` raises."""

    def get(self, proposal_id: str) -> Proposal | None:
        """Return one proposal."""

    def match_id(self, prefix: str, scopes: Sequence[Scope], limit: int = 10) -> list[str]:
        """Return the ids of these scopes that begin with `prefix`; an exact id alone when there is one."""

    def listed(
        self,
        scopes: Sequence[Scope],
        *,
        states: Sequence[ProposalState],
        kinds: Sequence[ProposalKind] = (),
        limit: int,
    ) -> list[Proposal]:
        """Return proposals of some scopes, oldest first; no kinds are every kind."""
