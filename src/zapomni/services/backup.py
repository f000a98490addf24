"""Backup and restore: a whole copy of the store, and the store brought back to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import InvalidInput, NotFound, Refused, Unavailable, ZapomniError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from zapomni.clock import Clock
    from zapomni.store.base import Store

_MAGIC: Final = b"SQLite format 3\0"
_BESIDE: Final = ("", "-wal", "-shm", "-journal", ".lock")
_NO_BACKUP: Final = "Name a file that `zapomni backup` wrote; `zapomni import` reads exports and other files"


class StoreFile(Protocol):
    """The file of a store, whether or not it can be opened."""

    path: Path

    def look(self, path: Path) -> Mapping[str, int]:
        """Check a store file and count its memories, deleted, revisions and schema; raises when it is not whole."""

    def keep(self, mark: str) -> Path:
        """Copy the live store beside itself under a new name and return it."""

    def restore_from(self, path: Path, before: Callable[[], Path | None]) -> Path | None:
        """Give the live store the content of a copy, in one step that every open process sees.

        `before` is called when all is ready and nobody can write any more; what it raises changes nothing.
        Returns what it returned.
        """


class BackedUp(Struct, frozen=True, kw_only=True):
    """A backup that was written, read back and found whole."""

    path: Path
    memories: int
    deleted: int
    bytes: int


class Restored(Struct, frozen=True, kw_only=True):
    """What a restore came to; `done` is False when the backup was only checked.

    `before` is where the content of the store before it lies now, None when there was nothing to keep.
    """

    path: Path
    memories: int
    deleted: int
    schema: int
    done: bool
    before: Path | None = None


def backup(store: Store, live: StoreFile, path: Path, *, force: bool = False) -> BackedUp:
    """Write everything acknowledged so far to one file, while others go on writing, and check it.

    The file appears only when complete. Raises `Refused` for a file that is there already unless `force`,
    and always for the store's own.
    """
    target = path.absolute()
    if target.is_dir():
        raise InvalidInput("path", f"{target} is a folder", remedy="Name a file in it")
    _refuse_own_files(live.path, target)
    if target.exists() and not force:
        raise Refused(f"{target} is there already", remedy="Name another file, or say --force to replace it")
    if not target.parent.is_dir():
        raise NotFound(f"there is no folder {target.parent}", remedy="Make it first")
    store.backup(target)
    found = live.look(target)
    return BackedUp(path=target, memories=found["memories"], deleted=found["deleted"], bytes=target.stat().st_size)


def restore(live: StoreFile, path: Path, *, clock: Clock, verify: bool = False, force: bool = False) -> Restored:
    """Check a backup and bring the store to its content; other processes see it at their next reading.

    `verify` only checks. A store that holds memories is replaced only with `force`, and is first backed up
    beside itself. Raises `InvalidInput` for a file that is no backup, `StoreDamaged` or `Refused` for a backup
    that cannot be used; nothing is changed then.
    """
    source = path.absolute()
    _refuse_other_files(source)
    found = live.look(source)
    answer = Restored(
        path=source, memories=found["memories"], deleted=found["deleted"], schema=found["schema"], done=False
    )
    if verify:
        return answer
    if source.resolve() == live.path.resolve():
        raise Refused(f"{source} is the store itself", remedy="Name a backup of it")
    held = _held(live)
    if held and not force:
        raise _would_be_lost(live, held)

    def keep() -> Path | None:
        """Keep what is there now, others having written since it was looked at."""
        lost = held or _held(live)
        if lost and not force:
            raise _would_be_lost(live, lost)
        return live.keep(clock().strftime("%Y%m%dT%H%M%SZ")) if lost else None

    return replace(answer, done=True, before=live.restore_from(source, keep))


def _refuse_own_files(store: Path, target: Path) -> None:
    """Raise `Refused` for the store and for what lies beside it while it is used: its log and its locks."""
    if is_own_file(store, target):
        what = "the store itself" if target.resolve() == store.resolve() else "a file of the store itself"
        raise Refused(f"{target} is {what}", remedy="Name another file")


def is_own_file(store: Path, target: Path) -> bool:
    """Tell whether a path is the file of a store or one that the store makes beside it."""
    home, real = store.resolve(), target.resolve()
    if real.parent != home.parent:
        return False
    name, own = real.name.casefold(), home.name.casefold()
    return name in {own + end for end in _BESIDE} or (name.startswith(".") and name.endswith(".lock"))


def _would_be_lost(live: StoreFile, held: str) -> Refused:
    remedy = "Say --force to replace it: what is there now is kept beside it"
    return Refused(f"the store {live.path} holds {held}", remedy=remedy)


def _refuse_other_files(path: Path) -> None:
    """Raise `InvalidInput` for a file that is no database from its first letters on, such as an export."""
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            head = file.read(len(_MAGIC))
    except OSError as error:
        raise Unavailable(f"{path} cannot be read ({error.strerror})", remedy="Look at who owns it") from None
    if not _MAGIC.startswith(head):
        raise InvalidInput("file", f"{path} is not a backup", remedy=_NO_BACKUP)


def _held(live: StoreFile) -> str:
    """Say what would be lost; nothing for a store that is new or not there."""
    if not live.path.exists() or live.path.stat().st_size == 0:
        return ""
    try:
        found = live.look(live.path)
    except ZapomniError as error:
        return f"something that cannot be read: {error.message}"
    memories = found["memories"] + found["deleted"]
    return f"{memories:,} {'memory' if memories == 1 else 'memories'}" if memories or found["revisions"] else ""
