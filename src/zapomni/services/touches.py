"""Counting readings without making a reading wait for a write."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from zapomni.store.base import Store


class Touches:
    """Readings since the last `flush`; a process that is killed loses at most these counts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._ids: list[str] = []
        self._at: datetime | None = None

    def add(self, ids: Iterable[str], at: datetime) -> None:
        """Note that these memories were read on purpose; sweeping listings are not counted (peers.md, 4)."""
        with self._lock:
            self._ids.extend(ids)
            self._at = at

    def flush(self) -> None:
        """Write the counts; does nothing when there is nothing to write."""
        with self._lock:
            ids, at, self._ids = self._ids, self._at, []
        if ids and at is not None:
            self._store.touch(ids, at)
