"""What the servers have in common, whatever they speak: the memory on threads, who calls, and a fault of ours."""

from __future__ import annotations

import secrets
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
import anyio.to_thread

from zapomni.errors import ZapomniError
from zapomni.model import Actor, Origin

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable

    from zapomni.app import Zapomni

T = TypeVar("T")

WRITERS: Final = 4
READERS: Final = 8
THINKERS: Final = 4
"""Threads, and so database connections, of one server. Writes have their own, so that those that wait for
another process's lock do not keep readers waiting; so have calls that wait for a language model."""
NAME_LENGTH: Final = 80
"""Most characters of a client's name in the history."""


class Served:
    """The memory behind a server: opened at the first use, by one thread, and asked on threads of its own."""

    def __init__(self, app: Zapomni) -> None:
        self.app = app
        self._opening = threading.Lock()
        self._readers = anyio.CapacityLimiter(READERS)
        self._writers = anyio.CapacityLimiter(WRITERS)
        self._thinkers = anyio.CapacityLimiter(THINKERS)

    async def ask(self, act: Callable[[Zapomni], T], *, writes: bool = False, thinks: bool = False) -> T:
        """Run something with the memory on a thread; a call that has begun is finished, cancelled or not."""
        limiter = self._thinkers if thinks else self._writers if writes else self._readers
        return await anyio.to_thread.run_sync(self._with_app, act, limiter=limiter)

    def open(self) -> Zapomni:
        """Return the memory, opened. Raises what opening the store raises."""
        with self._opening:
            _ = self.app.context, self.app.embedding
        return self.app

    def start_worker(self) -> None:
        """Begin the background work."""
        app = self.open()
        with self._opening:
            app.start_worker()

    def _with_app(self, act: Callable[[Zapomni], T]) -> T:
        with suppress(Exception):  # the act meets the same error and knows how to answer with it
            self.open()
        return act(self.app)


class Internal(ZapomniError):
    """A fault of ours."""

    code = "internal"


def unforeseen(error: Exception, what: str, log: logging.Logger) -> Internal:
    """Log an error under a reference, and return one that names this reference alone.

    The text of the first may hold what the client should not see.
    """
    reference = secrets.token_hex(4)
    log.error("internal error %s in %s", reference, what, exc_info=error)
    return Internal(f"internal error {reference}", remedy="The server's log says more under it")


def caller(way: str, name: str) -> Actor:
    """Return who calls, as the history names it: `way` and, behind a colon, the client's own name where it says one."""
    shown = "".join(letter for letter in name if letter.isprintable()).strip()[:NAME_LENGTH]
    return Actor(name=f"{way}:{shown}" if shown else way, origin=Origin.AGENT)
