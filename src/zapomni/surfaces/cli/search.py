"""`zapomni search`: asking the attached documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.model import Mode
from zapomni.model.document import DocumentKind
from zapomni.surfaces import shapes
from zapomni.surfaces.cli import render_documents as render
from zapomni.surfaces.cli.options import given, one_of, read_scopes, text_or_stdin
from zapomni.surfaces.cli.render_why import why_nothing
from zapomni.surfaces.cli.session import Session, answers

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("search")
@click.argument("query", nargs=-1, metavar="QUERY|-")
@click.option("--limit", type=int, metavar="N", help="At most this many places; 10 if not given.")
@click.option("--mode", type=one_of(Mode), default=Mode.HYBRID.value, help="Search by words, by meaning, or by both.")
@click.option("--strict", is_flag=True, help="Fail where meaning cannot be searched, instead of words alone.")
@read_scopes
@click.option("--kind", multiple=True, type=one_of(DocumentKind), help="In documents of this kind. Repeatable: any.")
@click.option("--source", multiple=True, metavar="SOURCE", help="In this source, by path or id. Repeatable: any.")
@click.option("--path", metavar="PREFIX", help="In files whose path under the root begins so.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="In files with this tag. Repeatable: any of them.")
@click.option("--explain", is_flag=True, help="Show each part of each score, or why nothing was found.")
@click.option("--full", is_flag=True, help="Show each text whole.")
@answers
def search(
    session: Session,
    query: Sequence[str],
    scopes: Sequence[str],
    *,
    limit: int | None,
    mode: str,
    strict: bool,
    explain: bool,
    full: bool,
    **where: Any,
) -> None:
    """Ask the attached documents a question.

    Each answer begins with where it stands, as editors open it (PATH:LINE). Words are found in any form, in
    Russian and English; nothing in a question is query syntax.
    """
    text = text_or_stdin(query, "query")
    with session.memory() as app:
        asked: dict[str, Any] = {"limit": limit, "mode": mode, "strict": strict, "explain": explain}
        answer = app.documents.search(text, scopes=scopes, **asked, **given(where))
        document = shapes.findings_shape(answer, explain=explain, preview=None if full else shapes.PREVIEW)
        found = render.findings(answer, text, explain=explain, full=full)
        session.answer(document, [*found, *why_nothing(answer.explanations, given(where))])
        session.note(
            render.findings_notes(
                answer,
                given(where),
                attached=bool(app.documents.sources(scopes=scopes)),
                elsewhere=app.documents.is_elsewhere(),
                explain=explain,
            )
        )
