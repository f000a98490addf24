"""Settings files as they lie on disk: read whole, replaced whole, their mode and their links kept."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from glob import escape
from stat import S_ISREG
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

LIMIT: Final = 64 * 1024 * 1024
"""Most bytes of a settings file; Claude Code's own reaches a few."""
_PART: Final = ".part"
_BOM: Final = "\ufeff"
_PLAIN: Final = 0o644
_EXECUTABLE: Final = 0o755


class Content(Struct, frozen=True, kw_only=True):
    """What a file holds: its bytes (None where there is no file), its text without a byte-order mark, and that mark."""

    data: bytes | None
    text: str = ""
    mark: str = ""


def content(file: Path) -> Content:
    """Read a file; raises `Refused` for what is no text of ours to edit, `Unavailable` for what cannot be read."""
    try:
        found = file.stat()
        if not S_ISREG(found.st_mode):  # reading a pipe would wait for ever, and a device must not be replaced
            raise Unavailable("it cannot be read (it is no file)", remedy="Move it away, then run the command again")
        if found.st_size > LIMIT:
            raise Refused(f"it has more than {LIMIT:,} bytes", remedy="Is it a settings file?")
        data = file.read_bytes()
    except FileNotFoundError:
        return Content(data=None)
    except OSError as error:
        raise Unavailable(f"it cannot be read ({error.strerror or error})", remedy="Look at its rights") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"it is not UTF-8 (byte {error.start + 1:,})", remedy="Convert it, then run it again") from None
    mark = _BOM if text.startswith(_BOM) else ""
    return Content(data=data, text=text.removeprefix(_BOM), mark=mark)


def is_gone(folder: Path) -> bool:
    """Tell whether a folder is no more; one that may not be looked at is not gone."""
    try:
        folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def missing_folders(file: Path) -> list[Path]:
    """Return the folders that have to be made for a file."""
    return [folder for folder in (file.parent, *file.parent.parents) if not folder.exists()]


def write(file: Path, data: bytes, *, seen: bytes | None, executable: bool = False) -> None:
    """Write a file in one step, if it still holds what was seen, and make the folders that it lies in.

    Raises `Unavailable` where somebody else changed it meanwhile, or the system refuses.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if _bytes(file) != seen:
            raise Unavailable("another program has just changed it", remedy="Run the command again")
        replace_file(file, data, mode=_EXECUTABLE if executable else _PLAIN, keep_mode=True)
    except OSError as error:
        raise Unavailable(f"it cannot be written ({error.strerror or error})", remedy="Look at its rights") from None


def delete(file: Path) -> None:
    """Delete a file; a link stays, and what it leads to goes. Raises `Unavailable` where the system refuses."""
    try:
        file.resolve().unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"it cannot be deleted ({error.strerror or error})", remedy="Look at its rights") from None


def sweep_folders(file: Path, kept: Container[Path]) -> None:
    """Remove the empty folders that a deleted file lay in, up to the first that is kept."""
    if file.exists():
        return
    for folder in file.parents:
        if folder in kept:
            return
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:  # it is not empty
            return


def sweep(file: Path) -> None:
    """Delete what a run that was killed in the midst of writing a file left beside it."""
    target = file.resolve()
    with suppress(OSError):
        for left in target.parent.glob(f".{escape(target.name)}.*-*{_PART}"):
            left.unlink(missing_ok=True)


def replace_file(file: Path, data: bytes, *, mode: int, keep_mode: bool = False) -> None:
    """Put a file's new bytes in its place in one step; a link stays, and what it leads to is replaced."""
    target = file.resolve()
    if keep_mode and target.exists():
        mode = target.stat().st_mode & 0o7777
    part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}{_PART}")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.chmod(mode)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None
