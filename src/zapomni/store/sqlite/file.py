"""A store's file as one thing: read in one state, looked at, and given the content of a copy."""

from __future__ import annotations

import shutil
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Final

import apsw

from zapomni.errors import NotFound, Refused, StoreDamaged, Unavailable
from zapomni.store.sqlite.backup import copy
from zapomni.store.sqlite.connection import Connections, clear_log, connect, value_of
from zapomni.store.sqlite.corpus import CHUNKS, MEMORIES
from zapomni.store.sqlite.faults import translated, translated_backup
from zapomni.store.sqlite.opening import APPLICATION, SCHEMA, open_file
from zapomni.store.sqlite.snapshot import SqliteSnapshot
from zapomni.unfinished import clear, clear_abandoned, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from zapomni.clock import Clock
    from zapomni.model import Scope

_LEAP: Final = 2**20
"""How far a restored store's counters jump, so that no process takes it for the one it knew."""
_COUNTS: Final = {
    "memories": "SELECT count(*) FROM memories WHERE deleted_at IS NULL",
    "deleted": "SELECT count(*) FROM memories WHERE deleted_at IS NOT NULL",
    "revisions": "SELECT count(*) FROM revisions",
    "schema": "PRAGMA user_version",
}
_BESIDE: Final = ("", "-wal", "-shm")


class SqliteFile:
    """The file of one store; it need not be whole, nor be there."""

    def __init__(self, path: Path, busy_timeout_ms: int, clock: Clock) -> None:
        self.path = path
        self._busy_timeout_ms = busy_timeout_ms
        self._clock = clock

    @contextmanager
    def snapshot(self, scopes: Sequence[Scope] = ()) -> Iterator[SqliteSnapshot]:
        """Read one state of some scopes, or of all, while others write."""
        immutable = open_file(self.path, self._busy_timeout_ms, self._clock)
        connections = Connections(self.path, self._busy_timeout_ms, immutable=immutable)
        try:
            with connections.reading() as db:
                yield SqliteSnapshot(db, scopes)
        finally:
            connections.close()

    def look(self, path: Path) -> dict[str, int]:
        """Check a store file through and through and count what it holds; it is not changed.

        Raises `NotFound` when there is none, `StoreDamaged` when it is not ours or not whole, `Refused` when a
        newer release wrote it.
        """
        with self._reading(path) as db:
            if value_of(db, "PRAGMA application_id") != APPLICATION:
                raise StoreDamaged(f"{path} is not a zapomni store", remedy="Name a file that `zapomni backup` wrote")
            schema = value_of(db, "PRAGMA user_version")
            if schema > SCHEMA:
                raise Refused(
                    f"{path} has schema {schema}, this release knows {SCHEMA}", remedy="Install a newer zapomni"
                )
            found = value_of(db, "PRAGMA integrity_check(1)")
            if found != "ok" or schema < 1:
                raise StoreDamaged(f"{path} is not whole: {found}", remedy="Use another backup")
            return {name: int(value_of(db, sql)) for name, sql in _COUNTS.items()}

    def keep(self, mark: str) -> Path:
        """Copy the live store beside itself under a new name and return it; a damaged one file by file."""
        stem, no = f"{self.path.name}.before-restore-{mark}", 1
        target = self.path.with_name(stem)
        while target.exists():
            no += 1
            target = self.path.with_name(f"{stem}-{no}")
        try:
            with self._reading(self.path) as db:
                copy(db, target)
        except (StoreDamaged, Unavailable):
            self._keep_files(target)
        return target

    def _keep_files(self, target: Path) -> None:
        try:
            for end in _BESIDE[:2]:
                beside = self.path.with_name(self.path.name + end)
                if beside.exists():
                    shutil.copy2(beside, target.with_name(target.name + end))
        except OSError as error:
            remedy = "Look at its folder and the disk; nothing was changed"
            raise Unavailable(f"the copy {target} cannot be written", remedy=remedy) from error

    def restore_from(self, path: Path, before: Callable[[], Path | None]) -> Path | None:
        """Give the live store the content of a copy, in one transaction that every open process sees.

        `before` is called inside of it, when nobody else can write, and its answer is returned: what it keeps
        is all that was ever acknowledged. A live file so damaged that nothing can be written into it is
        replaced. Raises `StoreBusy` when others write for longer than the timeout; nothing is changed then.
        """
        part = part_of(self.path, "restore")
        if not self.path.exists():
            open_file(self.path, self._busy_timeout_ms, self._clock)  # makes its folder too
        try:
            clear_abandoned(self.path)
            with self._reading(path) as db:
                copy(db, part)
            open_file(part, self._busy_timeout_ms, self._clock)  # brings an older copy to our schema
            return self._put_in_place(part, before)
        finally:
            clear(part)

    def _put_in_place(self, part: Path, before: Callable[[], Path | None]) -> Path | None:
        try:
            open_file(self.path, self._busy_timeout_ms, self._clock)
            with translated(self.path):
                return self._pour(part, before)
        except StoreDamaged:
            kept = before()
            with translated(part), closing(connect(part, self._busy_timeout_ms)) as db:
                db.execute("PRAGMA journal_mode = DELETE")  # what is moved is one file
            for end in _BESIDE[1:]:
                self.path.with_name(self.path.name + end).unlink(missing_ok=True)
            part.replace(self.path)
            open_file(self.path, self._busy_timeout_ms, self._clock)
            return kept

    def _pour(self, part: Path, before: Callable[[], Path | None]) -> Path | None:
        """Write every page of the copy into the live store as one transaction of its log."""
        live, source = connect(self.path, self._busy_timeout_ms), connect(part, self._busy_timeout_ms)
        try:
            with live.backup("main", source, "main") as work:
                work.step(0)  # takes the write lock and copies nothing yet
                with self._reading(self.path) as now:
                    _leap_over(source, now)
                kept = before()
                work.step(-1)
            clear_log(live)
            return kept
        finally:
            source.close()
            live.close()

    @contextmanager
    def _reading(self, path: Path) -> Iterator[apsw.Connection]:
        """Open a file to read; one in a place where nothing can be written is read as it lies there."""
        if not path.is_file():
            raise NotFound(f"{path} is not a file", remedy="Name a file that `zapomni backup` wrote")
        if path.stat().st_size == 0:
            raise StoreDamaged(f"{path} is empty", remedy="Use another backup")
        with translated(path) if path == self.path else translated_backup(path):
            try:
                db = connect(path, self._busy_timeout_ms)
                value_of(db, "PRAGMA user_version")
            except (apsw.CantOpenError, apsw.ReadOnlyError):
                db = connect(path, self._busy_timeout_ms, immutable=True)
            try:
                yield db
            finally:
                db.close()


def _leap_over(source: apsw.Connection, live: apsw.Connection) -> None:
    """Set the counters of a copy beyond those of the live store: what a process remembers must fit neither.

    Revisions go on right behind the last one: people read and write their numbers, and no process goes by them alone.
    """
    generation = value_of(live, "SELECT value FROM meta WHERE name = 'generation'")
    used = [
        (name, seq, 0 if name == "revisions" else _LEAP)
        for name, seq in live.execute("SELECT name, seq FROM sqlite_sequence")
    ]
    source.execute("BEGIN IMMEDIATE")
    source.execute("UPDATE meta SET value = max(value, ?) + ? WHERE name = 'generation'", (generation, _LEAP))
    for spaces in (MEMORIES.spaces, CHUNKS.spaces):
        source.execute(f"UPDATE {spaces} SET epoch = epoch + ?", (_LEAP,))
    source.executemany("UPDATE sqlite_sequence SET seq = max(seq, ?2) + ?3 WHERE name = ?1", used)
    source.execute("COMMIT")
