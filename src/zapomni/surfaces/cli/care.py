"""`zapomni reembed` and `zapomni doctor`: keeping the store whole."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from zapomni.errors import StoreDamaged, Unavailable
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.session import Session, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zapomni.services.embedding import Drained


@click.command("reembed")
@click.option("--retry", is_flag=True, help="Try at once those too that failed before.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--for-parent", is_flag=True, hidden=True, help="End with the server that started this.")
@answers
def reembed(session: Session, *, retry: bool, quiet: bool, for_parent: bool) -> int:
    """Give every memory its vector of the model in use.

    After a change of the model the old vectors answer until the new ones are whole. It may be stopped at any
    time and goes on where it was.
    """
    parent, start = os.getppid(), perf_counter()
    with session.memory() as app:
        with _progress(shown=not (quiet or session.json)) as progress:
            drained = app.embedding.drain(
                retry=retry, progress=progress, stop=lambda: for_parent and os.getppid() != parent
            )
        document = _shape(drained, perf_counter() - start)
    session.answer(document, render.drained(document))
    short = not drained.done if for_parent else drained.failed or (drained.reason and drained.left)
    return Unavailable.exit_status if short else 0


def _shape(drained: Drained, seconds: float) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "done": drained.done,
        "failed": drained.failed,
        "left": drained.left,
        "space": drained.space.label if drained.space else None,
        "rate": round(drained.done / seconds, 1) if seconds else 0.0,
    }
    if drained.reason:
        shape["reason"] = drained.reason
    return shape


@contextmanager
def _progress(*, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that moves a bar on the terminal, or None where there is nobody to see it."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=0, label="embedding", file=sys.stderr, show_pos=True) as bar:

        def move(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        yield move


@click.command("doctor")
@click.option("--repair", is_flag=True, help="Build what is derived anew from the memories.")
@answers
def doctor(session: Session, *, repair: bool) -> int:
    """Check the store and, asked for, repair it.

    Looks at the file, its permissions, its integrity and every index; memories are never changed.
    """
    with session.memory() as app:
        checks = app.doctor(repair=repair)
    healthy = all(check.ok for check in checks)
    document = {
        "ok": healthy,
        "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail, "remedy": c.remedy} for c in checks],
    }
    session.answer(document, render.checks(checks))
    return 0 if healthy else StoreDamaged.exit_status
