"""`zapomni list`, `zapomni show` and `zapomni stats`: looking without a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.surfaces import shapes
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.lines import alarm_lines
from zapomni.surfaces.cli.options import filters, given, read_scopes
from zapomni.surfaces.cli.session import Session, answers, on_branch
from zapomni.surfaces.review_shapes import alarms_shape

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("list")
@click.option("--limit", type=int, default=20, metavar="N", show_default=True, help="At most this many, up to 1000.")
@click.option("--cursor", metavar="CURSOR", help="Go on where the page before ended.")
@click.option("--full", is_flag=True, help="Show each text whole.")
@filters
@click.option("--expired", is_flag=True, help="Those too that hold no longer, or not yet.")
@click.option("--deleted", is_flag=True, help="Deleted ones too.")
@on_branch
@answers
def list_(session: Session, scopes: Sequence[str], *, limit: int, cursor: str | None, full: bool, **where: Any) -> None:
    """List memories, newest first."""
    with session.memory() as app:
        page = app.list(scopes=scopes, limit=limit, cursor=cursor, **given(where))
        seen = app.scopes(scopes)
        document = shapes.page_shape(page, seen, preview=None if full else shapes.PREVIEW)
        session.answer(document, render.page(page, full=full))
        session.note(render.page_notes(page, seen))


@click.command("show")
@click.argument("memory_id", metavar="ID")
@click.option("--full", is_flag=True, help="Show its history too.")
@read_scopes
@on_branch
@answers
def show(session: Session, memory_id: str, scopes: Sequence[str], *, full: bool) -> None:
    """Show one memory whole.

    With its links; deleted memories are shown by `history`.
    """
    with session.memory() as app:
        memory, links = app.show(memory_id, scopes=scopes)
        document, lines = shapes.shown_shape(memory, links), [*render.shown(memory, links)]
        if full:
            _, revisions = app.history(memory.id, scopes=scopes)
            document["history"] = [shapes.revision_shape(revision) for revision in revisions]
            lines += ["", *render.revisions(revisions)]
        session.answer(document, lines)


@click.command("stats")
@filters
@on_branch
@answers
def stats(session: Session, scopes: Sequence[str], **where: Any) -> None:
    """Count memories and measure the store.

    Counts what the scopes and filters let through; also tells where the store lies and which model is in use.
    """
    with session.memory() as app:
        counts, seen = app.stats(scopes=scopes, **given(where)), app.scopes(scopes)
        state = shapes.state_shape(app)
        alarms = app.review.alarms(scopes=scopes)
        document = shapes.stats_shape(counts, seen) | state | alarms_shape(alarms)
        session.answer(document, [*render.stats(counts, seen, state), *alarm_lines(alarms)])
