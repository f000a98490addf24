"""Keeping ingested sources in step while a server runs, and asking the model about what waits for it."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from zapomni.errors import ZapomniError
from zapomni.model.document import SourceMode
from zapomni.services.background import Background
from zapomni.services.reading.ingest_source import is_due

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from zapomni.services.context import Context

    Work = Callable[..., str | None]

LOCK: Final = "ingest"
"""The lock of the one server that looks, of several over one store."""
PAUSE: Final = timedelta(minutes=15)
"""How long nothing is enriched after the model was away or the day's budget spent."""
_LOG = logging.getLogger(__name__)


class IngestWatcher(Background):
    """Looks at ingested sources; begins with a whole scan of every one.

    Every `quick_s` it looks for new and gone paths, every `full_s`, and once at first, it has every file's SHA-256
    compared. `scan` brings the source of an id in step, with a second word `--quick` by paths alone; `enrich` works
    off what waits for a model, None where none is set. Both do it in another process and return why they could not.
    """

    name = "zapomni-ingest"

    def __init__(
        self,
        context: Context,
        scan: Work,
        *,
        enrich: Work | None = None,
        quick_s: float = 60.0,
        full_s: float = 1_800.0,
    ) -> None:
        super().__init__()
        self._context = context
        self._scan = scan
        self._enrich = enrich
        self._quick_s = quick_s
        self._full = timedelta(seconds=full_s)
        self._compared: dict[str, datetime] = {}
        self._enrich_from: datetime | None = None

    def look(self) -> None:
        """Have done what is due now."""
        for source in self._context.store.documents.sources():
            if source.mode is not SourceMode.INGEST or self.stopping.is_set():
                continue
            now = self._context.clock()
            if now - self._compared.get(source.id, now - self._full) >= self._full:
                self._compared[source.id] = now
                self._warn(self._scan(source.id))
            elif is_due(self._context, source):
                self._warn(self._scan(source.id, "--quick"))
        self._read_on()

    def _read_on(self) -> None:
        """Have the model asked about what waits for it and is due."""
        now = self._context.clock()
        if self._enrich is None or self.stopping.is_set() or (self._enrich_from and now < self._enrich_from):
            return
        if self._context.store.readings.enrich_jobs(1, now):
            reason = self._enrich()
            self._enrich_from = now + PAUSE if reason else None
            self._warn(reason)

    def run(self) -> None:
        """Work until `stopping` is set."""
        while not self.stopping.is_set():
            try:
                with self._context.store.documents.worker_lock(LOCK) as mine:
                    while mine and not self.stopping.is_set():
                        self.look()
                        self.stopping.wait(self._quick_s)
            except ZapomniError as error:
                _LOG.warning("looking at ingested sources paused: %s", error.message)
            self.stopping.wait(self._quick_s)

    @staticmethod
    def _warn(reason: str | None) -> None:
        if reason:
            _LOG.warning("ingesting stopped: %s", reason)
