"""What a store must do for branches of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from zapomni.model import Memory
    from zapomni.model.branch import Branch, Fork


class BranchWrites(Protocol):
    """Branches inside an open transaction (`Tx.branches`), which sees what it has written."""

    def find(self, name: str) -> Branch | None:
        """Return a branch, dropped ones too."""

    def open(self, branch: Branch) -> None:
        """Make a branch known; one that was dropped begins anew."""

    def drop(self, name: str, at: datetime, run: str) -> None:
        """Mark a branch as dropped by a run."""

    def reopen(self, run: str) -> None:
        """Take back what a run dropped."""

    def tie(self, memory_id: str, base_id: str, version: int) -> None:
        """Say which memory one of a branch stands for, and from which version on."""

    def copy_of(self, name: str, base_id: str, *, deleted: bool = False) -> Memory | None:
        """Return what stands for a memory on a branch; `deleted`: also one that was taken back or merged."""

    def base_of(self, memory_id: str) -> str | None:
        """Return which memory one of a branch stands for, None for one that is new there."""

    def copies(self, base_id: str) -> list[Memory]:
        """Return what stands for a memory on any branch, deleted ones too."""

    def forks(self, name: str) -> list[Fork]:
        """Return every undeleted memory of a branch, in the order in which they came there."""


class Branches(Protocol):
    """What the store holds of branches (`Store.branches`)."""

    def find(self, name: str) -> Branch | None:
        """Return a branch, dropped ones too."""

    def all(self) -> list[Branch]:
        """Return every branch that is not dropped, by name."""

    def forks(self, name: str) -> list[Fork]:
        """Return every undeleted memory of a branch, in the order in which they came there."""

    def standing_for(self, name: str, prefix: str) -> list[str]:
        """Return the ids of what stands on a branch for memories whose ids begin so; an exact one alone."""
