"""Long work: a bar that moves while it goes on, and its end when the process that asked for it is gone."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING

import click

from zapomni.surfaces.cli.session import leave

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zapomni.surfaces.cli.session import Session

_BEHIND = 10
"""How much lower than an ordinary process background work ranks, as `nice` counts it."""


@contextmanager
def progress(label: str, *, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that moves a bar on the terminal, or None where there is nobody to see it."""
    if not shown or not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=0, label=label, file=sys.stderr, show_pos=True) as bar:

        def move(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        yield move


def as_child(session: Session) -> None:
    """Work behind those who ask, and end when standard input does: with its process, the server lets go of that.

    Asking who the parent is would not do: it may be gone before the first asking. No batch is finished first,
    for the provider may hang, and others wait for the work. A terminal has no server. What a server has done behind
    it is done on the main line, whatever branch it answers on.
    """
    session.branch = ""
    if hasattr(os, "nice"):
        os.nice(_BEHIND)

    def watch() -> None:
        with suppress(OSError, ValueError):
            while sys.stdin.buffer.read(1):
                pass
        leave(0)

    if sys.stdin is not None and not sys.stdin.isatty():
        Thread(target=watch, name="end-with-input", daemon=True).start()
