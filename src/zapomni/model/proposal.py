"""What somebody proposes to change, and what a person says to it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from zapomni.model.memory import Scope


class ProposalKind(StrEnum):
    """What a proposal would do."""

    CONFLICT = "conflict"
    MERGE = "merge"
    PROMOTE = "promote"
    SHORTEN = "shorten"
    DESCRIBE = "describe"
    EXPIRE = "expire"


class ProposalState(StrEnum):
    """Where a proposal stands."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Proposal(Struct, frozen=True, kw_only=True):
    """One change that waits for a person, or that one has decided.

    `scope` is where it would take effect and `memories` are ids, the one that would change first in front.
    `reason` is one line for the person; `detail` holds as JSON values what accepting needs, under `choices` the
    words among which the person has to choose. `answer` is why it was decided so, `run` the run that carried it out.
    """

    id: str
    kind: ProposalKind
    scope: Scope
    memories: tuple[str, ...]
    reason: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime
    actor: str
    state: ProposalState = ProposalState.OPEN
    decided_at: datetime | None = None
    decided_by: str | None = None
    answer: str = ""
    run: str | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The words among which accepting has to choose; none where there is nothing to choose."""
        return tuple(self.detail.get("choices", ()))
