"""`zapomni export` and `zapomni import`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from zapomni.errors import InvalidInput, Unavailable
from zapomni.exchange.entries import Format, ImportMode
from zapomni.surfaces.cli import render, render_versions
from zapomni.surfaces.cli.options import SCOPE, one_of, read_scopes, standard_input
from zapomni.surfaces.cli.session import Session, answers

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("export")
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option(
    "--format", "form", type=click.Choice(["zapomni", "agent-memory-mcp"]), default="zapomni", help="As what."
)
@click.option("--history", is_flag=True, help="With every revision and run.")
@click.option("--git", "git", metavar="DIR", help="The whole history as a git repository in this folder instead.")
@click.option("--force", is_flag=True, help="With --git: write the history there anew where it cannot be continued.")
@read_scopes
@answers
def export(
    session: Session, file: str, form: str, scopes: Sequence[str], *, history: bool, git: str | None, force: bool
) -> None:
    """Write memories to a file or to standard output, or their history to a git repository.

    Every scope is written, deleted memories too, unless --scope narrows it. A file appears only when complete. A
    repository gets one commit a run or change; a second export adds what came since.
    """
    if git is not None:
        if file != "-" or history or form != "zapomni":
            raise InvalidInput("git", "it goes with --scope and --force alone")
        with session.memory() as app:
            came = app.export_git(git, scopes=scopes, force=force)
        session.answer(to_builtins(came), render_versions.exported_git(came))
        return
    if session.json and file == "-":
        raise InvalidInput("file", "with --json the memories cannot go to standard output too", remedy="Name a file")
    if file == "-" and sys.stdout is None:
        raise Unavailable("standard output is closed", remedy="Name a file")
    with session.memory() as app:
        target = sys.stdout.buffer if file == "-" else file
        written = app.export(target, form=form, scopes=scopes, history=history)
    document = to_builtins(written)
    if file == "-":
        session.note(render.exported(document))
    else:
        session.answer({"file": file, **document}, render.exported(document))


@click.command("import")
@click.argument("file", metavar="FILE|-")
@click.option("--mode", type=one_of(ImportMode), default=ImportMode.MERGE.value, help="What wins over what is here.")
@click.option("--format", "form", type=one_of(Format), help="What it is; the file tells if not given.")
@click.option("--scope", metavar=SCOPE, help="Where memories go that name no scope.")
@click.option("--dry-run", is_flag=True, help="Tell what would come of it and change nothing.")
@answers
def import_(session: Session, file: str, mode: str, form: str | None, scope: str | None, *, dry_run: bool) -> int:
    """Read memories from a file or from standard input.

    Merge keeps the newer of two, skip keeps what is here, replace makes the file the whole content of its
    scopes. Bad lines are named and good ones kept; the status is then 2. The same file again adds nothing and
    finishes what was interrupted. `undo --run` takes an import back.
    """
    with session.memory() as app:
        source = standard_input("file") if file == "-" else file
        came = app.import_(source, mode=mode, form=form, scope=scope, dry_run=dry_run)
    document = to_builtins(came)
    session.answer(document, render.imported(document))
    session.note(render.import_notes(document))
    return InvalidInput.exit_status if came.bad else 0
