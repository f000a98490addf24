"""`zapomni cost`: what language models used, and what is left of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zapomni.services.reading.ledger import DAYS, Ledger
from zapomni.surfaces.cli.lines import many, one_line, table
from zapomni.surfaces.cli.session import Session, answers
from zapomni.surfaces.cost_shapes import costs_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.services.reading.ledger import Costs
    from zapomni.store.calls import Sum


@click.command("cost")
@click.option(
    "--days", type=click.IntRange(1, DAYS), default=7, metavar="N", show_default=True, help="So many days, with today."
)
@answers
def cost(session: Session, *, days: int) -> None:
    """Show what language models used, and what is left of today.

    Tokens are those that the provider counts. Money is an estimate from the prices that are set; calls without
    one count with their tokens alone. A day is the local day.
    """
    with session.memory() as app:
        costs = Ledger(app.store.calls, app.config.llm, app.context.clock, app.zone).costs(days)
        session.answer(costs_shape(costs), _shown(costs, days))
        session.note(_notes(costs))


def _shown(costs: Costs, days: int) -> Iterator[str]:
    rows = [("model", one_line(costs.model or "none")), ("today", _today(costs))]
    rows += [(f"{days} days" if days > 1 else "1 day", _told(costs.total))]
    yield from table(rows)
    if costs.totals:
        yield ""
        yield from table([(one_line(f"{one.purpose} by {one.model}"), _told(one.sum)) for one in costs.totals])


def _today(costs: Costs) -> str:
    spent = f"{costs.today.tokens:,} of {costs.daily_tokens:,} tokens"
    return spent if costs.daily_usd is None else f"{spent}, {_money(costs.today)} of ${costs.daily_usd:,.2f}"


def _told(one: Sum) -> str:
    failed = f" ({one.failed:,} failed)" if one.failed else ""
    calls = f"{many(one.calls, 'call')}{failed}"
    return f"{calls}, {one.tokens_in:,} tokens in, {one.tokens_out:,} out, {_money(one)}"


def _money(one: Sum) -> str:
    """Return the estimated money; what has no price is no money that was saved."""
    if one.calls and one.unpriced == one.calls:
        return "price not known"
    return f"${one.usd:,.4f}" + (f" and {one.unpriced:,} without a price" if one.unpriced else "")


def _notes(costs: Costs) -> Iterator[str]:
    if costs.model is None:
        yield "No language model is set (llm.model); only what a model reads the memory for needs one"
    elif costs.total.unpriced:
        yield "llm.price_in and llm.price_out tell what a million tokens cost"
