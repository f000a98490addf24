"""`zapomni recall`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.model import Mode
from zapomni.surfaces import shapes
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.options import filters, given, one_of, text_or_stdin
from zapomni.surfaces.cli.session import Session, answers

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("recall")
@click.argument("query", nargs=-1, metavar="QUERY|-")
@click.option("--limit", type=int, metavar="N", help="At most this many memories.")
@click.option("--mode", type=one_of(Mode), default=Mode.HYBRID.value, help="Search by words, by meaning, or by both.")
@click.option("--strict", is_flag=True, help="Fail where meaning cannot be searched, instead of words alone.")
@click.option("--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Fill at most this many tokens.")
@click.option("--explain", is_flag=True, help="Show each part of each score.")
@click.option("--full", is_flag=True, help="Show each text whole.")
@filters
@answers
def recall(
    session: Session,
    query: Sequence[str],
    scopes: Sequence[str],
    *,
    limit: int | None,
    mode: str,
    strict: bool,
    budget: int | None,
    explain: bool,
    full: bool,
    **where: Any,
) -> None:
    """Ask the memory a question.

    Words are found in any form, in Russian and English; nothing in a question is query syntax.
    """
    text = text_or_stdin(query, "query")
    with session.memory() as app:
        answer = app.recall(text, scopes=scopes, limit=limit, mode=mode, strict=strict, budget=budget, **given(where))
        document = shapes.recollection_shape(answer, explain=explain, preview=None if full else shapes.PREVIEW)
        session.answer(document, render.recollection(answer, explain=explain, full=full))
        nothing = not (answer.hits or answer.left_out or session.json)
        searched = app.list(scopes=scopes, limit=1, **given(where)).total if nothing else None
        session.note(render.recollection_notes(answer, searched=searched, explain=explain))
