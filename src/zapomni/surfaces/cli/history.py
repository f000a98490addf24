"""`zapomni history` and `zapomni undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.errors import InvalidInput
from zapomni.record import stamp
from zapomni.surfaces import shapes
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.options import at_most, read_scopes
from zapomni.surfaces.cli.session import Session, answers, on_branch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Run


@click.command("history")
@click.argument("memory_id", required=False, metavar="[ID]")
@click.option("--runs", is_flag=True, help="List the latest runs: imports, undone runs.")
@at_most(20, "runs")
@read_scopes
@on_branch
@answers
def history(session: Session, memory_id: str | None, scopes: Sequence[str], *, runs: bool, limit: int) -> None:
    """Show what happened to a memory, or the latest runs.

    Deleted memories too; of an erased one stays who erased it and when.
    """
    if memory_id is None and not runs:
        how = "`zapomni history ID` shows what happened to a memory, `zapomni history --runs` the latest runs"
        raise InvalidInput("history", "nothing says of what", remedy=how)
    if memory_id is not None and runs:
        raise InvalidInput("history", "it takes either an id or --runs, not both", remedy="Leave one of them out")
    if runs and scopes:
        raise InvalidInput("scope", "it goes with an id: runs are those of the whole store")
    with session.memory() as app:
        if memory_id is None:
            found = app.store.runs(limit)
            session.answer({"count": len(found), "runs": [_run_shape(run) for run in found]}, render.runs(found))
            session.note([] if found else ["No run yet"])
            return
        _, revisions = app.history(memory_id, scopes=scopes)
        document = {
            "id": revisions[0].memory_id,
            "count": len(revisions),
            "revisions": [shapes.revision_shape(revision) for revision in revisions],
        }
        session.answer(document, render.revisions(revisions))


@click.command("undo")
@click.argument("memory_id", required=False, metavar="[ID]")
@click.option("--run", metavar="RUN", help="Take back every change of this run; see `history --runs`.")
@click.option("--to", type=int, metavar="NUMBER", help="Bring it to what it was after this revision of its history.")
@read_scopes
@on_branch
@answers
def undo(session: Session, memory_id: str | None, scopes: Sequence[str], *, run: str | None, to: int | None) -> None:
    """Take back the latest change of a memory, or a whole run.

    Each further undo goes one change further back; `--to` goes anywhere in its history, forwards too. Memories
    changed since the run are left alone.
    """
    _check_undo(memory_id, run, to)
    with session.memory() as app:
        undone = app.undo_run(run) if run is not None else app.undo(memory_id or "", scopes=scopes, to=to)
        session.answer(shapes.undone_shape(undone), render.undone(undone))
        session.note(render.undone_notes(undone, app.context.place))
        session.embed(app)


def _check_undo(memory_id: str | None, run: str | None, to: int | None) -> None:
    """Refuse an id beside a run, neither, and `--to` without an id: what is taken back must be said one way."""
    if memory_id is None and run is None:
        how = "`zapomni undo ID` takes back the latest change of a memory, `zapomni undo --run RUN` a whole run"
        raise InvalidInput("undo", "nothing says what", remedy=f"{how}; `zapomni history --runs` lists the runs")
    if memory_id is not None and run is not None:
        raise InvalidInput("undo", "it takes either an id or --run, not both", remedy="Leave one of them out")
    if run is not None and to is not None:
        raise InvalidInput("to", "it goes with an id, not with --run", remedy="Leave one of them out")


def _run_shape(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "verb": run.verb,
        "actor": run.actor,
        "started_at": stamp(run.started_at),
        "finished_at": stamp(run.finished_at) if run.finished_at else None,
        "detail": dict(run.detail),
    }
