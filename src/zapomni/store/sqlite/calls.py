"""The calls of language models in one SQLite file; `store.calls` says what each method promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.record import stamp
from zapomni.store.calls import Sum, Total
from zapomni.store.sqlite.connection import rows_of

if TYPE_CHECKING:
    from datetime import datetime

    from zapomni.store.calls import Call
    from zapomni.store.sqlite.connection import Connections

_ADD: Final = (
    "INSERT INTO model_calls (at, purpose, model, tokens_in, tokens_out, usd, run, ok) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_SUM: Final = (
    "count(*), coalesce(sum(NOT ok), 0), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),"
    " coalesce(sum(usd), 0.0), coalesce(sum(usd IS NULL), 0)"
)
_SPAN: Final = "FROM model_calls WHERE at >= ? AND at < ?"
_NEVER: Final = "a"
"""Stands behind every time."""


class SqliteCalls:
    """What one SQLite file holds of the calls of language models."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def add_call(self, call: Call) -> None:
        """Keep a call; no memory changes by it, so nobody's `generation` grows."""
        usage = (call.tokens_in, call.tokens_out, call.usd)
        with self._db.transaction() as db:
            db.execute(_ADD, (stamp(call.at), call.purpose, call.model, *usage, call.run, call.ok))

    def spent(self, since: datetime, until: datetime | None = None) -> Sum:
        """Add up the calls of a span."""
        with self._db.reading() as db:
            (row,) = rows_of(db, f"SELECT {_SUM} {_SPAN}", _span(since, until))
        return _sum(*row)

    def totals(self, since: datetime, until: datetime | None = None) -> list[Total]:
        """Add up the calls of a span by purpose and model, the most tokens first."""
        order = "GROUP BY purpose, model ORDER BY sum(tokens_in) + sum(tokens_out) DESC, purpose, model"
        with self._db.reading() as db:
            rows = rows_of(db, f"SELECT purpose, model, {_SUM} {_SPAN} {order}", _span(since, until))
        return [Total(purpose=purpose, model=model, sum=_sum(*row)) for purpose, model, *row in rows]


def _span(since: datetime, until: datetime | None) -> tuple[str, str]:
    return stamp(since), stamp(until) if until is not None else _NEVER


def _sum(calls: int, failed: int, tokens_in: int, tokens_out: int, usd: float, unpriced: int) -> Sum:
    return Sum(calls=calls, failed=failed, tokens_in=tokens_in, tokens_out=tokens_out, usd=usd, unpriced=unpriced)
