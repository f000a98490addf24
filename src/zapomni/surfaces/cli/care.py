"""`zapomni reembed` and `zapomni doctor`: keeping the store whole."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import click

from zapomni.errors import ConfigError, StoreDamaged, Unavailable
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.progress import as_child, progress
from zapomni.surfaces.cli.session import Session, answers

if TYPE_CHECKING:
    from zapomni.services.embedding import Drained
    from zapomni.store.base import Check

_NAMED: Final = 20
"""Failures that an answer names; the others are counted."""


@click.command("reembed")
@click.option("--retry", is_flag=True, help="Try at once those too that failed before.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--for-parent", is_flag=True, hidden=True, help="End when standard input ends.")
@answers
def reembed(session: Session, *, retry: bool, quiet: bool, for_parent: bool) -> int:
    """Give every memory and every document its vectors of the model in use.

    After a change of the model the old vectors answer until the new ones are whole. It may be stopped at any
    time and goes on where it was.
    """
    start = perf_counter()
    if for_parent:
        as_child(session)
    with session.memory() as app, progress("embedding", shown=not (quiet or session.json)) as move:
        rounds = [app.embedding.drain(retry=retry, progress=move)]
        document = _shape(rounds[0], perf_counter() - start)
        if app.store.documents.size():
            start = perf_counter()
            rounds.append(app.documents.embedding.drain(retry=retry, progress=move))
            document["documents"] = _shape(rounds[1], perf_counter() - start)
    session.answer(document, render.drained(document))
    if for_parent:
        return 0 if any(came.done for came in rounds) else Unavailable.exit_status
    short = any(came.failures or (came.reason and came.left) for came in rounds)
    return Unavailable.exit_status if short else 0


def _shape(drained: Drained, seconds: float) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "done": drained.done,
        "failed": len(drained.failures),
        "left": drained.left,
        "space": drained.space.label if drained.space else None,
        "rate": round(drained.done / seconds, 1) if seconds else 0.0,
    }
    if drained.failures:
        shape["failures"] = [{"id": one.id, "reason": one.reason} for one in drained.failures[:_NAMED]]
    if drained.reason:
        shape["reason"] = drained.reason
    return shape


@click.command("doctor")
@click.option("--repair", is_flag=True, help="Build what is derived anew from the memories.")
@click.option("--clients", is_flag=True, help="Look at the agents of this machine instead, and try their hooks.")
@answers
def doctor(session: Session, *, repair: bool, clients: bool) -> int:
    """Check the store and, asked for, repair it.

    Looks at the file, its permissions, its integrity and every index; memories are never changed.
    With --clients: whether each agent is wired and trusts the hooks, and whether what one session decides is kept and
    told to the next, through the agent's own hook command into a memory that is gone afterwards.
    """
    if clients:
        from zapomni.surfaces.cli.client_doctor import report_clients

        return 0 if report_clients(session) else Unavailable.exit_status
    try:
        with session.memory() as app:
            checks = app.doctor(repair=repair)
    except ConfigError as error:
        checks = _without_settings(session, error, repair=repair)
    healthy = all(check.ok for check in checks)
    document = {
        "ok": healthy,
        "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail, "remedy": c.remedy} for c in checks],
    }
    session.answer(document, render.checks(checks))
    return 0 if healthy else StoreDamaged.exit_status


def _without_settings(session: Session, error: ConfigError, *, repair: bool) -> list[Check]:
    """Tell why the settings cannot be read, and look at the store all the same, where one is; no model is asked."""
    from zapomni.app import Zapomni
    from zapomni.config import bare, data_folder
    from zapomni.model import Actor, Origin
    from zapomni.store.base import Check

    config = bare(data_folder(session.home))
    found = [Check(name="settings", ok=False, detail=error.message, remedy=error.remedy)]
    if config.store_path.is_file():  # opening would make one
        with Zapomni(config, actor=Actor(name="cli", origin=Origin.USER)) as app:
            found += [check for check in app.doctor(repair=repair) if check.name not in {"settings", "embedder"}]
    return found
