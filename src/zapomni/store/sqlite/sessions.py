"""The sessions of agents in one SQLite file; `store.sessions` says what each method promises."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from zapomni.model import Kind
from zapomni.record import read_stamp, stamp
from zapomni.store.sessions import AWAY, Opening, Share
from zapomni.store.sqlite.condition import TIMELINE, condition
from zapomni.store.sqlite.connection import rows_of, value_of
from zapomni.store.sqlite.rows import SELECT_MEMORY, dumps, memory_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    import apsw

    from zapomni.clock import Clock
    from zapomni.model import Filter, Memory
    from zapomni.store.sqlite.condition import Condition
    from zapomni.store.sqlite.connection import Connections

TOPICS_OF: Final = 500
"""The latest memories whose tags are the topics: counting those of all takes longer than everything else."""
_TOPICS: Final = 12
_SORTS: Final = {
    "pinned": ("memories_pinned", "m.pinned = 1", "m.importance DESC, m.updated_at DESC"),
    "project": ("memories_project", "m.about = 'project' AND m.pinned = 0 AND m.origin <> 'session'", None),
    "working": ("memories_working", "m.kind = 'working' AND m.pinned = 0 AND m.origin <> 'session'", None),
    "captured": ("memories_captured", "m.origin = 'session' AND m.pinned = 0 AND m.kind <> 'episodic'", None),
    "newest": ("memories_timeline", "m.pinned = 0 AND m.origin <> 'session'", None),
}
"""Of each sort: the index that holds it, what it is, and its order, where that is not the latest first."""
_LESSONS: Final = "SELECT EXISTS (SELECT 1 FROM rules) OR EXISTS (SELECT 1 FROM proposals WHERE state = 'rejected')"
_LATEST: Final = "m.created_at DESC, m.no DESC"


class SqliteSessions:
    """What one SQLite file holds for the sessions of agents."""

    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._db = connections
        self._clock = clock

    def opening(self, where: Filter, most: int) -> Opening:
        """Return what a session begins with, at most `most` memories of each sort."""
        seen = condition(where, self._clock())
        with self._db.reading() as db:
            shares = {name: _share(db, seen, *sort, most) for name, sort in _SORTS.items()}
            latest = f"SELECT m.no FROM {TIMELINE} WHERE {seen.sql} ORDER BY {_LATEST} LIMIT {TOPICS_OF}"
            topics = (
                f"SELECT min(t.label), count(*) FROM tags t WHERE t.memory_no IN ({latest})"
                f" GROUP BY t.fold ORDER BY 2 DESC, 1 LIMIT {_TOPICS}"
            )
            return Opening(
                **shares,
                lessons=bool(value_of(db, _LESSONS)),
                kinds=_kinds(db, seen),
                topics=dict(rows_of(db, topics, seen.values)),
            )

    def marks(self, session: str) -> dict[str, datetime]:
        """Return the marks of a session with the time at which each was made last."""
        with self._db.reading() as db:
            rows = rows_of(db, "SELECT mark, at FROM session_marks WHERE session = ?", (session,))
        return {mark: read_stamp(at) for mark, at in rows}

    def mark(self, session: str, marks: Iterable[str], at: datetime) -> None:
        """Make marks, or make them anew with this time."""
        rows = [(session, mark, stamp(at)) for mark in marks]
        if rows:
            with self._lightly() as db:
                db.executemany("INSERT OR REPLACE INTO session_marks (session, mark, at) VALUES (?, ?, ?)", rows)

    def unmark(self, session: str, *, keep: Iterable[str] = ()) -> None:
        """Take away the marks of a session but those to keep."""
        sql = "DELETE FROM session_marks WHERE session = ? AND mark NOT IN (SELECT value FROM json_each(?))"
        with self._lightly() as db:
            db.execute(sql, (session, dumps(list(keep))))

    def forget(self, before: datetime) -> None:
        """Take away the marks of every session that are older, but those that begin with `AWAY`."""
        with self._lightly() as db:
            db.execute("DELETE FROM session_marks WHERE at < ? AND mark NOT LIKE ? || '%'", (stamp(before), AWAY))

    @contextmanager
    def _lightly(self) -> Iterator[apsw.Connection]:
        """Write without waiting for the disk: a mark that a power cut takes is a memory shown twice, and no harm."""
        own = self._db.mine()
        own.pragma("synchronous", "NORMAL")
        try:
            with self._db.transaction() as db:
                yield db
        finally:
            own.pragma("synchronous", "FULL")

    def of_source(self, source: str, where: Filter) -> list[Memory]:
        """Return the memories of a source, oldest first."""
        seen = condition(where, self._clock())
        sql = f"{SELECT_MEMORY} WHERE m.source = :of_source AND {seen.sql} ORDER BY m.created_at, m.no"
        with self._db.reading() as db:
            return [memory_of(row) for row in rows_of(db, sql, {**seen.values, "of_source": source})]


def _kinds(db: apsw.Connection, seen: Condition) -> dict[str, int]:
    """Count each kind, the most first; in one pass without sorting, which grouping would take as long again for."""
    counts = ", ".join(f"count(*) FILTER (WHERE m.kind = '{kind}')" for kind in Kind)
    (row,) = rows_of(db, f"SELECT {counts} FROM {TIMELINE} WHERE {seen.sql}", seen.values)
    found = [(kind.value, count) for kind, count in zip(Kind, row, strict=True) if count]
    return dict(sorted(found, key=lambda one: (-one[1], one[0])))


def _share(db: apsw.Connection, seen: Condition, index: str, what: str, order: str | None, most: int) -> Share:
    rows = f"memories m INDEXED BY {index}"
    where = f"WHERE {what} AND {seen.sql}"
    sql = f"{SELECT_MEMORY.replace('memories m', rows)} {where} ORDER BY {order or _LATEST} LIMIT {most}"
    memories = tuple(memory_of(row) for row in rows_of(db, sql, seen.values))
    if len(memories) < most or index == "memories_timeline":
        return Share(memories, len(memories))
    return Share(memories, int(value_of(db, f"SELECT count(*) FROM {rows} {where}", seen.values)))
