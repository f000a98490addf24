"""Writing files under a root: whole or not at all, over nothing that changed meanwhile, and through no link."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from zapomni.errors import Conflict, Unavailable
from zapomni.files.names import shown

if TYPE_CHECKING:
    from zapomni.files.tree import Folder, Tree

NEW_MODE: Final = 0o600
"""Permissions of a new file: what is remembered is its owner's."""
_FLAGS: Final = (
    os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)  # fmt: skip
_SUFFIX: Final = ".zapomni.tmp"
"""Ends the name of a file that is not finished; walks pass it over, and the next writer of that name replaces it."""
_CHANGED: Final = "changed while it was to be written"
_AGAIN: Final = "The next scan looks at it again"


def write_file(tree: Tree, path: str, data: bytes, *, was: str | None) -> os.stat_result:
    """Put `data` under a path and return what is known of the file then.

    `was` is the SHA-256 of the bytes that it replaces, None for a file that is not there yet; folders above a new one
    are made. Permissions stay. Raises `Conflict` when something else stands there, `Unavailable` when it cannot be
    written; the file is then as it was.
    """
    above, _, name = path.rpartition("/")
    try:
        if was is None:
            make_folders(tree, above)
        with tree.folder(above) as folder:
            mode = NEW_MODE if was is None else stat.S_IMODE(folder.stat(name).st_mode)
            part = _written(folder, name, data, mode)
            try:
                _put_in_place(tree, folder, part, path, was)
            finally:
                with suppress(FileNotFoundError):
                    folder.remove(part)
            folder.settle()
            return folder.stat(name)
    except OSError as error:
        raise _failure(path, error) from error


def remove_file(tree: Tree, path: str, *, was: str) -> None:
    """Remove a file whose bytes have this SHA-256; one that is gone is passed over.

    Raises `Conflict` when it says something else, `Unavailable` when it cannot be removed.
    """
    above, _, name = path.rpartition("/")
    try:
        with tree.folder(above) as folder:
            _check(tree, path, was)
            folder.remove(name)
            folder.settle()
    except FileNotFoundError:
        return
    except OSError as error:
        raise _failure(path, error) from error


def move_file(tree: Tree, path: str, to: str, *, was: str) -> None:
    """Give a file whose bytes have this SHA-256 another path; folders above that are made.

    Raises `Conflict` when it says something else, or something stands there, `Unavailable` when it cannot be moved.
    """
    (above, _, name), (below, _, called) = path.rpartition("/"), to.rpartition("/")
    try:
        make_folders(tree, below)
        with tree.folder(above) as folder, tree.folder(below) as other:
            _check(tree, path, was)
            folder.link(name, called, other)
            folder.remove(name)
            other.settle()
            folder.settle()
    except FileExistsError:
        raise Conflict(f"{shown(to)} is there already", remedy=_AGAIN) from None
    except OSError as error:
        raise _failure(path, error) from error


def make_folders(tree: Tree, path: str) -> None:
    """Make a folder and those above it, where they are not there. Raises `OSError`."""
    above = ""
    for name in path.split("/") if path else ():
        with tree.folder(above) as folder, suppress(FileExistsError):
            folder.make_folder(name)
        above = f"{above}/{name}" if above else name


def _written(folder: Folder, name: str, data: bytes, mode: int) -> str:
    """Write an unfinished file beside the one that it becomes, and return its name."""
    part = f".{sha256(name.encode()).hexdigest()[:16]}{_SUFFIX}"  # a long name with more behind it would be too long
    with suppress(FileNotFoundError):
        folder.remove(part)
    with os.fdopen(folder.open(part, _FLAGS), "wb") as file:
        file.write(data)
        file.flush()
        with suppress(OSError, AttributeError):
            os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())
    return part


def _put_in_place(tree: Tree, folder: Folder, part: str, path: str, was: str | None) -> None:
    name = path.rpartition("/")[2]
    if was is not None:
        _check(tree, path, was)
        folder.replace(part, name)
        return
    try:
        folder.link(part, name)
    except FileExistsError:
        raise Conflict(f"{shown(path)} is there already", remedy=_AGAIN) from None
    except (OSError, NotImplementedError):  # a file system without links
        if tree.is_there(path):
            raise Conflict(f"{shown(path)} is there already", remedy=_AGAIN) from None
        folder.replace(part, name)


def _check(tree: Tree, path: str, was: str) -> None:
    with tree.open(path) as file:
        if sha256(file.read()).hexdigest() != was:
            raise Conflict(f"{shown(path)} {_CHANGED}", remedy=_AGAIN)


def _failure(path: str, error: OSError) -> Unavailable:
    why = error.strerror or str(error) or "it failed"
    return Unavailable(f"{shown(path)} cannot be written ({why})", remedy="Look at its folder and disk")
