"""Consolidating while a server runs: when it starts, when enough waits, and once a day whatever waits."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.errors import ZapomniError
from zapomni.services.background import Background
from zapomni.services.reading.consolidate import ELSEWHERE
from zapomni.services.reading.insight import FEWEST, VERB

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from zapomni.clock import Clock
    from zapomni.model import Run, Scope
    from zapomni.settings import ConsolidateSettings
    from zapomni.store.base import Store

LONGEST_REST: Final = timedelta(days=1)
"""Between two tries while consolidations fail; each failed one doubles the rest up to this."""
_RUNS: Final = 1_000
"""How many of the latest runs are searched for consolidations; with none there the oldest memory tells the time."""
_LOG = logging.getLogger(__name__)


class Consolidator(Background):
    """Looks whether a consolidation is due.

    `work` consolidates every scope, in another process if need be, and returns None when it got anywhere, else why
    not. What is due is told by the store alone, so that it survives restarts, and `work` is done by one process at a
    time, which finds nothing more to do when another one was first.
    """

    name = "zapomni-consolidator"

    def __init__(
        self, store: Store, settings: ConsolidateSettings, clock: Clock, work: Callable[[], str | None]
    ) -> None:
        super().__init__()
        self._store = store
        self._settings = settings
        self._clock = clock
        self._work = work
        self._starting = settings.on_start

    def look(self) -> str | None:
        """Do the work if it is due; return the trigger: `start`, `waiting`, `daily`, None for none."""
        why = self.due()
        self._starting = False
        if why and (reason := self._work()) and reason != ELSEWHERE:
            _LOG.warning("consolidating (%s) came to nothing: %s", why, reason)
        return why

    def due(self) -> str | None:
        """Return the trigger that stands now. After a failure all of them rest, longer with each one in a row."""
        counts = {
            scope: count for scope, count in self._store.readings.unconsolidated_counts().items() if count >= FEWEST
        }
        if not counts:
            return None
        now, settings = self._clock(), self._settings
        past = _Past.of(self._store.runs(_RUNS))
        if past.failed_at is not None and now < past.failed_at + self._rest(past.failures):
            return None
        if self._starting:
            return "start"
        if settings.at_least and sum(counts.values()) >= settings.at_least:
            return "waiting"
        since = past.done_at or min(map(self._oldest, counts))
        return "daily" if settings.every_s and now >= since + timedelta(seconds=settings.every_s) else None

    def _rest(self, failures: int) -> timedelta:
        doubled: int = 2 ** min(failures - 1, 20)
        return min(timedelta(seconds=self._settings.check_s) * doubled, LONGEST_REST)

    def _oldest(self, scope: Scope) -> datetime:
        return self._store.readings.unconsolidated(scope, 1)[0].created_at

    def run(self) -> None:
        """Work until `stopping` is set."""
        while not self.stopping.is_set():
            try:
                self.look()
            except ZapomniError as error:
                _LOG.warning("consolidating paused: %s", error.message)
            self.stopping.wait(self._settings.check_s)


class _Past(NamedTuple):
    """What became of the latest consolidations: when one last came to something, and how many failed since."""

    done_at: datetime | None
    failed_at: datetime | None
    failures: int

    @classmethod
    def of(cls, runs: list[Run]) -> _Past:
        """Read it from the latest runs, newest first; batches that an agent has still in hand are passed over."""
        ended = [run for run in runs if run.verb == VERB and run.finished_at is not None]
        failures = next((no for no, run in enumerate(ended) if not _failed(run)), len(ended))
        done_at = ended[failures].finished_at if failures < len(ended) else None
        return cls(done_at, ended[0].finished_at if failures else None, failures)


def _failed(run: Run) -> bool:
    """Tell whether a run came to nothing: no usable reply, or one whose every insight was refused."""
    return not run.detail.get("done")
