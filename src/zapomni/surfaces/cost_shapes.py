"""The JSON shape of what language models used; see `shapes` for what every shape keeps to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.record import stamp

if TYPE_CHECKING:
    from zapomni.services.reading.ledger import Costs
    from zapomni.store.calls import Sum


def costs_shape(costs: Costs) -> dict[str, Any]:
    """Return today against the caps, and the days asked for: in all, by purpose and model, and day by day."""
    return {
        "model": costs.model,
        "today": {
            "since": stamp(costs.today_span.since),
            "until": stamp(costs.today_span.until),
            **sum_shape(costs.today),
            "daily_tokens": costs.daily_tokens,
            "daily_usd": costs.daily_usd,
        },
        "since": stamp(costs.span.since),
        "total": sum_shape(costs.total),
        "count": len(costs.totals),
        "totals": [{"purpose": one.purpose, "model": one.model, **sum_shape(one.sum)} for one in costs.totals],
        "days": [{"day": one.day.isoformat(), **sum_shape(one.sum)} for one in costs.days],
    }


def sum_shape(one: Sum) -> dict[str, Any]:
    """Return several calls together; `usd` is an estimate and leaves out the calls that `unpriced` counts."""
    return {
        "calls": one.calls,
        "failed": one.failed,
        "tokens_in": one.tokens_in,
        "tokens_out": one.tokens_out,
        "usd": round(one.usd, 6),
        "unpriced": one.unpriced,
    }
