"""The ledger: what language models used, when, for what and for how much, and the caps of a day."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from zapomni.errors import BudgetSpent, ConfigError, ModelError
from zapomni.store.calls import Call
from zapomni.text.dates import parse_bound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime, tzinfo

    from zapomni.clock import Clock
    from zapomni.llm.base import Llm, Reply, Task, Usage
    from zapomni.settings import LlmSettings
    from zapomni.store.calls import Calls, Sum, Total

DAYS: Final = 366
"""The longest span that is added up day by day."""
_MILLION: Final = 1_000_000


class Span(NamedTuple):
    """From a time on and before another one."""

    since: datetime
    until: datetime


class DaySum(NamedTuple):
    """A local day with what was used in it."""

    day: date
    sum: Sum


class Costs(Struct, frozen=True, kw_only=True):
    """What was used today against the caps, and in the last days: in all, by purpose and model, and day by day."""

    model: str | None
    today: Sum
    today_span: Span
    daily_tokens: int
    daily_usd: float | None
    span: Span
    total: Sum
    totals: Sequence[Total]
    days: Sequence[DaySum]


class Ledger:
    """The calls of one store under one set of caps; days are those of `zone`.

    Several processes share the caps. They are looked at before a call: calls under way at once may go beyond
    them by what each of them uses. Raises `ConfigError` for a cap on money whose prices are not set.
    """

    def __init__(self, calls: Calls, settings: LlmSettings, clock: Clock, zone: tzinfo) -> None:
        self._calls = calls
        self._settings = settings
        self._clock = clock
        self._zone = zone
        if settings.daily_usd is not None and self.price(1, 1) is None:
            raise ConfigError(
                "llm.daily_usd: money cannot be counted, for the model's prices are not set",
                remedy="Set llm.price_in and llm.price_out, or take llm.daily_usd away",
            )

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """Return the estimated US dollars for some tokens, None where no price is set."""
        read, written = self._settings.price_in, self._settings.price_out
        if read is None or written is None:
            return None
        return (tokens_in * read + tokens_out * written) / _MILLION

    def admit(self, model: str) -> None:
        """Raise `BudgetSpent` when the day's tokens or money are spent."""
        span = self._day()
        spent, caps = self._calls.spent(span.since), self._settings
        if spent.tokens >= caps.daily_tokens:
            raise self._spent(model, f"{spent.tokens:,} of {caps.daily_tokens:,} tokens", "llm.daily_tokens", span)
        if caps.daily_usd is not None and spent.usd >= caps.daily_usd:
            raise self._spent(model, f"${spent.usd:,.2f} of ${caps.daily_usd:,.2f}", "llm.daily_usd", span)

    def record(self, task: Task, model: str, usage: Usage | ModelError, *, run: str | None = None) -> None:
        """Keep a call with what it used; an error is a call that failed."""
        call = Call(
            at=self._clock(),
            purpose=task.purpose,
            model=model,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            usd=self.price(usage.tokens_in, usage.tokens_out),
            run=run,
            ok=not isinstance(usage, ModelError),
        )
        self._calls.add_call(call)

    def costs(self, days: int) -> Costs:
        """Add up the last days, today included; at most `DAYS`."""
        spans = [self._day(back) for back in reversed(range(days))]
        span = Span(spans[0].since, spans[-1].until)
        return Costs(
            model=self._settings.model,
            today=self._calls.spent(*spans[-1]),
            today_span=spans[-1],
            daily_tokens=self._settings.daily_tokens,
            daily_usd=self._settings.daily_usd,
            span=span,
            total=self._calls.spent(*span),
            totals=self._calls.totals(*span),
            days=[DaySum(one.since.astimezone(self._zone).date(), self._calls.spent(*one)) for one in spans],
        )

    def _day(self, back: int = 0) -> Span:
        """Return the local day so many days ago; it may have 23 or 25 hours."""
        now = self._clock()
        day = now.astimezone(self._zone).date() - timedelta(days=back)
        return Span(*parse_bound(day.isoformat(), now, self._zone))

    def _spent(self, model: str, what: str, setting: str, span: Span) -> BudgetSpent:
        opens = span.until.astimezone(self._zone)
        return BudgetSpent(
            f"{what} of today are spent, so {model} was not asked",
            remedy=f"Raise {setting}, or go on from {opens:%Y-%m-%d %H:%M}",
            retry_after=(span.until - self._clock()).total_seconds(),
        )


class Metered:
    """An `Llm` whose every call is kept in a ledger, and that is not asked once the day's caps are reached.

    `run` is the run that its calls are part of. What was spent before a cap was reached stays done.
    """

    def __init__(self, llm: Llm, ledger: Ledger, *, run: str | None = None) -> None:
        self._llm = llm
        self._ledger = ledger
        self._run = run

    @property
    def label(self) -> str:
        """The model's own."""
        return self._llm.label

    @property
    def local(self) -> bool:
        """The model's own."""
        return self._llm.local

    def ask(self, task: Task) -> Reply:
        """Ask the model; raises `BudgetSpent` before the call, and what the model raises."""
        self._ledger.admit(self.label)
        try:
            reply = self._llm.ask(task)
        except ModelError as error:
            self._ledger.record(task, self.label, error, run=self._run)
            raise
        self._ledger.record(task, self.label, reply.usage, run=self._run)
        return reply
