"""The store in one SQLite file, through apsw: the only place that knows SQL."""

from __future__ import annotations

from zapomni.store.sqlite.store import SqliteStore, open_sqlite

__all__ = ["SqliteStore", "open_sqlite"]
