"""`zapomni store` and `zapomni update`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.errors import Refused
from zapomni.model import Status
from zapomni.surfaces import shapes
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.options import draft_fields, given, patch_fields, read_scopes, text_or_stdin
from zapomni.surfaces.cli.session import Session, answers, on_branch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.app import Zapomni
    from zapomni.model import Outcome


@click.command("store")
@click.argument("text", nargs=-1, metavar="TEXT|-")
@draft_fields
@on_branch
@answers
def store(session: Session, text: Sequence[str], scope: str | None, **fields: Any) -> int:
    """Remember a text.

    The text is kept word for word; secrets are cut out and each cut is told. The same text is kept once.
    """
    content = text_or_stdin(text, "content")
    with session.memory() as app:
        return _answer(session, app, app.remember(content, scope=scope, **given(fields)))


@click.command("update")
@click.argument("memory_id", metavar="ID")
@click.argument("text", nargs=-1, metavar="[TEXT|-]")
@patch_fields
@click.option("--version", type=int, metavar="N", help="Change it only while it is at this version.")
@read_scopes
@on_branch
@answers
def update(
    session: Session,
    memory_id: str,
    text: Sequence[str],
    scopes: Sequence[str],
    move_to: str | None,
    version: int | None,
    **fields: Any,
) -> int:
    """Change a memory.

    What is not named stays as it is; the word `none` clears a field, `--meta KEY=` removes a key. Tags and
    entities are replaced as a whole. Standard input is read for `-`, or when nothing else is to change.
    """
    values = given(fields)
    if text or not (values or move_to):
        values["content"] = text_or_stdin(text, "content")
    with session.memory() as app:
        outcome = app.update(memory_id, scopes=scopes, move_to=move_to, version=version, **values)
        return _answer(session, app, outcome)


def _answer(session: Session, app: Zapomni, outcome: Outcome) -> int:
    session.answer(shapes.outcome_shape(outcome), render.outcome(outcome))
    session.note(render.outcome_notes(outcome))
    if outcome.waiting:
        session.embed(app)
    return Refused.exit_status if outcome.status is Status.REFUSED else 0
