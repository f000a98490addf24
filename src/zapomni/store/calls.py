"""What a store must do with the calls of language models: keep each with what it cost, and add them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from datetime import datetime


class Call(Struct, frozen=True, kw_only=True):
    """One task that a model was asked, its repair round included.

    `usd` is an estimate, None where no price is known; `run` is the run that it was part of. A failed call is `ok`
    False and counts the tokens that it is known to have used.
    """

    at: datetime
    purpose: str
    model: str
    tokens_in: int
    tokens_out: int
    usd: float | None = None
    run: str | None = None
    ok: bool = True


class Sum(Struct, frozen=True, kw_only=True):
    """Several calls together: how many, how many of them failed, and of how many the price is not known."""

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.tokens_in + self.tokens_out


class Total(Struct, frozen=True, kw_only=True):
    """The calls of one purpose by one model."""

    purpose: str
    model: str
    sum: Sum


class Calls(Protocol):
    """The calls of every process on one store; methods may be called from any thread.

    Spans are from `since` on and before `until`, where that is given. Raises what `Store` raises.
    """

    def add_call(self, call: Call) -> None:
        """Keep a call."""

    def spent(self, since: datetime, until: datetime | None = None) -> Sum:
        """Add up the calls of a span."""

    def totals(self, since: datetime, until: datetime | None = None) -> list[Total]:
        """Add up the calls of a span by purpose and model, the most tokens first."""
