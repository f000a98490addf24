"""Who does background work: one process at a time, known by a lock that dies with it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from zapomni.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def worker_lock(path: Path, name: str) -> Iterator[bool]:
    """Hold the lock of this name beside the store; False when another one holds it.

    Raises `Unavailable` where no lock can be made, as beside a store that can only be read.
    """
    from filelock import FileLock, Timeout

    if not path.parent.is_dir():  # the lock would make it anew, in the way of one that is moved back
        raise Unavailable(f"the folder of the store {path} is gone", remedy="Put it back, or name another with --home")
    lock = FileLock(path.with_name(f"{path.name}.{name}.lock"), mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    except OSError as error:
        why = error.strerror or "it failed"
        raise Unavailable(
            f"no lock can be made beside {path} ({why})", remedy="Background work needs a store that can be written"
        ) from error
    try:
        yield True
    finally:
        lock.release()
