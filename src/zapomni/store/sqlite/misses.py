"""Misses in one SQLite file; `store.misses` says what each method promises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from zapomni.record import read_stamp, stamp
from zapomni.store.sqlite.connection import rows_of, value_of
from zapomni.store.sqlite.rows import IN_SCOPES, dumps, listed_scopes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import apsw

    from zapomni.model import Scope
    from zapomni.model.miss import Miss
    from zapomni.store.sqlite.connection import Connections

_DAY = len("2026-11-30")


def count_recalls(db: apsw.Connection, asked: Mapping[Scope, int], at: str) -> None:
    """Add recalls of the day of a stamp to those of some scopes; a scope that was never written to has none."""
    db.executemany(
        "INSERT INTO recalls (day, scope_no, count) SELECT ?, no, ? FROM scopes WHERE kind = ? AND name = ?"
        " ON CONFLICT (day, scope_no) DO UPDATE SET count = count + excluded.count",
        [(at[:_DAY], count, scope.kind.value, scope.name) for scope, count in asked.items()],
    )


class SqliteMissWrites:
    """The writes of misses in an open transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add(self, miss: Miss) -> None:
        """Keep a miss; it goes when its memory is erased."""
        self._db.execute(
            "INSERT INTO misses (at, query, memory_no, found, actor) SELECT ?, ?, no, ?, ? FROM memories WHERE id = ?",
            (stamp(miss.at), miss.query, dumps(list(miss.found)), miss.actor, miss.expected),
        )


class SqliteMisses:
    """What one SQLite file holds of misses."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def listed(self, scopes: Sequence[Scope], limit: int) -> list[Miss]:
        """Return the latest misses whose expected memory is in some scopes, newest first."""
        from zapomni.model.miss import Miss

        sql = (
            "SELECT x.at, x.query, m.id, x.found, x.actor FROM misses x JOIN memories m ON m.no = x.memory_no"
            " JOIN scopes s ON s.no = m.scope_no"
            f" WHERE {IN_SCOPES} ORDER BY x.no DESC LIMIT ?2"
        )
        with self._db.reading() as db:
            rows = rows_of(db, sql, (listed_scopes(scopes), limit))
        return [
            Miss(at=read_stamp(at), query=query, expected=expected, found=tuple(json.loads(found)), actor=actor)
            for at, query, expected, found, actor in rows
        ]

    def missed(self, scope: Scope, since: datetime, until: datetime) -> int:
        """Count the misses of a scope from `since` to before `until`."""
        sql = (
            "SELECT count(*) FROM misses x JOIN memories m ON m.no = x.memory_no JOIN scopes s ON s.no = m.scope_no"
            " WHERE s.kind = ? AND s.name = ? AND x.at >= ? AND x.at < ?"
        )
        with self._db.reading() as db:
            return int(value_of(db, sql, (scope.kind.value, scope.name, stamp(since), stamp(until))))

    def asked(self, scope: Scope, since: datetime, until: datetime) -> int:
        """Count the recalls that saw a scope, on the days in UTC from that of `since` to before that of `until`."""
        sql = (
            "SELECT coalesce(sum(r.count), 0) FROM recalls r JOIN scopes s ON s.no = r.scope_no"
            " WHERE s.kind = ? AND s.name = ? AND r.day >= ? AND r.day < ?"
        )
        days = (stamp(since)[:_DAY], stamp(until)[:_DAY])
        with self._db.reading() as db:
            return int(value_of(db, sql, (scope.kind.value, scope.name, *days)))
