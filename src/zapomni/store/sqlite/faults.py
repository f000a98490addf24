"""What a fault of the database means to a caller: the only place where one is turned into the other."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import apsw

from zapomni.errors import StoreBusy, StoreDamaged, Unavailable, ZapomniError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_AGAIN: Final = "Nothing was changed; try again, or raise store.busy_timeout_ms"
_RESTORE: Final = (
    "Nothing was changed; `zapomni doctor` names the copies, `zapomni restore FILE --force` brings one back"
)

_ANOTHER: Final = "Nothing was changed; use another backup"

_MEANING: Final[dict[type[apsw.Error], tuple[type[ZapomniError], str, str]]] = {
    apsw.BusyError: (StoreBusy, "another process held the store {path} for too long", _AGAIN),
    apsw.LockedError: (StoreBusy, "another process held the store {path} for too long", _AGAIN),
    apsw.ProtocolError: (StoreBusy, "too many processes opened the store {path} at once", _AGAIN),
    apsw.FullError: (
        Unavailable,
        "there is no room left for the store {path}",
        "Free some space and try again; what was stored before is whole",
    ),
    apsw.ReadOnlyError: (Unavailable, "the store {path} cannot be written", "Make its file and its folder writable"),
    apsw.PermissionsError: (Unavailable, "the store {path} may not be opened", "Look at who owns it"),
    apsw.CantOpenError: (Unavailable, "the store {path} cannot be opened", "Look at its folder and who owns it"),
    apsw.IOError: (Unavailable, "the disk failed under the store {path}", "Look at the disk, then try again"),
    apsw.ConnectionClosedError: (Unavailable, "the store {path} is closed", ""),
    apsw.CorruptError: (StoreDamaged, "the store {path} is damaged", _RESTORE),
    apsw.NotADBError: (StoreDamaged, "{path} is not a zapomni store", "Nothing was changed; move the file away"),
}
"""The database's own words stay in the chained cause: they may quote stored text."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Let faults of the database inside leave as errors of this package; others leave as they are."""
    try:
        yield
    except apsw.Error as error:
        found = next((_MEANING[kind] for kind in type(error).__mro__ if kind in _MEANING), None)
        if found is None:
            raise
        meaning, message, remedy = found
        raise meaning(message.format(path=path), remedy=remedy) from error


@contextmanager
def translated_backup(path: Path) -> Iterator[None]:
    """Let faults of the database inside leave as errors of this package that speak of a backup, not of the store."""
    try:
        with translated(path):
            yield
    except StoreDamaged as error:
        if isinstance(error.__cause__, apsw.CorruptError):
            raise StoreDamaged(f"the backup {path} is damaged", remedy=_ANOTHER) from error.__cause__
        if isinstance(error.__cause__, apsw.NotADBError):
            raise StoreDamaged(f"the backup {path} is no zapomni store", remedy=_ANOTHER) from error.__cause__
        raise
