"""Mirrored folders in one SQLite file; `store.mirrors` says what each method promises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import msgspec

from zapomni.model import Scope, Trust
from zapomni.model.mirror import Agreed, KeptLine, Moves, Removed
from zapomni.record import stamp
from zapomni.store.mirrors import Standing
from zapomni.store.sqlite.connection import rows_of
from zapomni.store.sqlite.rows import dumps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from zapomni.clock import Clock
    from zapomni.store.sqlite.connection import Connections

_COLUMNS: Final = ("path", "memory_id", "sha256", "size", "modified_ns", "version", "links", "held", "problem", "clash")
_NONE: Final = "[]"
_OF_SOURCE: Final = "source_no = (SELECT no FROM sources WHERE id = ?)"
_AGREE: Final = (
    f"INSERT INTO mirrored (source_no, text, {', '.join(_COLUMNS)})"
    f" SELECT no, {', '.join('?' * (len(_COLUMNS) + 1))} FROM sources WHERE id = ?"
    " ON CONFLICT (source_no, path) DO UPDATE SET text = coalesce(excluded.text, text),"
    f" {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS)}"
)
_SHOWN: Final = tuple(trust.value for trust in (Trust.CONFIRMED, Trust.DISPUTED))
_STANDING: Final = (
    "SELECT m.id, m.version, m.deleted_at IS NOT NULL, m.trust IN (?3, ?4)"
    " AND (m.valid_from IS NULL OR m.valid_from <= ?5) AND (m.valid_until IS NULL OR m.valid_until > ?5)"
    " FROM memories m JOIN scopes s ON s.no = m.scope_no WHERE s.kind = ?1 AND s.name = ?2 ORDER BY m.no"
)


class SqliteMirrorWrites:
    """The writes of mirrored folders in an open transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def agree(self, source_id: str, agreed: Agreed, text: str | None) -> None:
        """Keep what was agreed of a file, in place of what stood of its path; `text` is what it says."""
        row = [getattr(agreed, name) for name in _COLUMNS]
        row[_COLUMNS.index("links")] = dumps(list(agreed.links)) if agreed.links else _NONE
        row[_COLUMNS.index("held")] = int(agreed.held)
        self._db.execute(_AGREE, (text, *row, source_id))

    def forget(self, source_id: str, paths: Iterable[str]) -> None:
        """Forget files."""
        self._db.executemany(
            f"DELETE FROM mirrored WHERE {_OF_SOURCE} AND path = ?", [(source_id, path) for path in paths]
        )

    def keep(self, source_id: str, removed: Removed) -> None:
        """Keep a file that is gone, in place of what was kept of its memory."""
        self._db.execute(
            "INSERT OR REPLACE INTO mirror_removed (source_no, memory_id, path, sha256, text)"
            " SELECT no, ?, ?, ?, ? FROM sources WHERE id = ?",
            (removed.memory_id, removed.path, removed.sha256, removed.text, source_id),
        )

    def let_go(self, source_id: str, memory_id: str) -> None:
        """Forget the gone file of a memory."""
        self._db.execute(f"DELETE FROM mirror_removed WHERE {_OF_SOURCE} AND memory_id = ?", (source_id, memory_id))

    def keep_lines(self, source_id: str, memory_id: str, lines: Sequence[KeptLine]) -> None:
        """Keep the lines of an index that go with a memory, in place of what was kept of it; none forget those."""
        self._db.execute(f"DELETE FROM mirror_lines WHERE {_OF_SOURCE} AND memory_id = ?", (source_id, memory_id))
        if lines:
            self._db.execute(
                "INSERT INTO mirror_lines (source_no, memory_id, lines) SELECT no, ?, ? FROM sources WHERE id = ?",
                (memory_id, msgspec.json.encode(lines).decode(), source_id),
            )

    def owe(self, source_id: str, step: int, moves: Moves) -> None:
        """Keep that the index does not yet say where these files went; moves of one step are all at once."""
        rows: list[tuple[object, ...]] = [(step, path, became, None, source_id) for path, became in moves.moved.items()]
        rows += [(step, path, None, memory_id, source_id) for path, memory_id in moves.gone.items()]
        self._db.executemany(
            "INSERT OR REPLACE INTO mirror_owed (source_no, step, path, became, memory_id)"
            " SELECT no, ?, ?, ?, ? FROM sources WHERE id = ?",
            rows,
        )

    def intend(self, source_id: str, step: int, marks: Mapping[str, str]) -> None:
        """Keep by which hash each page is known once it says what is owed up to a step, in place of what was kept."""
        self._db.execute(f"DELETE FROM mirror_pages WHERE {_OF_SOURCE}", (source_id,))
        self._db.executemany(
            "INSERT INTO mirror_pages (source_no, page, sha256, step) SELECT no, ?, ?, ? FROM sources WHERE id = ?",
            [(page, mark, step, source_id) for page, mark in marks.items()],
        )

    def pay(self, source_id: str, step: int) -> None:
        """Forget the steps that are owed up to this one, and what was intended: the index says so."""
        self._db.execute(f"DELETE FROM mirror_owed WHERE {_OF_SOURCE} AND step <= ?", (source_id, step))
        self._db.execute(f"DELETE FROM mirror_pages WHERE {_OF_SOURCE}", (source_id,))


class SqliteMirrors:
    """What one SQLite file holds of mirrored folders."""

    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._db = connections
        self._clock = clock

    def agreed(self, source_id: str) -> dict[str, Agreed]:
        """Return what was agreed of the files of a source, by path."""
        sql = f"SELECT {', '.join(_COLUMNS)} FROM mirrored WHERE {_OF_SOURCE} ORDER BY path"
        with self._db.reading() as db:
            return {row[0]: _agreed_of(row) for row in rows_of(db, sql, (source_id,))}

    def texts(self, source_id: str, paths: Iterable[str]) -> dict[str, str]:
        """Return what files said when they were agreed; those of erased memories are left out."""
        sql = (
            f"SELECT path, text FROM mirrored WHERE {_OF_SOURCE} AND text IS NOT NULL"
            " AND path IN (SELECT value FROM json_each(?))"
        )
        with self._db.reading() as db:
            return dict(rows_of(db, sql, (source_id, dumps(list(paths)))))

    def removed(self, source_id: str) -> dict[str, str]:
        """Return the SHA-256 of the files that are gone, by the ids of their memories."""
        with self._db.reading() as db:
            return dict(rows_of(db, f"SELECT memory_id, sha256 FROM mirror_removed WHERE {_OF_SOURCE}", (source_id,)))

    def removed_file(self, source_id: str, memory_id: str) -> Removed | None:
        """Return the gone file of a memory."""
        sql = f"SELECT path, sha256, text FROM mirror_removed WHERE {_OF_SOURCE} AND memory_id = ?"
        with self._db.reading() as db:
            for path, mark, text in rows_of(db, sql, (source_id, memory_id)):
                return Removed(path=path, memory_id=memory_id, sha256=mark, text=text)
        return None

    def kept_lines(self, source_id: str) -> dict[str, tuple[KeptLine, ...]]:
        """Return the lines of the index that went with their memories, by the ids of those."""
        with self._db.reading() as db:
            rows = rows_of(db, f"SELECT memory_id, lines FROM mirror_lines WHERE {_OF_SOURCE}", (source_id,))
        return {memory_id: _lines_of(lines) for memory_id, lines in rows}

    def returning_lines(self, source_id: str) -> dict[str, tuple[KeptLine, ...]]:
        """Return those of memories that have a file again, by its path."""
        sql = (
            "SELECT f.path, l.lines FROM mirror_lines l JOIN mirrored f USING (source_no, memory_id)"
            f" WHERE l.{_OF_SOURCE} AND f.problem IS NULL"
        )
        with self._db.reading() as db:
            rows = rows_of(db, sql, (source_id,))
        return {path: _lines_of(lines) for path, lines in rows}

    def intended(self, source_id: str) -> dict[str, tuple[int, str]]:
        """Return up to which step each page that was to be written says what is owed, and its hash then."""
        with self._db.reading() as db:
            rows = rows_of(db, f"SELECT page, step, sha256 FROM mirror_pages WHERE {_OF_SOURCE}", (source_id,))
        return {page: (step, mark) for page, step, mark in rows}

    def owed(self, source_id: str) -> dict[int, Moves]:
        """Return the steps that the index does not show yet, oldest first."""
        sql = f"SELECT step, path, became, memory_id FROM mirror_owed WHERE {_OF_SOURCE} ORDER BY step"
        with self._db.reading() as db:
            rows = rows_of(db, sql, (source_id,))
        return {
            step: Moves(
                moved={path: became for no, path, became, _ in rows if no == step and became is not None},
                gone={path: memory_id for no, path, became, memory_id in rows if no == step and became is None},
            )
            for step in dict.fromkeys(row[0] for row in rows)
        }

    def standing(self, scope: Scope) -> Mapping[str, Standing]:
        """Return every memory of a scope, deleted ones too, by id, oldest first."""
        values = (scope.kind.value, scope.name, *_SHOWN, stamp(self._clock()))
        with self._db.reading() as db:
            rows = rows_of(db, _STANDING, values)
        return {memory_id: Standing(version, bool(gone), bool(shown)) for memory_id, version, gone, shown in rows}

    def pulse(self, scope: Scope) -> object:
        """Return a value that is another once any memory of a scope is."""
        sql = (
            "SELECT count(*), sum(m.version), max(m.updated_at) FROM memories m JOIN scopes s ON s.no = m.scope_no"
            " WHERE s.kind = ? AND s.name = ?"
        )
        with self._db.reading() as db:
            return rows_of(db, sql, (scope.kind.value, scope.name))


def _lines_of(value: str) -> tuple[KeptLine, ...]:
    return msgspec.json.decode(value, type=tuple[KeptLine, ...])


def _agreed_of(row: tuple[Any, ...]) -> Agreed:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["links"] = tuple(json.loads(values["links"])) if values["links"] != _NONE else ()
    return Agreed(**values | {"held": bool(values["held"])})
