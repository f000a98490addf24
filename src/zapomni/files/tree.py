"""A root as a tree: every file and folder in it is reached name by name, and no link is ever followed."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from zapomni.files.names import from_os, oddity, real_path, shown, to_os

if TYPE_CHECKING:
    from typing import Self

_BY_HANDLE: Final = {os.open, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd
"""Whether the system opens a name within an open folder: then nothing can be put in the way meanwhile."""
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would hold us for ever
    | getattr(os, "O_BINARY", 0)
)
_FOLDER: Final = _FLAGS | getattr(os, "O_DIRECTORY", 0)
_OTHER: Final = "it is not a regular file"
_LINKED: Final = "it lies behind a link"
_JUNCTION: Final = 0xA0000003
"""IO_REPARSE_TAG_MOUNT_POINT: Windows' links between folders, which are no symbolic links to Python."""


class Entry(NamedTuple):
    """One name in a folder; `problem` says why nothing can be done with it."""

    name: str
    info: os.stat_result
    problem: str | None


class Content(NamedTuple):
    """What a file held when it was read, and what was known of it before that and behind it."""

    data: bytes
    before: os.stat_result
    after: os.stat_result


class Folder(NamedTuple):
    """An open folder of a tree, in which names are reached, closed by `with`; each method raises `OSError`.

    `handle` is None on systems that open nothing within an open folder.
    """

    handle: int | None
    path: str

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.handle is not None:
            os.close(self.handle)

    def names(self) -> list[str]:
        """Return the names in it."""
        with os.scandir(to_os(self.path) if self.handle is None else self.handle) as found:
            return [from_os(entry.name) for entry in found]

    def stat(self, name: str) -> os.stat_result:
        """Return what is known of a name; a link is not followed."""
        return os.stat(self.reached(name), dir_fd=self.handle, follow_symlinks=False)

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """Open a name; `mode` is that of a file which is made."""
        return os.open(self.reached(name), flags, mode, dir_fd=self.handle)

    def make_folder(self, name: str) -> None:
        """Make a folder."""
        os.mkdir(self.reached(name), dir_fd=self.handle)

    def replace(self, name: str, onto: str) -> None:
        """Give a file another name, in place of what has it."""
        os.replace(self.reached(name), self.reached(onto), src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def link(self, name: str, also: str, into: Folder | None = None) -> None:
        """Give a file a second name, here or in another folder; `FileExistsError` when something has it."""
        other = into or self
        os.link(
            self.reached(name),
            other.reached(also),
            src_dir_fd=self.handle,
            dst_dir_fd=other.handle,
            follow_symlinks=False,
        )

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self.reached(name), dir_fd=self.handle)

    def settle(self) -> None:
        """Have the disk keep the names as they are now, where the system can sync a folder."""
        if self.handle is not None:
            os.fsync(self.handle)

    def reached(self, name: str) -> bytes | str:
        """Return a name as system calls take it beside `handle`."""
        return to_os(f"{self.path}/{name}" if self.handle is None else name)


class Tree:
    """What lies under one root, a real path; paths are relative to it, with `/`, and empty for the root itself.

    Every other method raises `OSError` for what is not there, is of another kind, or lies behind a link.
    """

    def __init__(self, root: str) -> None:
        self.root = root

    def stat(self, path: str) -> os.stat_result:
        """Return what is known of a file, folder or link; the link is not followed."""
        if not path:
            return os.lstat(to_os(self.root))
        above, _, name = path.rpartition("/")
        with self.folder(above) as folder:
            return folder.stat(name)

    def is_there(self, path: str) -> bool:
        """Tell whether a file or folder stands there, and not a link."""
        try:
            return not is_link(self.stat(path))
        except OSError:
            return False

    def holds_file(self, path: str) -> bool:
        """Tell whether something stands there that is neither link nor folder."""
        try:
            info = self.stat(path)
        except OSError:
            return False
        return not is_link(info) and not stat.S_ISDIR(info.st_mode)

    def names(self, path: str) -> list[str]:
        """Return the names in a folder that can be opened, in no order."""
        with self.folder(path) as folder:
            return [name for name in folder.names() if oddity(name) is None]

    def entries(self, path: str) -> list[Entry]:
        """Return every name in a folder, sorted, with what is known of it; what vanishes meanwhile is left out."""
        found = []
        with self.folder(path) as folder:
            for name in sorted(folder.names()):
                try:
                    found.append(Entry(shown(name), folder.stat(name), oddity(name)))
                except FileNotFoundError:
                    continue
        return found

    def open(self, path: str) -> BinaryIO:
        """Open a regular file for reading; the caller closes it."""
        return os.fdopen(self._opened(path)[0], "rb")

    def read(self, path: str, limit: int) -> Content:
        """Read a regular file, at most one byte more than it had before, or than `limit` if that is less."""
        handle, before = self._opened(path)
        try:
            data = _read(handle, min(before.st_size, limit))
            return Content(data, before, os.fstat(handle))
        finally:
            os.close(handle)

    def folder(self, path: str) -> Folder:
        """Open a folder, name by name."""
        if not _BY_HANDLE:
            return self._unlinked(path)
        handle = os.open(to_os(self.root), _FOLDER)
        for name in path.split("/") if path else ():
            try:
                below = os.open(to_os(name), _FOLDER, dir_fd=handle)
            finally:
                os.close(handle)
            handle = below
        return Folder(handle, path)

    def _opened(self, path: str) -> tuple[int, os.stat_result]:
        """Return the handle of a regular file, which the caller closes, and what is known of it."""
        if not path:
            return _regular(os.open(to_os(self.root), _FLAGS))
        above, _, name = path.rpartition("/")
        with self.folder(above) as folder:
            # Opening a device can start it, so its kind is asked for before and, against a swap, after.
            if not stat.S_ISREG(folder.stat(name).st_mode):
                raise OSError(_OTHER)
            handle, info = _regular(folder.open(name, _FLAGS))
            if folder.handle is None:
                try:
                    self._refuse_linked(path, info)
                except OSError:
                    os.close(handle)
                    raise
        return handle, info

    def _unlinked(self, path: str) -> Folder:
        reached = self.root
        for name in path.split("/") if path else ():
            reached += f"/{name}"
            if is_link(os.lstat(to_os(reached))):
                raise OSError(_LINKED)
        return Folder(None, reached)

    def _refuse_linked(self, path: str, info: os.stat_result) -> None:
        wanted = f"{self.root}/{path}"
        if real_path(wanted) != os.path.normpath(wanted) or not os.path.samestat(info, os.lstat(to_os(wanted))):
            raise OSError(_LINKED)


def is_link(info: os.stat_result) -> bool:
    """Tell whether this is a symbolic link, or a junction of Windows."""
    return stat.S_ISLNK(info.st_mode) or getattr(info, "st_reparse_tag", 0) == _JUNCTION


def _regular(handle: int) -> tuple[int, os.stat_result]:
    info = os.fstat(handle)
    if stat.S_ISREG(info.st_mode):
        return handle, info
    os.close(handle)
    raise OSError(_OTHER)


def _read(handle: int, size: int) -> bytes:
    """Return `size` bytes of a file, which the system may give in several pieces, and one more if it has grown."""
    data = os.read(handle, size + 1)
    while len(data) < size and (more := os.read(handle, size + 1 - len(data))):
        data += more
    return data
