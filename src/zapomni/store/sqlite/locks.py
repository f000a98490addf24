"""Who does background work: one process at a time, known by a lock that dies with it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def worker_lock(path: Path, name: str) -> Iterator[bool]:
    """Hold the lock of this name beside the store; False when another one holds it or none can be made."""
    from filelock import FileLock, Timeout

    lock = FileLock(path.with_name(f"{path.name}.{name}.lock"), mode=0o600)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
