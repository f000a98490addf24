"""A branch of the memory: a name under which changes are kept apart until they are merged or dropped."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from zapomni.model.memory import Memory

BRANCH_LIMIT: Final = 100
"""Most characters of a branch's name."""


class Policy(StrEnum):
    """What a merge does with a memory that was changed on the branch and on the main line (features M-11).

    `append` keeps both texts, `replace` the branch's; `confidence_gated` the one of higher trust or importance, and
    of equal ones none: a person decides, as with `llm_merge`. `reject` leaves it on the branch.
    """

    APPEND = "append"
    REPLACE = "replace"
    CONFIDENCE_GATED = "confidence_gated"
    LLM_MERGE = "llm_merge"
    REJECT = "reject"


class Branch(Struct, frozen=True, kw_only=True):
    """One branch; a dropped one is kept by name, so that its drop can be undone."""

    name: str
    created_at: datetime
    actor: str
    dropped_at: datetime | None = None


class Fork(Struct, frozen=True, kw_only=True):
    """One memory of a branch, and which one of the main line it stands for from which version on; None for a new one.

    One in the scope `deleted_on(branch)` stands for a deletion.
    """

    memory: Memory
    base_id: str | None = None
    base_version: int | None = None

    @property
    def deletes(self) -> bool:
        """Whether the branch deleted what it stands for."""
        return "@" not in self.memory.scope.name
