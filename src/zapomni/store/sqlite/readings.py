"""The reading memory in one SQLite file; `store.readings` says what each method promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.model import Origin, Trust
from zapomni.record import read_stamp, stamp
from zapomni.store.readings import EnrichJob, Reading, Span
from zapomni.store.sqlite.connection import column_of, rows_of, value_of
from zapomni.store.sqlite.rows import SELECT_MEMORY, memory_of, scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    import apsw

    from zapomni.model import Memory, Scope
    from zapomni.store.sqlite.connection import Connections

_SELECT: Final = (
    "SELECT r.id, o.kind, o.name, r.source, r.path, r.sha256, r.text, r.at, r.run"
    " FROM readings r JOIN scopes o ON o.no = r.scope_no"
)
_MEMORY: Final = "(SELECT no FROM memories WHERE id = ?)"
_WAITS: Final = (
    f"m.deleted_at IS NULL AND m.origin <> '{Origin.CONSOLIDATION.value}'"
    f" AND m.trust NOT IN ('{Trust.REJECTED.value}', '{Trust.SUPERSEDED.value}')"
    " AND NOT EXISTS (SELECT 1 FROM consolidated c WHERE c.memory_no = m.no)"
)


class SqliteReadingWrites:
    """The writes of the reading memory in an open transaction."""

    def __init__(self, db: apsw.Connection, scope_no: Callable[[Scope], int]) -> None:
        self._db = db
        self._scope_no = scope_no

    def keep(self, reading: Reading) -> None:
        """Keep a text."""
        self._db.execute(
            "INSERT INTO readings (id, scope_no, source, path, sha256, text, at, run) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(reading.id, self._scope_no(reading.scope), reading.source, reading.path, reading.sha256),
                *(reading.text, stamp(reading.at), reading.run),
            ),
        )

    def drop(self, reading_id: str) -> None:
        """Let go of a text with the spans in it; the memories stay."""
        self._db.execute("DELETE FROM readings WHERE id = ?", (reading_id,))

    def tie(self, memory_id: str, span: Span) -> None:
        """Say where in a reading a memory stands."""
        self._db.execute(
            'INSERT OR REPLACE INTO reading_spans (memory_no, reading_no, start, "end")'
            f" SELECT {_MEMORY}, no, ?, ? FROM readings WHERE id = ?",
            (memory_id, span.start, span.end, span.reading_id),
        )

    def await_enrichment(self, memory_id: str) -> None:
        """Have a model asked about a memory later; asked for twice it waits once."""
        self._db.execute(f"INSERT OR IGNORE INTO enrich_jobs (memory_no) VALUES ({_MEMORY})", (memory_id,))

    def enriched(self, memory_id: str) -> None:
        """Take a memory off the queue of those that wait for a model."""
        self._db.execute(f"DELETE FROM enrich_jobs WHERE memory_no = {_MEMORY}", (memory_id,))

    def postpone(self, memory_id: str, error: str, until: datetime) -> None:
        """Record a failed try and when to try again."""
        self._db.execute(
            f"UPDATE enrich_jobs SET attempts = attempts + 1, error = ?, not_before = ? WHERE memory_no = {_MEMORY}",
            (error, stamp(until), memory_id),
        )

    def mark_consolidated(self, memory_ids: Iterable[str], run: str, at: datetime) -> None:
        """Say that a run has looked at these memories."""
        self._db.executemany(
            f"INSERT OR REPLACE INTO consolidated (memory_no, run, at) VALUES ({_MEMORY}, ?, ?)",
            [(memory_id, run, stamp(at)) for memory_id in memory_ids],
        )

    def unmark_consolidated(self, *, run: str | None = None, memory_ids: Sequence[str] = ()) -> None:
        """Let memories wait for the next consolidation again: all of a run, or these."""
        if run is not None:
            self._db.execute("DELETE FROM consolidated WHERE run = ?", (run,))
        self._db.executemany(f"DELETE FROM consolidated WHERE memory_no = {_MEMORY}", [(one,) for one in memory_ids])


class SqliteReadings:
    """What one SQLite file holds for the reading memory."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def reading(self, reading_id: str) -> Reading | None:
        """Return one text."""
        return next(iter(self._readings("r.id = ?", (reading_id,))), None)

    def readings_of(self, scope: Scope, source: str) -> list[Reading]:
        """Return the texts of a source, oldest first."""
        condition = "o.kind = ? AND o.name = ? AND r.source = ? ORDER BY r.no"
        return self._readings(condition, (scope.kind.value, scope.name, source))

    def spans(self, memory_id: str) -> list[Span]:
        """Return where a memory stands in what was read."""
        sql = (
            'SELECT r.id, s.start, s."end" FROM reading_spans s JOIN readings r ON r.no = s.reading_no'
            f" WHERE s.memory_no = {_MEMORY} ORDER BY r.no"
        )
        with self._db.reading() as db:
            return [Span(*row) for row in rows_of(db, sql, (memory_id,))]

    def memories_of(self, reading_id: str) -> list[str]:
        """Return the ids of the undeleted memories that stand in a reading."""
        sql = (
            "SELECT m.id FROM reading_spans s JOIN readings r ON r.no = s.reading_no"
            " JOIN memories m ON m.no = s.memory_no WHERE r.id = ? AND m.deleted_at IS NULL ORDER BY s.start, m.no"
        )
        with self._db.reading() as db:
            return column_of(db, sql, (reading_id,))

    def enrich_jobs(self, limit: int, now: datetime) -> list[EnrichJob]:
        """Return what waits for a model and is due, oldest first."""
        sql = SELECT_MEMORY.replace("SELECT m.no", "SELECT j.attempts, j.error, m.no", 1) + (
            " JOIN enrich_jobs j ON j.memory_no = m.no WHERE m.deleted_at IS NULL"
            " AND (j.not_before IS NULL OR j.not_before <= ?) ORDER BY m.no LIMIT ?"
        )
        with self._db.reading() as db:
            rows = rows_of(db, sql, (stamp(now), limit))
        return [EnrichJob(memory_of(row[2:]), row[0], row[1]) for row in rows]

    def enrich_waiting(self) -> int:
        """Count what waits for a model."""
        sql = "SELECT count(*) FROM enrich_jobs j JOIN memories m ON m.no = j.memory_no WHERE m.deleted_at IS NULL"
        with self._db.reading() as db:
            return int(value_of(db, sql))

    def unread(self, scope: Scope, limit: int) -> list[Memory]:
        """Return what waits for a model in a scope, due or not, oldest first."""
        sql = (
            f"{SELECT_MEMORY} JOIN enrich_jobs j ON j.memory_no = m.no"
            " WHERE s.kind = ? AND s.name = ? AND m.deleted_at IS NULL ORDER BY m.no LIMIT ?"
        )
        with self._db.reading() as db:
            return [memory_of(row) for row in rows_of(db, sql, (scope.kind.value, scope.name, limit))]

    def unconsolidated(self, scope: Scope, limit: int) -> list[Memory]:
        """Return the believed, undeleted memories of a scope that no consolidation has looked at, oldest first."""
        sql = f"{SELECT_MEMORY} WHERE s.kind = ? AND s.name = ? AND {_WAITS} ORDER BY m.created_at, m.no LIMIT ?"
        with self._db.reading() as db:
            return [memory_of(row) for row in rows_of(db, sql, (scope.kind.value, scope.name, limit))]

    def unconsolidated_counts(self) -> dict[Scope, int]:
        """Return how many memories wait for a consolidation, by scope; those without any are left out."""
        sql = (
            "SELECT s.kind, s.name, count(*) FROM memories m JOIN scopes s ON s.no = m.scope_no"
            f" WHERE {_WAITS} GROUP BY s.no ORDER BY s.no"
        )
        with self._db.reading() as db:
            return {scope_of(kind, name): count for kind, name, count in rows_of(db, sql)}

    def _readings(self, condition: str, values: tuple[Any, ...]) -> list[Reading]:
        with self._db.reading() as db:
            rows = rows_of(db, f"{_SELECT} WHERE {condition}", values)
        return [
            Reading(
                id=reading_id,
                scope=scope_of(kind, name),
                source=source,
                path=path,
                sha256=sha256,
                text=text,
                at=read_stamp(at),
                run=run,
            )
            for reading_id, kind, name, source, path, sha256, text, at, run in rows
        ]
