"""Names: what a file system calls its files, as text under any locale, and the names that nothing here opens."""

from __future__ import annotations

import os
import re
from typing import Final

_BYTES: Final = os.name == "posix"
"""Names are bytes on POSIX and UTF-8 by custom; Windows has text of its own."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


def to_os(path: str) -> bytes | str:
    """Return a path as system calls take it: UTF-8 on POSIX, where the locale may know ASCII alone.

    What Python escaped because the locale could not read it (surrogates from U+DC80) becomes the bytes it was.
    """
    return path.encode("utf-8", "surrogateescape") if _BYTES else path


def from_os(name: bytes | str) -> str:
    """Return a name or path as text; bytes that are not UTF-8 become surrogates, which `to_os` turns back."""
    return os.fsencode(name).decode("utf-8", "surrogateescape") if _BYTES else os.fsdecode(name)


def shown(name: str) -> str:
    """Return a name as text that can be stored: U+FFFD stands for every surrogate."""
    return _SURROGATE.sub("\ufffd", name)


def real_path(path: str) -> str:
    """Return the absolute path without links; the file need not exist."""
    return from_os(os.path.realpath(to_os(path)))


def relative_to(root: str, path: str) -> str | None:
    """Return a real path as one under a real root, with `/`; None when it lies elsewhere (`vault-evil` for `vault`)."""
    if path == root:
        return ""
    start = root if root.endswith(os.sep) else root + os.sep
    return path[len(start) :].replace(os.sep, "/") if path.startswith(start) else None


def oddity(name: str) -> str | None:
    """Say why nothing here opens a file of that name under any rule, None when nothing is odd about it.

    Control characters forge lines on a terminal; a backslash is a separator to half of the programs that read
    a path.
    """
    if _SURROGATE.search(name):
        return "its name is not UTF-8"
    if _CONTROL.search(name):
        return "its name has control characters"
    return "its name has a backslash" if "\\" in name else None
