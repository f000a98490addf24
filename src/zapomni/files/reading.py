"""Reading for agents: a part of a file, and what lies in a folder; both through the guard."""

from __future__ import annotations

from codecs import getincrementaldecoder
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.errors import InvalidInput
from zapomni.files.walk import DEPTH_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.files.guard import PathGuard, Place

PART_LIMIT: Final = 2**20
"""Most bytes of one part."""
PART: Final = 2**15
"""Bytes of a part that nobody named a size for: some eight thousand tokens of English."""
LIST_LIMIT: Final = 1_000
"""Most entries of one page, as for memories."""
DEPTH: Final = 3
"""Folders that a listing looks into by itself (features: three)."""

_LONGEST: Final = 4  # bytes of one character in UTF-8


class FilePart(Struct, frozen=True, kw_only=True):
    """A part of a file: `offset`, `next` and `total` count bytes; `next` is None at the end of the file."""

    path: str
    text: str
    offset: int
    next: int | None
    total: int


class FileList(Struct, frozen=True, kw_only=True):
    """One page of a listing; `next` is what to ask for the following one with, None at the end."""

    places: tuple[Place, ...]
    next: str | None


def read_part(guard: PathGuard, path: str, *, offset: int = 0, max_bytes: int = PART) -> FilePart:
    """Return what stands from a byte of a file on, as UTF-8 with U+FFFD for what is none, cut between characters.

    Raises `Refused` as the guard does, and `InvalidInput` for numbers out of range.
    """
    _check("offset", offset, 0, 2**63 - 1)
    _check("max_bytes", max_bytes, _LONGEST, PART_LIMIT)
    place = guard.resolve(path)
    with guard.open(place) as file:
        total = file.seek(0, 2)
        start = file.seek(min(offset, total))
        raw = file.read(max_bytes)
    end = start + len(raw)
    decoder = getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(raw, final=end >= total)
    end -= len(decoder.getstate()[0])
    return FilePart(path=place.shown, text=text, offset=start, next=end if end < total else None, total=total)


def list_files(
    guard: PathGuard, path: str = "", *, max_depth: int = DEPTH, limit: int = LIST_LIMIT, after: str | None = None
) -> FileList:
    """Return what may be seen in a folder, by path; without a path the roots and what they hold.

    `after` is the `next` of the page before. Raises as `read_part` does.
    """
    _check("max_depth", max_depth, 1, DEPTH_LIMIT)
    _check("limit", limit, 1, LIST_LIMIT)
    places = below(guard, path, max_depth)
    if after is not None:
        passed = after.split("/")
        places = (place for place in places if place.shown.split("/") > passed)
    page = list(islice(places, limit + 1))
    more = len(page) > limit
    return FileList(places=tuple(page[:limit]), next=page[limit - 1].shown if more else None)


def below(guard: PathGuard, path: str, depth: int) -> Iterator[Place]:
    """Yield what may be seen at a path by path: a file itself, what a folder holds, or every root and what it holds.

    Raises `Refused` as the guard does.
    """
    if path in {"", "."}:
        return _all(guard, depth)
    place = guard.resolve(path)
    return guard.listing(place, depth) if place.is_dir else iter((place,))


def _all(guard: PathGuard, depth: int) -> Iterator[Place]:
    for place in sorted(guard.tops(), key=lambda top: top.shown):
        yield place
        yield from guard.listing(place, depth - 1)


def _check(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidInput(field, f"{value} is not from {least} to {most:,}", remedy="Ask part by part")
