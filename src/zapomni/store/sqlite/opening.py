"""Opening a store file: making it, knowing it for ours, bringing it to the newest schema."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from zapomni.errors import StoreDamaged, Unavailable
from zapomni.record import stamp
from zapomni.store.sqlite.connection import clear_log, connect, rows_of, value_of
from zapomni.store.sqlite.faults import translated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zapomni.clock import Clock
    from zapomni.store.migrate import Change

APPLICATION: Final = 0x5A504D4E
"""The application id in the file's header: ZPMN."""
SCHEMA: Final = 13
"""The newest schema: the number of files in `schema`, which opening does not read when it has no need to."""
_MAGIC: Final = b"SQLite format 3\0"
_BEGIN: Final = "Bring a backup back with `zapomni restore FILE`, or remove the file to begin anew"
_LEFT: Final = ("-wal", "-shm")
PAGE: Final = 8192
"""Bytes of a page: five vectors of 384 numbers fit one, and a scan of all takes two thirds of the time."""


def open_file(path: Path, busy_timeout_ms: int, clock: Clock, changes: Sequence[Change] | None = None) -> bool:
    """Make the store at `path` ready for connections; True means that it can only be read as `immutable`.

    A current store costs two small reads. Any number of processes may open a new one at once: it stands at its
    path when it is whole, so that a file without a byte is one that has lost them.
    Raises `StoreDamaged` for a file that is empty, not ours or newer than us, and changes nothing then.
    """
    try:
        with translated(path):
            if not path.exists():
                _make_folders(path.parent)
                with _alone(path):
                    _create(path, busy_timeout_ms, clock, changes)
            _refuse_other_files(path)
            return _open_existing(path, busy_timeout_ms, clock, changes)
    except OSError as error:
        why = error.strerror or "it failed"
        raise Unavailable(f"the store {path} cannot be opened: {why}", remedy="Look at its folder and disk") from error


def _open_existing(path: Path, busy_timeout_ms: int, clock: Clock, changes: Sequence[Change] | None) -> bool:
    newest = SCHEMA if changes is None else len(changes)
    db, immutable = _connect_somehow(path, busy_timeout_ms)
    try:
        if value_of(db, "PRAGMA user_version") != newest or not _is_ours(db):
            _refuse_foreign(db, path)
            _refuse_older(path, immutable)
            with _alone(path):
                _bring_up(db, path, clock, changes)
    finally:
        db.close()
    return immutable


def _bring_up(db: apsw.Connection, path: Path, clock: Clock, changes: Sequence[Change] | None) -> None:
    if value_of(db, "PRAGMA journal_mode") != "wal":
        db.execute(f"PRAGMA page_size = {PAGE}; PRAGMA journal_mode = WAL")
    if _apply(db, path, clock, changes):
        # The main file alone must never look like an older store.
        clear_log(db)


def _apply(db: apsw.Connection, path: Path, clock: Clock, changes: Sequence[Change] | None) -> bool:
    """Apply the changes that the file lacks; tell whether there were any."""
    from zapomni.store.migrate import migrate, read_changes

    db.execute("PRAGMA foreign_keys = OFF")  # a change may have to build a table anew
    found = read_changes(Path(__file__).parent / "schema") if changes is None else changes
    return bool(migrate(_Ledger(db, path, clock), found))


class _Ledger:
    """The migrations' view of an open file."""

    def __init__(self, db: apsw.Connection, path: Path, clock: Clock) -> None:
        self._db, self._path, self._clock = db, path, clock

    def recorded(self) -> Mapping[int, str]:
        if not _has_table(self._db, "migrations"):
            return {}
        return dict(rows_of(self._db, "SELECT no, hash FROM migrations ORDER BY no"))

    def back_up(self, no: int) -> None:
        from zapomni.store.sqlite.backup import copy

        if _has_table(self._db, "memories") and value_of(self._db, "SELECT 1 FROM revisions LIMIT 1"):
            copy(self._db, self._path.with_name(f"{self._path.name}.before-{no:04}"))

    def apply(self, change: Change) -> None:
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            if change.no not in self.recorded():
                db.execute(change.sql)
                db.execute(
                    "CREATE TABLE IF NOT EXISTS migrations"
                    " (no INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, at TEXT NOT NULL) STRICT"
                )
                values = (change.no, change.name, change.hash, stamp(self._clock()))
                db.execute("INSERT INTO migrations VALUES (?, ?, ?, ?)", values)
                db.execute(f"PRAGMA user_version = {change.no}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def _refuse_other_files(path: Path) -> None:
    """Raise `StoreDamaged` for a file that is no database: SQLite would take a short one for empty."""
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
    if not head:
        raise StoreDamaged(f"the store {path} is empty: what it held is lost", remedy=_BEGIN)
    if head != _MAGIC:
        raise StoreDamaged(f"{path} is not a zapomni store", remedy="Nothing was changed; move the file away")


def _is_ours(db: apsw.Connection) -> bool:
    return bool(value_of(db, "PRAGMA application_id") == APPLICATION)


def _refuse_foreign(db: apsw.Connection, path: Path) -> None:
    """Raise `StoreDamaged` for a database of somebody else; one without a table may be ours just being made."""
    if not _is_ours(db) and value_of(db, "SELECT 1 FROM sqlite_schema LIMIT 1"):
        raise StoreDamaged(
            f"{path} is a database of another program", remedy="Nothing was changed; name another file or move it away"
        )


def _refuse_older(path: Path, immutable: bool) -> None:  # noqa: FBT001 - what `_connect_somehow` found
    """Raise `Unavailable` for a store of an earlier release in a place where it cannot be brought to our schema."""
    if immutable:
        why = f"the store {path} is of an earlier release and lies where it cannot be written"
        raise Unavailable(why, remedy="Open it once as one who may write it, or copy it and name the copy with --home")


def _has_table(db: apsw.Connection, name: str) -> bool:
    return value_of(db, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,)) is not None


def _connect_somehow(path: Path, busy_timeout_ms: int) -> tuple[apsw.Connection, bool]:
    """Connect, in a read-only folder as to a file that nobody writes; tell which of the two."""
    try:
        db = connect(path, busy_timeout_ms)
        value_of(db, "PRAGMA user_version")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        log = path.with_name(path.name + "-wal")
        if not path.exists() or (log.exists() and log.stat().st_size):
            raise
        return connect(path, busy_timeout_ms, immutable=True), True
    return db, False


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other processes from making or changing the store meanwhile."""
    from filelock import FileLock

    with FileLock(f"{path}.lock", mode=0o600):
        yield


def _make_folders(folder: Path) -> None:
    if not folder.exists():
        _make_folders(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _create(path: Path, busy_timeout_ms: int, clock: Clock, changes: Sequence[Change] | None) -> None:
    """Make a new store aside, which only its owner may read, and put it in its place whole.

    SQLite gives the files beside it the same mode. Those of a store that was removed are cleared away first:
    a process that still has it open would share them with the new one.
    """
    if path.exists():
        return  # another process was first
    from zapomni.store.sqlite.backup import made_whole

    for end in _LEFT:
        path.with_name(path.name + end).unlink(missing_ok=True)
    with made_whole(path) as part:
        db = connect(part, busy_timeout_ms)
        try:
            # It is flushed as a whole: no log, which would need as much room again.
            db.execute(f"PRAGMA page_size = {PAGE}; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
            _apply(db, part, clock, changes)
            db.execute("PRAGMA journal_mode = WAL")
        finally:
            db.close()
