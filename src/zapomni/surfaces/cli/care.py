"""`zapomni reembed` and `zapomni doctor`: keeping the store whole."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import click

from zapomni.errors import StoreDamaged, Unavailable
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.session import Session, answers, leave

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zapomni.services.embedding import Drained

_NAMED: Final = 20
"""Failures that an answer names; the others are counted."""


@click.command("reembed")
@click.option("--retry", is_flag=True, help="Try at once those too that failed before.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--for-parent", is_flag=True, hidden=True, help="End when standard input ends.")
@answers
def reembed(session: Session, *, retry: bool, quiet: bool, for_parent: bool) -> int:
    """Give every memory its vector of the model in use.

    After a change of the model the old vectors answer until the new ones are whole. It may be stopped at any
    time and goes on where it was.
    """
    start = perf_counter()
    if for_parent:
        _end_with_input()
    with session.memory() as app:
        with _progress(shown=not (quiet or session.json)) as progress:
            drained = app.embedding.drain(retry=retry, progress=progress)
        document = _shape(drained, perf_counter() - start)
    session.answer(document, render.drained(document))
    short = not drained.done if for_parent else drained.failures or (drained.reason and drained.left)
    return Unavailable.exit_status if short else 0


def _end_with_input() -> None:
    """End this process when its standard input does: with its process, the server lets go of the other end.

    Asking who the parent is would not do: it may be gone before the first asking. No batch is finished first,
    for the provider may hang, and others wait for the work. A terminal has no server.
    """

    def watch() -> None:
        with suppress(OSError, ValueError):
            while sys.stdin.buffer.read(1):
                pass
        leave(0)

    if sys.stdin is not None and not sys.stdin.isatty():
        Thread(target=watch, name="end-with-input", daemon=True).start()


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
