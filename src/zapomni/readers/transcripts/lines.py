"""The lines of a transcript: JSON objects with their numbers, however the file looks while its client writes it."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

LINE_LIMIT: Final = 4 * 2**20
"""Bytes of a line that is read; longer ones hold what a tool printed."""
_BLOCK: Final = 2**20


class Line(NamedTuple):
    """One object and the number of its line, from 1."""

    no: int
    value: dict[str, Any]


def read_lines(path: Path, tail: int | None = None) -> list[Line]:
    """Return the objects of a file of JSON lines; of a file longer than `tail` bytes, those of its end.

    Half lines, lines that are no objects and lines over `LINE_LIMIT` are passed over. Raises `OSError`.
    """
    with path.open("rb") as file:
        no = _skip(file, path.stat().st_size - tail) if tail is not None else 0
        return list(_objects(file, no))


def first_lines(path: Path, most: int) -> list[Line]:
    """Return at most the first `most` objects of a file of JSON lines. Raises `OSError`."""
    with path.open("rb") as file:
        return list(islice(_objects(file, 0), most))


def _skip(file: BinaryIO, size: int) -> int:
    """Go over the first bytes and the rest of the line they end in; return how many lines that were."""
    lines = 0
    while size > 0 and (block := file.read(min(size, _BLOCK))):
        lines += block.count(b"\n")
        size -= len(block)
        if size <= 0 and not block.endswith(b"\n"):
            file.readline()
            lines += 1
    return lines


def _objects(file: BinaryIO, no: int) -> Iterator[Line]:
    while raw := file.readline(LINE_LIMIT):
        no += 1
        if not raw.endswith(b"\n") and len(raw) == LINE_LIMIT:
            while (rest := file.readline(LINE_LIMIT)) and not rest.endswith(b"\n"):
                pass
            continue
        try:
            value = json.loads(raw.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield Line(no, value)
