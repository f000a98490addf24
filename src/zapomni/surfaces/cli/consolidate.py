"""`zapomni consolidate` and `zapomni insights`: what memories mean together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zapomni.errors import Unavailable
from zapomni.surfaces.cli.lines import bold, day, many, memories, one_line, paragraphs, table
from zapomni.surfaces.cli.options import at_most, read_scopes
from zapomni.surfaces.cli.progress import as_child
from zapomni.surfaces.cli.session import Session, answers
from zapomni.surfaces.reading_shapes import consolidations_shape, insights_shape, planned_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.app import Zapomni
    from zapomni.services.reading.consolidate import Consolidated, Planned
    from zapomni.services.reading.insight import Held


@click.command("consolidate")
@click.option("--all", "every", is_flag=True, help="Go on until nothing waits, not one batch of each scope alone.")
@click.option("--dry-run", is_flag=True, help="Show what would be read and what that costs; no model is asked.")
@click.option("--for-parent", is_flag=True, hidden=True, help="End when standard input ends.")
@read_scopes
@answers
def consolidate(session: Session, scopes: Sequence[str], *, every: bool, dry_run: bool, for_parent: bool) -> int:
    """Have the model look for insights in what was remembered lately.

    It reads memories that it has not looked at yet, a batch of each scope, and says what they mean together. No memory
    is changed; each batch is a run, and `undo --run` takes it back.
    """
    if for_parent:
        as_child(session)
    with session.memory() as app:
        if dry_run:
            _rehearse(session, app, app.reading.plan_consolidation(scopes=scopes, every=every))
            return 0
        rounds = app.reading.consolidate(scopes=scopes, every=every)
        session.answer(consolidations_shape(rounds), _shown(rounds))
        session.note(_notes(rounds))
        session.embed(app)
    if for_parent and any(one.done for one in rounds):
        return 0
    return Unavailable.exit_status if any(one.reason for one in rounds) else 0


@click.command("insights")
@at_most(20)
@read_scopes
@answers
def insights(session: Session, scopes: Sequence[str], *, limit: int) -> None:
    """List what memories were found to mean together, newest first."""
    with session.memory() as app:
        found = app.reading.insights(scopes=scopes, limit=limit)
        session.answer(insights_shape(found, preview=None), _listed(found))
        session.note([] if found else ["No insight yet; `zapomni consolidate` has a model look for them"])


def _rehearse(session: Session, app: Zapomni, plans: Sequence[Planned]) -> None:
    model = app.config.llm.model
    tokens_in, tokens_out = sum(one.tokens_in for one in plans), sum(one.tokens_out for one in plans)
    usd = app.reading.ledger.price(tokens_in, tokens_out)
    rows = [
        ("model", one_line(model or "none (llm.model)")),
        *(
            (one_line(one.scope), f"{memories(one.memories)} in {many(one.batches, 'batch', 'batches')}")
            for one in plans
        ),
        ("tokens", f"about {tokens_in:,} in and at most {tokens_out:,} out"),
        ("price", "not known" if usd is None else f"at most about ${usd:,.4f}"),
    ]
    session.answer(planned_shape(plans, model, usd), table(rows))
    session.note([] if plans else ["Nothing waits: it takes two memories of one scope"])


def _shown(rounds: Sequence[Consolidated]) -> Iterator[str]:
    for one in rounds:
        for memory in one.insights:
            yield f"{memory.id}{bold(memory.title, before='  ')}"
            yield from paragraphs(memory.content)
            yield ""
        came = f"{len(one.insights):,} new, {one.done:,} of {one.looked_at:,} memories done with"
        yield f"{one_line(one.scope)}: {came}" if one.reason is None else f"{one_line(one.scope)}: nothing was changed"


def _notes(rounds: Sequence[Consolidated]) -> Iterator[str]:
    if not rounds:
        yield "Nothing waits: it takes two memories of one scope"
    for one in rounds:
        yield from (f"Refused: {one_line(no.statement, 80)} ({one_line(no.reason)})" for no in one.refused)
        if one.reason is not None:
            yield f"{one_line(one.scope)}: {one_line(one.reason)}"
        elif one.insights:
            yield f"`zapomni undo --run {one.run}` takes it back"


def _listed(found: Sequence[Held]) -> Iterator[str]:
    for at, (memory, members) in enumerate(found):
        yield from [""] if at else []
        yield f"{memory.id}  {day(memory.created_at)}  {one_line(memory.scope)}{bold(memory.title, before='  ')}"
        yield from paragraphs(memory.content)
        for member in members:
            yield click.style(f"  {member.id}  {one_line(member.content, 80)}", dim=True)
