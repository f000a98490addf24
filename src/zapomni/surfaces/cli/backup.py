"""`zapomni backup` and `zapomni restore`."""

from __future__ import annotations

import click

from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.session import Session, answers

FORCE = click.option("--force", is_flag=True, help="Replace what is there.")


@click.command("backup")
@click.argument("file")
@FORCE
@answers
def backup(session: Session, file: str, *, force: bool) -> None:
    """Write a whole copy of the store while it is in use.

    The file appears only when complete and is read back. Copying the store's file by hand loses what stands
    in the journal beside it.
    """
    with session.memory() as app:
        came = app.backup(file, force=force)
    document = {"file": str(came.path), "memories": came.memories, "deleted": came.deleted, "bytes": came.bytes}
    session.answer(document, render.backed_up(document))


@click.command("restore")
@click.argument("file")
@click.option("--verify", is_flag=True, help="Check the backup and change nothing.")
@FORCE
@answers
def restore(session: Session, file: str, *, verify: bool, force: bool) -> None:
    """Put a backup in the place of the store.

    A store that holds memories is replaced only with --force, and is kept beside itself.
    """
    with session.memory() as app:
        came = app.restore(file, verify=verify, force=force)
    document = {
        "file": str(came.path),
        "restored": came.done,
        "memories": came.memories,
        "deleted": came.deleted,
        "schema": came.schema,
        "before": str(came.before) if came.before else None,
    }
    session.answer(document, render.restored(document))
