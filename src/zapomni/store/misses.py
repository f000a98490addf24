"""What a store must do for misses: questions that did not find their memory, and how many questions there were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from zapomni.model import Scope
    from zapomni.model.miss import Miss


class MissWrites(Protocol):
    """The writes of misses inside an open transaction (`Tx.misses`)."""

    def add(self, miss: Miss) -> None:
        """Keep a miss; it goes when its memory is erased."""


class Misses(Protocol):
    """The misses of one store; methods may be called from any thread. Raises what `Store` raises."""

    def listed(self, scopes: Sequence[Scope], limit: int) -> list[Miss]:
        """Return the latest misses whose expected memory is in some scopes, newest first."""

    def missed(self, scope: Scope, since: datetime, until: datetime) -> int:
        """Count the misses of a scope from `since` to before `until`."""

    def asked(self, scope: Scope, since: datetime, until: datetime) -> int:
        """Count the recalls that saw a scope, on the days in UTC from that of `since` to before that of `until`."""
