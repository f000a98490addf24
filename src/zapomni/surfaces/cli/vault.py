"""`zapomni vault`: the state of a memory folder, and compacting it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zapomni.errors import InvalidInput, NotFound, Unavailable
from zapomni.surfaces.cli import render_vault as render
from zapomni.surfaces.cli.lines import many
from zapomni.surfaces.cli.options import SCOPE
from zapomni.surfaces.cli.session import Group, Session, answers
from zapomni.surfaces.vault_shapes import compactions_shape, reports_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.services.vault.report import Report

scopes_option = click.option(
    "--scope", "scopes", multiple=True, metavar=SCOPE, help="Of this scope alone; every scope if not given. Repeatable."
)
NONE_MIRRORED = "No folder is mirrored; name one, or attach it: `zapomni source add DIR --mode mirror --scope SCOPE`"


@click.group("vault", cls=Group)
def vault() -> None:
    """Look after a folder of memories: its size, its growth and its flaws."""


@vault.command("report")
@click.argument("folder", required=False, metavar="[SOURCE|DIR]")
@click.option("--count", "counts", multiple=True, metavar="DATE=NUMBER", help="Your own count of a day. Repeatable.")
@click.option("--history", metavar="FILE", help="Your own counts, one DATE NUMBER a line.")
@click.option("--picture", metavar="FILE", help="Draw growth and budget as SVG, too; - for standard output.")
@scopes_option
@answers
def report(
    session: Session,
    folder: str | None,
    scopes: Sequence[str],
    *,
    counts: Sequence[str],
    history: str | None,
    picture: str | None,
) -> None:
    """Show what a folder of memories costs, where it is going and what in it wants repair.

    Takes a mirrored source or any folder of notes, every mirrored one without. Nothing is written but the picture.
    Forecasts come from your own counts, or else from the day on which each note was first known.
    """
    rows = [*counts, *(_lines(history) if history is not None else ())]
    with session.memory() as app:
        found = app.vaults.report(folder, scopes=scopes, counts=rows)
    if picture == "-":
        click.echo(_drawn(found), nl=False)
        return
    session.answer(reports_shape(found), render.reports(found))
    if picture is not None:
        _save(picture, _drawn(found))
        session.note([f"The picture is in {picture}"])
    if not found:
        session.note([NONE_MIRRORED])


@vault.command("compact")
@click.argument("source", required=False, metavar="[SOURCE]")
@click.option("--dry-run", is_flag=True, help="Only show what would be proposed.")
@scopes_option
@answers
def compact(session: Session, source: str | None, scopes: Sequence[str], *, dry_run: bool) -> None:
    """Propose shorter lines, and then to merge copies, of a mirrored folder, or of every one.

    Each proposal waits in `zapomni inbox`; accepting one is a run that can be undone. A note that others link to is
    never merged away.
    """
    with session.memory() as app:
        found = app.vaults.compact(source, scopes=scopes, dry_run=dry_run)
    session.answer(compactions_shape(found), render.compactions(found))
    if not found:
        session.note([NONE_MIRRORED])
    if not dry_run and any(one.shorten or one.merge for one in found):
        count = sum(len(one.proposals) for one in found)
        shows = f"{many(count, 'new proposal')}; `zapomni inbox` shows {'it' if count == 1 else 'them'}"
        session.note([shows if count else "Nothing new: each is proposed in the inbox already, or was rejected"])


def _lines(path: str) -> list[str]:
    from zapomni.services.parse import parse_path

    try:
        return parse_path("history", path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InvalidInput("history", f"{path} is not UTF-8 text", remedy="Convert it first") from None
    except OSError as error:
        raise NotFound(f"{path} cannot be read ({error.strerror})", remedy="Name a file of counts") from None


def _drawn(found: Sequence[Report]) -> str:
    from zapomni.services.vault.report import picture_of

    if len(found) != 1:
        raise InvalidInput("picture", f"it shows one folder, and there are {len(found)}", remedy="Name the folder")
    return picture_of(found[0])


def _save(path: str, text: str) -> None:
    from zapomni.services.parse import parse_path

    try:
        parse_path("picture", path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"{path} cannot be written ({error.strerror})", remedy="Name another file") from None
