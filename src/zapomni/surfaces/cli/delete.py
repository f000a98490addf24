"""`zapomni delete`: one memory, several, or those that a filter lets through."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from zapomni.errors import InvalidInput, Refused, ZapomniError
from zapomni.model import Outcome, Status
from zapomni.services.find import find_one
from zapomni.services.scopes import EVERY
from zapomni.surfaces import shapes
from zapomni.surfaces.cli import lines, render
from zapomni.surfaces.cli.options import filters, given
from zapomni.surfaces.cli.session import Session, answers, on_branch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.app import Zapomni
    from zapomni.model import Memory


@click.command("delete")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--erase", is_flag=True, help="Remove it for good, with the text of its history.")
@click.option("--never", metavar="REASON", help="Refuse this content from now on, and say why.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted and delete nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@filters
@on_branch
@answers
def delete(
    session: Session,
    ids: Sequence[str],
    scopes: Sequence[str],
    *,
    erase: bool,
    never: str | None,
    dry_run: bool,
    yes: bool,
    **where: Any,
) -> int:
    """Delete memories, by id or by a filter.

    No reading finds a deleted memory; `undo` brings it back, unless it was erased, and `undo --run` several at
    once. A filter deletes exactly what `list` shows for it: --scope NAME alone everything there. With --erase it
    takes what fits and `list` leaves out too: deleted before, not valid now, rejected or superseded. Beside ids --scope
    says where they are looked for. With several ids each is tried: the status is that of the first failure.
    """
    chosen = given(where)
    _check_choice(ids, scopes, chosen)
    if erase and never is not None:
        raise InvalidInput("never", "it cannot go with --erase: nothing would be left to know the content by")
    with session.memory() as app:
        fitting = app.deletable(scopes=scopes, erase=erase, **chosen) if not ids else []
        wanted = list(dict.fromkeys(ids)) or [memory.id for memory in fitting]
        if dry_run:
            return _preview(session, wanted, [_find(app, one, scopes, erased=erase) for one in wanted])
        if not wanted:
            return _nothing(session)
        if not yes and (erase or not ids):
            seen = ", ".join(str(scope) for scope in app.scopes(scopes))
            _confirm(f"{_intent(wanted, fitting, erase=erase, everything=not (ids or chosen))} in {seen}?")
        done = app.delete_many(wanted, scopes=scopes, erase=erase, never=never)
    status = _summary(session, wanted, done.results, done.run)
    if before := render.deleted_before(fitting):
        session.note([before])
    if erase and status == 0:
        session.note([shapes.OUTSIDE])
    return status


def _check_choice(ids: Sequence[str], scopes: Sequence[str], chosen: dict[str, Any]) -> None:
    """Refuse ids beside a filter, and neither: what would be deleted must be said one way."""
    if ids and chosen:
        raise InvalidInput("delete", "it takes either ids or a filter, not both", remedy="Leave one of them out")
    if not (ids or chosen) and EVERY in scopes:
        how = "Name the scopes, or give a further filter"
        raise InvalidInput("delete", f"--scope {EVERY} by itself is every memory there is", remedy=how)
    if not (ids or scopes or chosen):
        how = "Name ids, or give a filter: --scope, --tag or another of `zapomni delete --help`"
        raise InvalidInput("delete", "nothing says which memories", remedy=how)


def _intent(wanted: Sequence[str], fitting: Sequence[Memory], *, erase: bool, everything: bool) -> str:
    """Say what is about to be done, `everything` to all that is there."""
    said = f"{'Erase for good' if erase else 'Delete'} {lines.memories(len(wanted))}"
    if everything:
        said += ", all that there is," if erase else ", all that `list` shows,"
    before = render.deleted_before(fitting)
    return f"{said.removesuffix(',')}, {before}," if before else said


def _find(app: Zapomni, memory_id: str, scopes: Sequence[str], *, erased: bool) -> Memory | ZapomniError:
    """Return what a deletion would take; unlike `show` this counts as no reading."""
    try:
        return find_one(app.context, memory_id, app.scopes(scopes), deleted=erased)
    except ZapomniError as error:
        return error


def _preview(session: Session, wanted: Sequence[str], results: Sequence[Memory | ZapomniError]) -> int:
    found = [result for result in results if not isinstance(result, ZapomniError)]
    failed = _failed(wanted, results)
    document = {
        "dry_run": True,
        "count": len(found),
        "deleted_before": sum(memory.deleted_at is not None for memory in found),
        "memories": [shapes.memory_shape(memory, preview=shapes.PREVIEW) for memory in found],
        "errors": [{"id": memory_id, **shapes.error_shape(error)} for memory_id, error in failed],
    }
    session.answer(document, render.would_delete(found))
    session.note(render.failures(failed))
    return failed[0][1].exit_status if failed else 0


def _failed(wanted: Sequence[str], results: Sequence[object]) -> list[tuple[str, ZapomniError]]:
    return [(one, result) for one, result in zip(wanted, results, strict=True) if isinstance(result, ZapomniError)]


def _nothing(session: Session) -> int:
    """Tell that a filter lets nothing through; there is nothing to ask about then."""
    session.answer({"run": None, "deleted": 0, "failed": 0, "results": []}, [])
    session.note(["Nothing fits the filter, and nothing was deleted"])
    return 0


def _confirm(question: str) -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise Refused("this must be confirmed, and there is no terminal to ask on", remedy="Say --yes or --dry-run")
    if not click.confirm(question, err=True):
        raise Refused("nothing was deleted")


def _summary(session: Session, wanted: Sequence[str], results: Sequence[Outcome | ZapomniError], run: str) -> int:
    failed = _failed(wanted, results)
    document = {
        "run": run,
        "deleted": len(results) - len(failed),
        "failed": len(failed),
        "results": [
            {"id": memory_id, **shapes.error_shape(result)}
            if isinstance(result, ZapomniError)
            else shapes.outcome_shape(result)
            for memory_id, result in zip(wanted, results, strict=True)
        ],
    }
    session.answer(document, render.deleted([r for r in results if not isinstance(r, ZapomniError)]))
    session.note(render.failures(failed))
    if len(results) - len(failed) > 1 and all(r.status is Status.DELETED for r in results if isinstance(r, Outcome)):
        session.note([f"`zapomni undo --run {run}` brings all of them back"])
    return failed[0][1].exit_status if failed else 0
