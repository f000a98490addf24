"""The background thread of a server: has the embed queue worked off and reading counts written."""

from __future__ import annotations

import logging
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import ZapomniError
from zapomni.services.background import Background
from zapomni.services.embedding import ELSEWHERE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.services.embedding import Embedding
    from zapomni.services.touches import Touches

PAUSE: Final = 1.0
"""Seconds between two looks at the queue: other processes' writes get their vectors soon, idle costs little."""
LONGEST_PAUSE: Final = 60.0
"""Seconds between two tries while the provider fails; each failed try doubles the pause up to this."""
_LOG = logging.getLogger(__name__)


class Worker(Background):
    """Has the embed queue worked off.

    `work` works off the queue, in another process if need be, and returns None when it got anywhere, else why not.
    """

    name = "zapomni-worker"

    def __init__(self, queues: Sequence[Embedding[Any]], touches: Touches, work: Callable[[], str | None]) -> None:
        super().__init__()
        self._queues = queues
        self._touches = touches
        self._work = work
        self._pause = PAUSE
        self._wake = Event()

    def wake(self) -> None:
        """Say that something new waits."""
        self._wake.set()

    def stop(self) -> None:
        """End as soon as `work` returns."""
        self.stopping.set()
        self._wake.set()
        super().stop()

    def run(self) -> None:
        """Work until `stopping` is set."""
        while not self.stopping.is_set():
            try:
                self._round()
            except ZapomniError as error:
                _LOG.warning("background work paused: %s", error.message)
                self._pause = min(self._pause * 2, LONGEST_PAUSE)
            self._wake.wait(self._pause)
            self._wake.clear()

    def _round(self) -> None:
        self._touches.flush()
        reason = self._work() if any(queue.backlog().waiting for queue in self._queues) else None
        for queue in self._queues:
            queue.trouble = None if reason == ELSEWHERE else reason
        self._pause = PAUSE if reason is None else min(self._pause * 2, LONGEST_PAUSE)
