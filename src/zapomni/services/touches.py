"""Counting readings without making a reading wait for a write."""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from zapomni.model import Scope
    from zapomni.store.base import Store


class Touches:
    """Readings since the last `flush`; a process that is killed loses at most these counts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._ids: list[str] = []
        self._asked: Counter[Scope] = Counter()
        self._at: datetime | None = None

    def add(self, ids: Iterable[str], at: datetime) -> None:
        """Note that these memories were read on purpose; sweeping listings are not counted (peers.md, 4)."""
        with self._lock:
            self._ids.extend(ids)
            self._at = at

    def asked(self, scopes: Iterable[Scope], at: datetime) -> None:
        """Note a recall that saw these scopes; misses are held against their number."""
        with self._lock:
            self._asked.update(scopes)
            self._at = at

    def flush(self) -> None:
        """Write the counts; does nothing when there is nothing to write."""
        with self._lock:
            ids, asked, at = self._ids, self._asked, self._at
            self._ids, self._asked = [], Counter()
        if (ids or asked) and at is not None:
            self._store.touch(ids, at, asked)
