"""`zapomni recall`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.model import By, Mode
from zapomni.surfaces import shapes
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.options import filters, given, one_of, text_or_stdin
from zapomni.surfaces.cli.session import Session, answers, on_branch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zapomni.model import Recollection


@click.command("recall")
@click.argument("query", nargs=-1, metavar="QUERY|-")
@click.option("--limit", type=int, metavar="N", help="At most this many memories.")
@click.option("--mode", type=one_of(Mode), default=Mode.HYBRID.value, help="Search by words, by meaning, or by both.")
@click.option("--by", type=one_of(By), default=By.TEXT.value, help="Look at all of it, or at descriptions alone.")
@click.option("--strict", is_flag=True, help="Fail where meaning cannot be searched, instead of words alone.")
@click.option("--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Fill at most this many tokens.")
@click.option("--with-docs", is_flag=True, help="Search the attached documents too; they share the limit.")
@click.option("--explain", is_flag=True, help="Show each part of each score, or why nothing was found.")
@click.option("--full", is_flag=True, help="Show each text whole.")
@filters
@on_branch
@answers
def recall(
    session: Session,
    query: Sequence[str],
    scopes: Sequence[str],
    *,
    limit: int | None,
    mode: str,
    by: str,
    strict: bool,
    budget: int | None,
    with_docs: bool,
    explain: bool,
    full: bool,
    **where: Any,
) -> None:
    """Ask the memory a question.

    Words are found in any form, in Russian and English; nothing in a question is query syntax.
    """
    text = text_or_stdin(query, "query")
    with session.memory() as app:
        asked: dict[str, Any] = {"limit": limit, "mode": mode, "by": by, "strict": strict, "budget": budget}
        asked |= {"with_docs": with_docs, "explain": explain}
        answer = app.recall(text, scopes=scopes, **asked, **given(where))
        preview = None if full else shapes.PREVIEW
        document = shapes.recollection_shape(answer, explain=explain, preview=preview, with_docs=with_docs)
        if with_docs:
            _tell_both(session, document, answer, text, given(where), by=by, explain=explain, full=full)
            return
        narrowed = given(where)
        lines = [*render.recollection(answer, by=by, explain=explain, full=full), *_why(answer, narrowed)]
        session.answer(document, lines)
        nothing = not (answer.hits or answer.left_out or session.json)
        searched = app.list(scopes=scopes, limit=1, **narrowed).total if nothing else None
        session.note(render.recollection_notes(answer, narrowed, searched=searched, explain=explain))


def _tell_both(
    session: Session, document: dict[str, Any], answer: Recollection, text: str, where: dict[str, Any], **how: Any
) -> None:
    """Answer with memories and documents."""
    from zapomni.surfaces.cli import render_documents

    session.answer(document, [*render_documents.together(answer, text, **how), *_why(answer, where)])
    session.note(render_documents.together_notes(answer, where, explain=how["explain"]))


def _why(answer: Recollection, where: dict[str, Any]) -> Iterable[str]:
    if not answer.explanations:
        return ()
    from zapomni.surfaces.cli.render_why import why_nothing

    return why_nothing(answer.explanations, where)
