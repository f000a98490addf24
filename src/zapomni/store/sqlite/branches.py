"""Branches of the memory in one SQLite file; `store.branches` says what each method promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.model.branch import Branch, Fork
from zapomni.record import read_stamp, stamp
from zapomni.store.sqlite.condition import OF_BRANCH
from zapomni.store.sqlite.connection import rows_of, value_of
from zapomni.store.sqlite.rows import SELECT_MEMORY, memory_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    import apsw

    from zapomni.model import Memory
    from zapomni.store.sqlite.connection import Connections

_OURS: Final = OF_BRANCH.format(scopes="s", name="?1")
_COPIES: Final = f"{SELECT_MEMORY} JOIN branch_bases b ON b.memory_no = m.no"
_FORKS: Final = (
    f"SELECT b.base_id, b.base_version, m.*"
    f" FROM ({SELECT_MEMORY} WHERE {_OURS} AND m.deleted_at IS NULL) m LEFT JOIN branch_bases b ON b.memory_no = m.no"
    " ORDER BY m.no"
)
_SELECT: Final = "SELECT name, created_at, actor, dropped_at FROM branches"


class SqliteBranchWrites:
    """Branches in an open transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def find(self, name: str) -> Branch | None:
        """Return a branch, dropped ones too."""
        return next(_branches(self._db, "WHERE name = ?", name), None)

    def open(self, branch: Branch) -> None:
        """Make a branch known; one that was dropped begins anew."""
        self._db.execute(
            "INSERT OR REPLACE INTO branches (name, created_at, actor) VALUES (?, ?, ?)",
            (branch.name, stamp(branch.created_at), branch.actor),
        )

    def drop(self, name: str, at: datetime, run: str) -> None:
        """Mark a branch as dropped by a run."""
        self._db.execute("UPDATE branches SET dropped_at = ?, dropped_run = ? WHERE name = ?", (stamp(at), run, name))

    def reopen(self, run: str) -> None:
        """Take back what a run dropped."""
        self._db.execute("UPDATE branches SET dropped_at = NULL, dropped_run = NULL WHERE dropped_run = ?", (run,))

    def tie(self, memory_id: str, base_id: str, version: int) -> None:
        """Say which memory one of a branch stands for, and from which version on."""
        self._db.execute(
            "INSERT OR REPLACE INTO branch_bases (memory_no, base_id, base_version)"
            " SELECT no, ?, ? FROM memories WHERE id = ?",
            (base_id, version, memory_id),
        )

    def copy_of(self, name: str, base_id: str, *, deleted: bool = False) -> Memory | None:
        """Return what stands for a memory on a branch; `deleted`: also one that was taken back or merged."""
        alive = "" if deleted else " AND m.deleted_at IS NULL"
        sql = f"{_COPIES} WHERE {_OURS} AND b.base_id = ?2{alive} ORDER BY m.deleted_at IS NOT NULL, m.no LIMIT 1"
        return next((memory_of(row) for row in self._db.execute(sql, (name, base_id))), None)

    def base_of(self, memory_id: str) -> str | None:
        """Return which memory one of a branch stands for, None for one that is new there."""
        sql = "SELECT b.base_id FROM branch_bases b JOIN memories m ON m.no = b.memory_no WHERE m.id = ?"
        base: str | None = value_of(self._db, sql, (memory_id,))
        return base

    def copies(self, base_id: str) -> list[Memory]:
        """Return what stands for a memory on any branch, deleted ones too."""
        return [memory_of(row) for row in rows_of(self._db, f"{_COPIES} WHERE b.base_id = ?", (base_id,))]

    def forks(self, name: str) -> list[Fork]:
        """Return every undeleted memory of a branch, in the order in which they came there."""
        return _forks(self._db, name)


class SqliteBranches:
    """What a store holds of branches."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def find(self, name: str) -> Branch | None:
        """Return a branch, dropped ones too."""
        with self._connections.reading() as db:
            return next(_branches(db, "WHERE name = ?", name), None)

    def all(self) -> list[Branch]:
        """Return every branch that is not dropped, by name."""
        with self._connections.reading() as db:
            return list(_branches(db, "WHERE dropped_at IS NULL ORDER BY name"))

    def forks(self, name: str) -> list[Fork]:
        """Return every undeleted memory of a branch, in the order in which they came there."""
        with self._connections.reading() as db:
            return _forks(db, name)

    def standing_for(self, name: str, prefix: str) -> list[str]:
        """Return the ids of what stands on a branch for memories whose ids begin so; an exact one alone."""
        sql = (
            "SELECT b.base_id, m.id FROM branch_bases b JOIN memories m ON m.no = b.memory_no"
            f" JOIN scopes s ON s.no = m.scope_no WHERE {_OURS} AND b.base_id >= ?2 AND b.base_id < ?3"
            " ORDER BY b.base_id, m.deleted_at IS NOT NULL"
        )
        with self._connections.reading() as db:
            found: dict[str, str] = {}
            for base, own in db.execute(sql, (name, prefix, prefix + "\U0010ffff")):
                found.setdefault(base, own)
        return [found[prefix]] if prefix in found else list(found.values())


def _branches(db: apsw.Connection, condition: str, *values: Any) -> Iterator[Branch]:
    for name, created_at, actor, dropped_at in db.execute(f"{_SELECT} {condition}", values):
        yield Branch(
            name=name,
            created_at=read_stamp(created_at),
            actor=actor,
            dropped_at=read_stamp(dropped_at) if dropped_at is not None else None,
        )


def _forks(db: apsw.Connection, name: str) -> list[Fork]:
    return [
        Fork(memory=memory_of(row[2:]), base_id=row[0], base_version=row[1]) for row in rows_of(db, _FORKS, (name,))
    ]
