"""Lessons in one SQLite file; `store.lessons` says what each method promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.record import read_stamp, stamp
from zapomni.store.lessons import Rule
from zapomni.store.sqlite.connection import column_of, rows_of
from zapomni.store.sqlite.rows import IN_SCOPES, dumps, listed_scopes, scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    import apsw

    from zapomni.model import Scope
    from zapomni.store.sqlite.connection import Connections

_ACKNOWLEDGED: Final = (
    "SELECT a.item FROM acknowledged a JOIN scopes o ON o.no = a.scope_no WHERE o.kind = ?2 AND o.name = ?3"
)
"""What the reader of the second and third parameter has acknowledged."""


class SqliteLessonWrites:
    """The writes of lessons in an open transaction."""

    def __init__(self, db: apsw.Connection, scope_no: Callable[[Scope], int]) -> None:
        self._db = db
        self._scope_no = scope_no

    def add_rule(self, rule: Rule) -> None:
        """Say that a memory is a rule; a second time changes nothing."""
        self._db.execute(
            "INSERT OR IGNORE INTO rules (memory_no, from_scope_no, at) SELECT no, ?, ? FROM memories WHERE id = ?",
            (self._scope_no(rule.raised_from), stamp(rule.at), rule.memory_id),
        )

    def acknowledge(self, reader: Scope, items: Iterable[str], at: datetime) -> None:
        """Keep that a reader has taken note of rules or rejected proposals, by their ids; once is enough."""
        no, when = self._scope_no(reader), stamp(at)
        self._db.executemany(
            "INSERT OR IGNORE INTO acknowledged (scope_no, item, at) VALUES (?, ?, ?)",
            [(no, item, when) for item in items],
        )


class SqliteLessons:
    """What one SQLite file holds of lessons."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def rules(self, scopes: Sequence[Scope], reader: Scope) -> list[Rule]:
        """Return the rules of some scopes that a reader has neither acknowledged nor raised itself, oldest first."""
        sql = (
            "SELECT m.id, f.kind, f.name, r.at FROM rules r JOIN memories m ON m.no = r.memory_no"
            " JOIN scopes s ON s.no = m.scope_no JOIN scopes f ON f.no = r.from_scope_no"
            " WHERE m.deleted_at IS NULL AND NOT (f.kind = ?2 AND f.name = ?3)"
            f" AND {IN_SCOPES} AND m.id NOT IN ({_ACKNOWLEDGED}) ORDER BY r.at, m.no"
        )
        with self._db.reading() as db:
            rows = rows_of(db, sql, (listed_scopes(scopes), reader.kind.value, reader.name))
        return [Rule(memory_id, scope_of(kind, name), read_stamp(at)) for memory_id, kind, name, at in rows]

    def acknowledged(self, reader: Scope, items: Sequence[str]) -> set[str]:
        """Return which of these ids a reader has acknowledged."""
        sql = f"SELECT value FROM json_each(?1) WHERE value IN ({_ACKNOWLEDGED})"
        with self._db.reading() as db:
            return set(column_of(db, sql, (dumps(list(items)), reader.kind.value, reader.name)))

    def acknowledged_from(self, reader: Scope, prefix: str) -> list[str]:
        """Return the ids that begin with `prefix` and that a reader has acknowledged; an exact id alone."""
        sql = f"SELECT item FROM ({_ACKNOWLEDGED}) WHERE substr(item, 1, length(?1)) = ?1 ORDER BY item"
        with self._db.reading() as db:
            found = column_of(db, sql, (prefix, reader.kind.value, reader.name))
        return [prefix] if prefix in found else found
