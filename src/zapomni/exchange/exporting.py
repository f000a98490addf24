"""The export verb: writes one state of the store in a format, to a file that appears only when complete."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

from zapomni.errors import InvalidInput, Refused, Unavailable
from zapomni.exchange import agent_memory_mcp, jsonl
from zapomni.exchange.entries import Format
from zapomni.record import stamp
from zapomni.services.parse import parse_choice
from zapomni.unfinished import clear_abandoned, part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zapomni.clock import Clock
    from zapomni.exchange.entries import Exported
    from zapomni.model import Link, Memory, Rejection, Revision, Run, Scope

    Write = Callable[[bytes], object]


class Snapshot(Protocol):
    """One state of some scopes of a store, row by row in the order in which it was stored."""

    def scopes(self) -> Mapping[Scope, str | None]:
        """Return the scopes with the repository that each is tied to."""

    def memories(self) -> Iterator[Memory]:
        """Yield every memory, deleted ones too."""

    def links(self) -> Iterator[Link]:
        """Yield every link whose two ends are among the memories."""

    def runs(self) -> Iterator[Run]:
        """Yield the runs that changed them."""

    def revisions(self) -> Iterator[Revision]:
        """Yield their history."""

    def rejections(self) -> Iterator[Rejection]:
        """Yield what was refused in the scopes."""

    def counts(self, *, history: bool = False) -> dict[str, int]:
        """Count scope, memory, link, run, revision and rejection; without `history` it has none."""


_HEADS: Final = (b"", b'{"format": "zapomni"', b"[")
"""How files begin that an export may replace: empty ones and older exports."""
_BESIDE: Final = ("-wal", "-shm", "-journal", ".lock")
_DATABASE: Final = b"SQLite format 3\0"
_BUFFER: Final = 2**20


def export(
    snapshot: Snapshot, target: str | Path | BinaryIO, form: Format, *, clock: Clock, history: bool = False
) -> Exported:
    """Write everything that the snapshot sees.

    A file appears only when complete, is its owner's alone, and replaces nothing but an older export. Raises
    `InvalidInput` for a format that cannot be written, `Refused` for a target that is something else,
    `Unavailable` when it cannot be written.
    """
    writers = {Format.ZAPOMNI: jsonl.write, Format.AGENT_MEMORY_MCP: agent_memory_mcp.write}
    if form not in writers:
        raise InvalidInput("format", f"{form.value} can only be read; {' and '.join(writers)} can be written")
    with _opened(target) as stream:
        return writers[form](snapshot, stream.write, exported_at=stamp(clock()), history=history)


def read_form(value: Format | str) -> Format:
    """Read the name of a format; raises `InvalidInput` for one that there is not."""
    return parse_choice("format", value, Format, Format.ZAPOMNI)


@contextmanager
def _opened(target: str | Path | BinaryIO) -> Iterator[BinaryIO]:
    if not isinstance(target, str | Path):
        yield target
        target.flush()
        return
    path = Path(target)
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            # A device or a pipe has no place to rename to, and what /dev/stdout leads to may have no name at all.
            with path.open("wb") as pipe:
                yield pipe
            return
        path = path.resolve()  # the file behind a link is what changes
        _refuse_other(path)
        with _whole_file(path) as stream:
            yield stream
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written ({error.strerror})", remedy="Look at its folder and the disk"
        ) from error


def _refuse_other(path: Path) -> None:
    if path.is_dir():
        raise Refused(f"{path} is a folder", remedy="Name a file in it")
    if _is_beside_a_store(path):
        raise Refused(f"{path} belongs to a store that is in use", remedy="Name another file")
    if path.exists():
        with path.open("rb") as stream:
            head = stream.read(max(map(len, _HEADS)))
        if not any(head == known or (known and head.startswith(known)) for known in _HEADS):
            raise Refused(f"{path} is no export and would be lost", remedy="Name another file, or move it away")


def _is_beside_a_store(path: Path) -> bool:
    """Tell whether a path is the log or a lock of a database beside it, whether or not it is there now."""
    if path.name.startswith(".") and path.name.endswith(".lock"):
        return True
    for end in _BESIDE:
        database = path.with_name(path.name.removesuffix(end) or path.name)
        if path.name.endswith(end) and database.is_file():
            with database.open("rb") as stream:
                return stream.read(len(_DATABASE)) == _DATABASE
    return False


@contextmanager
def _whole_file(path: Path) -> Iterator[BinaryIO]:
    clear_abandoned(path)
    part = part_of(path, "part")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb", buffering=_BUFFER) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
