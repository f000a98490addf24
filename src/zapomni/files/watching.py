"""Noticing what changes in folders, by what the system tells of them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from zapomni.errors import Unavailable
from zapomni.files.names import to_os

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from threading import Event

    from watchfiles._rust_notify import RustNotify

    Changes = Callable[[], "frozenset[str] | None"]

LONGEST: Final = 10
"""How many times the rest that files must have they are waited for, when something writes without end."""
WAKING_S: Final = 0.5
"""Most seconds between two looks at whether to stop: the end of a server waits for them."""


@contextmanager
def watching(folders: Sequence[str], *, rest_s: float, patience_s: float, stop: Event) -> Iterator[Changes]:
    """Watch these folders, not those inside them; give a function that waits for what changes in them.

    It returns the paths of what changed once nothing has for `rest_s`, none when nothing did within `patience_s`,
    and None once nothing more will be told: `stop` is set or, after `rest_s`, track was lost, as over a name that is
    not UTF-8. Passes over folders that are gone or not readable; raises `Unavailable` where the system tells no more.
    """
    from watchfiles._rust_notify import WatchfilesRustInternalError

    try:
        notify = _notify(folders)
    except (OSError, WatchfilesRustInternalError) as error:
        remedy = "On Linux more is allowed by the setting fs.inotify.max_user_watches"
        raise Unavailable(f"{len(folders)} folders cannot be watched ({error})", remedy=remedy) from error

    def told(within_s: float) -> set[str] | None:
        try:
            found = notify.watch(_ms(rest_s), _ms(min(rest_s, WAKING_S)), _ms(within_s), stop)
        except WatchfilesRustInternalError:
            stop.wait(rest_s)  # whoever begins again looks at everything, and that name may change without end
            return None
        if isinstance(found, str):
            return set() if found == "timeout" else None
        return {path for _, path in found}

    def changes() -> frozenset[str] | None:
        found: set[str] = set()
        for within_s in (patience_s, *[rest_s] * LONGEST):
            new = told(within_s)
            if new is None:
                return None
            if not new:
                break
            found |= new
        return frozenset(found)

    try:
        yield changes
    finally:
        notify.close()


def _notify(folders: Sequence[str]) -> RustNotify:
    try:
        return _opened(folders)
    except (FileNotFoundError, PermissionError):
        return _opened([folder for folder in folders if os.access(to_os(folder), os.R_OK)])


def _opened(folders: Sequence[str]) -> RustNotify:
    from watchfiles._rust_notify import RustNotify

    return RustNotify(
        list(folders),
        debug=False,
        force_polling=False,
        poll_delay_ms=0,
        recursive=False,
        ignore_permission_denied=False,  # it ignores every error, that of the limit too
    )


def _ms(seconds: float) -> int:
    return max(int(seconds * 1000), 1)
