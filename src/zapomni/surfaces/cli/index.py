"""`zapomni index`: cutting the index of a memory folder into what is always loaded and what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zapomni.surfaces.cli import render_vault as render
from zapomni.surfaces.cli.session import Group, Session, answers
from zapomni.surfaces.cli.vault import NONE_MIRRORED, scopes_option
from zapomni.surfaces.vault_shapes import plans_shape, written_shape

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.group("index", cls=Group)
def index() -> None:
    """Cut the index of a folder of memories into a core and leaves.

    Rules that must act though nobody asks for them (pinned ones, those about the user, feedback) stay on MEMORY.md; the
    rest goes to leaves by topic, which a harness reads when it needs them.
    """


@index.command("plan")
@click.argument("folder", required=False, metavar="[SOURCE|DIR]")
@scopes_option
@answers
def plan(session: Session, folder: str | None, scopes: Sequence[str]) -> None:
    """Show how an index would be cut and what that saves; nothing is written."""
    with session.memory() as app:
        found = app.vaults.plan(folder, scopes=scopes)
    session.answer(plans_shape(found), render.plans(found))
    if not found:
        session.note([NONE_MIRRORED])


@index.command("apply")
@click.argument("folder", metavar="SOURCE|DIR")
@scopes_option
@answers
def apply(session: Session, folder: str, scopes: Sequence[str]) -> None:
    """Cut an index as `plan` shows it. Notes are not touched, and it can be taken back."""
    with session.memory() as app:
        came = app.vaults.cut(folder, scopes=scopes)
    session.answer(written_shape(came), render.written(came))
    session.note(["`zapomni index restore` takes it back"])


@index.command("restore")
@click.argument("folder", metavar="SOURCE|DIR")
@scopes_option
@answers
def restore(session: Session, folder: str, scopes: Sequence[str]) -> None:
    """Put an index back to what it was before it was cut.

    Lines of notes that came since stay. A leaf into which somebody wrote something else stays, too, and is named.
    """
    with session.memory() as app:
        came = app.vaults.restore(folder, scopes=scopes)
    session.answer(written_shape(came), render.written(came))
