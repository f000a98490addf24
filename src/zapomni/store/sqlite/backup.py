"""A whole copy of a store, taken while others write."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from zapomni.errors import Unavailable
from zapomni.store.sqlite.connection import value_of
from zapomni.unfinished import clear, clear_abandoned, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def copy(db: apsw.Connection, target: Path) -> None:
    """Write everything committed so far to `target`, which appears only when complete and is its owner's alone.

    An existing target is replaced. A failure leaves what was there before. Raises `Unavailable` when the copy
    is not whole.
    """
    try:
        with made_whole(target) as part:
            _fill(db, part)
    except OSError as error:
        raise Unavailable(f"the copy {target} cannot be written", remedy="Look at its folder and the disk") from error


@contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """Give an empty file of the owner's alone beside `target`, and put it in its place when it was filled."""
    part = part_of(target, "part")
    try:
        clear_abandoned(target)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield part
        _flush(part)
        part.replace(target)
        _flush(target.parent)
    finally:
        clear(part)


def _fill(db: apsw.Connection, part: Path) -> None:
    copied = apsw.Connection(str(part), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with copied.backup("main", db, "main") as work:
            work.step(-1)  # all in one read transaction: what is written meanwhile is left for the next copy
        # The copy is one file: a log beside it would be forgotten when it is moved.
        copied.execute("PRAGMA journal_mode = DELETE")
        if value_of(copied, "PRAGMA quick_check(1)") != "ok":
            raise Unavailable(f"the copy {part} is not whole", remedy="Run `zapomni doctor` on the store")
    finally:
        copied.close()


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
