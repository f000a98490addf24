"""Connections to one store file: one a thread, each set up alike, all of them closed together."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from threading import Lock, local
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from weakref import WeakSet

import apsw

from zapomni.errors import Unavailable
from zapomni.store.sqlite.faults import translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_SETTINGS: Final = """
PRAGMA foreign_keys = ON;
PRAGMA synchronous = FULL;
PRAGMA secure_delete = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -8000;
"""
"""`secure_delete` writes zeros over what is deleted: measured, it costs nothing here."""

_SCHEMA: Final = "PRAGMA user_version"
_OWED: Final = "SELECT value FROM meta WHERE name = 'log_owed'"
_OWE: Final = "INSERT OR IGNORE INTO meta (name, value) VALUES ('log_owed', 1)"
_PAID: Final = "DELETE FROM meta WHERE name = 'log_owed'"

Bindings = tuple[Any, ...] | dict[str, Any]
Kept = TypeVar("Kept")
_PUT_BACK: Final = "Put it back or bring a backup with `zapomni restore FILE`; this process goes on by itself then"

_MIXED: Final = (
    "Nothing was changed. Put the file before back and bring the other one with `zapomni restore FILE`; or, to give up"
    " what was in it, end every zapomni process and move {} and its -shm away"
)


def connect(path: Path, busy_timeout_ms: int, *, immutable: bool = False) -> apsw.Connection:
    """Open a connection to an existing file and set it up.

    `immutable` reads a file in a folder where no lock file can be made; nobody may write it meanwhile.
    """
    if immutable:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        db = apsw.Connection(f"{path.absolute().as_uri()}?immutable=1", flags=flags)
    else:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    # A plan that does not depend on bound values is made once and kept: small reads cost a tenth.
    db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    db.set_busy_timeout(busy_timeout_ms)
    db.execute(_SETTINGS).fetchall()  # a statement that answers stops the ones behind it until it is read
    return db


def value_of(db: apsw.Connection, sql: str, bindings: Bindings = ()) -> Any:
    """Return the first column of the first row, None when there is no row."""
    for row in db.execute(sql, bindings):
        return row[0]
    return None


def column_of(db: apsw.Connection, sql: str, bindings: Bindings = ()) -> list[Any]:
    """Return the first column of every row."""
    return [row[0] for row in db.execute(sql, bindings)]


def rows_of(db: apsw.Connection, sql: str, bindings: Bindings = ()) -> list[tuple[Any, ...]]:
    """Return every row."""
    return db.execute(sql, bindings).fetchall()


def clear_log(db: apsw.Connection) -> None:
    """Bring the log into the file once nobody reads; where that fails, the next write of any process owes it.

    Readers that outstay the busy timeout or a full disk can prevent that; what was committed is as safe in the log.
    """
    if not _checkpoint(db):
        with suppress(apsw.Error):
            db.execute(_OWE)


def _checkpoint(db: apsw.Connection) -> bool:
    """Tell whether all of the log went into the file."""
    try:
        logged, done = db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error:
        return False
    return logged == done


class Owing(Protocol):
    """What puts off a part of its writes."""

    def settle(self) -> None:
        """Write what was put off."""

    def finish(self) -> None:
        """Do what is left to do."""


class Connections:
    """The connections of one store; safe to use from any thread.

    Every transaction looks whether the file at the path is still the one that was opened. Of one that is gone
    nothing is read and into it nothing is written: `Unavailable`. One that was put in its place is opened in its
    stead, after `reopen` has looked at it as at any file and told whether it is `immutable`.
    """

    def __init__(
        self,
        path: Path,
        busy_timeout_ms: int,
        *,
        immutable: bool = False,
        reopen: Callable[[], bool] | None = None,
    ) -> None:
        self.path = path
        self._log_path = path.with_name(f"{path.name}-wal")
        self.immutable = immutable
        self._busy_timeout_ms = busy_timeout_ms
        self._reopen = reopen
        self._file = _identity(path)
        self._before: tuple[int, int] | None = None
        self._log: tuple[int, int] | None = None
        self._open_one: apsw.Connection | None = None  # while it is open, no other file is given its journal's number
        self._kept: dict[object, Any] = {}
        self._mine = local()
        self._all: WeakSet[apsw.Connection] = WeakSet()  # a thread's connection closes with its thread
        self._lock = Lock()
        self._closed = False

    def mine(self) -> apsw.Connection:
        """Return the connection of the current thread.

        Raises `Unavailable` once the store is closed, and while there is no file at its path.
        """
        db: apsw.Connection | None = getattr(self._mine, "db", None)
        if db is None or self._closed:
            return self._open()
        if not db.in_transaction and (found := _identity(self.path)) != self._mine.file:
            if found is not None:
                self._refuse_mixed()
            db.close()  # what it sees, nobody else does
            self._mine.db = None
            return self._open()
        return db

    def keep(self, make: Callable[[], Kept]) -> Kept:
        """Return what this process keeps in memory of the file that this thread has open, made at first."""
        self.mine()
        key = (make, self._mine.file)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            kept: Kept = self._kept[key]
            return kept

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Read one state of the store; inside a write transaction of the same thread, that one's."""
        with translated(self.path):
            db = self.mine()
            if db.in_transaction:
                self._settle()
                yield db
                return
            db.execute("BEGIN")
            try:
                yield db
            finally:
                if db.in_transaction:  # a fault may have ended it
                    db.execute("ROLLBACK")  # as good as COMMIT for a reading, and it succeeds in a damaged file too

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Write in one transaction, which an error takes back; everybody's `generation` grows."""
        with self.transaction() as db:
            yield db
            db.execute("UPDATE meta SET value = value + 1 WHERE name = 'generation'")
            owed = value_of(db, _OWED)
        if owed:
            self._pay()

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """Write in one transaction that nobody needs to notice."""
        with translated(self.path):
            db = self.mine()
            db.execute("BEGIN IMMEDIATE")
            try:
                self._refuse_newer(db)
                yield db
                if self._mine.owing is not None:
                    self._mine.owing.finish()
                self._refuse_ghost()
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # a full disk has taken it back already
                    db.execute("ROLLBACK")
                raise
            finally:
                self._mine.owing = None

    def owe(self, owing: Owing) -> None:
        """Have this settled before the transaction of this thread is read, and finished before it is committed."""
        self._mine.owing = owing

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Let this thread's connection give up at once when the store is busy."""
        db = self.mine()
        db.set_busy_timeout(0)
        try:
            yield
        finally:
            db.set_busy_timeout(self._busy_timeout_ms)

    def clear_log(self) -> None:
        """Bring the log into the file, as `clear_log` does, in half of the time that others wait to write."""
        db = self.mine()
        db.set_busy_timeout(self._busy_timeout_ms // 2)  # nobody can write meanwhile
        try:
            clear_log(db)
        finally:
            db.set_busy_timeout(self._busy_timeout_ms)

    def close(self) -> None:
        """Close every connection, those of other threads too."""
        with self._lock:
            self._closed = True
            for db in list(self._all):
                with suppress(apsw.ThreadingViolationError, apsw.ConnectionClosedError):
                    db.close()  # one that is in use just now closes with its thread

    def _pay(self) -> None:
        """Clear the log that could not be cleared, unless a reader still is there: he may stay for many writes."""
        with self.impatient():
            db = self.mine()
            if _checkpoint(db):
                with suppress(apsw.Error):
                    db.execute(_PAID)

    def _settle(self) -> None:
        if self._mine.owing is not None:
            self._mine.owing.settle()

    def _open(self) -> apsw.Connection:
        with self._lock:
            if self._closed:
                raise Unavailable(f"the store {self.path} is closed")
            self._follow()
            db = connect(self.path, self._busy_timeout_ms, immutable=self.immutable)
            self._all.add(db)
        with translated(self.path):
            self._mine.schema = value_of(db, _SCHEMA)
        self._log, self._open_one = _identity(self._log_path), db
        self._mine.db, self._mine.file, self._mine.owing = db, self._file, None
        return db

    def _refuse_ghost(self) -> None:
        if _identity(self.path) != self._mine.file:
            why = f"the store {self.path} was removed or replaced while it was written"
            raise Unavailable(why, remedy="Nothing was changed; try again")

    def _refuse_mixed(self) -> None:
        """Raise `Unavailable` while the journal of the file before lies beside another one, which it would spoil."""
        if self._log is not None and _identity(self._log_path) == self._log:
            why = f"another file was put in the place of the store {self.path} while it was open"
            raise Unavailable(why, remedy=_MIXED.format(self._log_path))

    def _refuse_newer(self, db: apsw.Connection) -> None:
        if value_of(db, _SCHEMA) != self._mine.schema:
            why = f"the store {self.path} was brought to another schema while it was open"
            raise Unavailable(why, remedy="Nothing was changed; start this program again, in its newest release")

    def _follow(self) -> None:
        """Take the file that stands at the path now for the store; the last one's traces in memory are dropped."""
        found = _identity(self.path)
        if found is None:
            self._before, self._file = self._file or self._before, None  # its number may go to the file that comes
            if _identity(self._log_path) != self._log:
                self._log = None
            raise Unavailable(f"the store {self.path} was removed while it was open", remedy=_PUT_BACK)
        if found != self._file:
            if found != self._before:  # one that is put back finds its journal
                self._refuse_mixed()
            if self._reopen is not None:
                self.immutable = self._reopen()
            self._kept.clear()
            self._file, self._before = found, None


def _identity(path: Path) -> tuple[int, int] | None:
    """Tell one file from another put in its place; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - asked in every transaction, and a Path is slower
    except OSError:
        return None
    return found.st_dev, found.st_ino
