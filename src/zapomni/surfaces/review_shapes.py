"""The JSON shapes of the review desk; see `shapes` for what every shape keeps to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.record import stamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model.proposal import Proposal


def proposals_shape(found: Sequence[Proposal]) -> dict[str, Any]:
    """Return what is proposed, oldest first."""
    return {"count": len(found), "proposals": [proposal_shape(one) for one in found]}


def proposal_shape(proposal: Proposal) -> dict[str, Any]:
    """Return one proposal; `run` is the run that carried it out."""
    return {
        "id": proposal.id,
        "kind": proposal.kind.value,
        "state": proposal.state.value,
        "scope": str(proposal.scope),
        "memories": list(proposal.memories),
        "reason": proposal.reason,
        "detail": dict(proposal.detail),
        "choices": list(proposal.choices),
        "created_at": stamp(proposal.created_at),
        "actor": proposal.actor,
        "decided_at": stamp(proposal.decided_at) if proposal.decided_at else None,
        "decided_by": proposal.decided_by,
        "answer": proposal.answer,
        "run": proposal.run,
    }
