"""A connection with nothing around it: what benchmarks compare the store with."""

from __future__ import annotations

import apsw


def plain_connection(path: str = ":memory:") -> apsw.Connection:
    """Open or make a database with write-ahead log and SQLite's own settings."""
    db = apsw.Connection(path)
    db.execute("PRAGMA journal_mode = WAL")
    return db
