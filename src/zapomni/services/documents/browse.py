"""Reading files for agents: what is attached as one guarded tree, and a file's parts by bytes or lines."""

from __future__ import annotations

import unicodedata
from itertools import count as counted
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zapomni.errors import InvalidInput, ZapomniError
from zapomni.files.guard import PathGuard, Root
from zapomni.files.names import oddity
from zapomni.files.reading import PART_LIMIT, FilePart, read_part
from zapomni.files.rules import Rules
from zapomni.files.sight import Sight
from zapomni.files.tree import Tree
from zapomni.readers.decode import decode
from zapomni.readers.encoding import CYRILLIC, WESTERN
from zapomni.text.clean import REPLACEMENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zapomni.model.document import Source

LINES: Final = 100
"""Lines of a file from a citation on, where nobody says how many: two chunks of the usual size."""
_BLOCK: Final = 2**20


def read_bytes(guard: PathGuard, path: str, *, offset: int, most: int) -> FilePart:
    """Return at most so many bytes of a file from `offset` on, as text."""
    return _legible(guard, read_part(guard, path, offset=offset, max_bytes=most))


def read_lines(guard: PathGuard, path: str, first: int, count: int, *, most: int) -> FilePart:
    """Return `count` lines of a file from the line `first` on, counted from 1, and at most so many bytes."""
    start, end = _span(guard, path, first, count)
    part = read_part(guard, path, offset=start, max_bytes=min(max(end - start, 4), most))
    return _legible(guard, _upto(part, end))


def guard_of(sources: Iterable[Source]) -> PathGuard:
    """Return the guard over the roots of some sources, each under its rules; a root is called by its last part.

    A root of several sources shows what any of them does.
    """
    sights: dict[str, list[Sight]] = {}
    for source in sources:
        rules = Rules.of(source.include, source.exclude)
        sights.setdefault(source.root, []).append(Sight(Tree(source.root), rules))
    roots = _named(sights)
    by_name = {root.name: sights[root.path] for root in roots}

    def visible(name: str, path: str, is_dir: bool) -> bool:  # noqa: FBT001 - the guard's signature
        return any(sight.verdict(path, is_dir=is_dir) is None for sight in by_name[name])

    return PathGuard(roots, visible)


def _named(roots: Iterable[str]) -> list[Root]:
    """Name each root by its last part, with a number from the second of a name on."""
    named: dict[str, Root] = {}
    for path in roots:
        last = unicodedata.normalize("NFC", path.rpartition("/")[2])
        plain = last if last and not oddity(last) else "root"
        name = next(name for no in counted(1) if (name := plain if no == 1 else f"{plain}-{no}") not in named)
        named[name] = Root(name, path)
    return list(named.values())


def _span(guard: PathGuard, path: str, first: int, count: int) -> tuple[int, int]:
    """Return the bytes between which some lines of a file stand, no more than one part of it."""
    line, at, start = 1, 0, 0 if first == 1 else None
    with guard.open(guard.resolve(path)) as file:
        while (start is None or (line < first + count and at - start < PART_LIMIT)) and (row := file.readline(_BLOCK)):
            at += len(row)
            line += row.endswith(b"\n")
            if line == first and start is None:
                start = at
    if start is None or (start == at and first > 1):
        raise InvalidInput("line", f"{first} is behind the end of the file", remedy="Read it from an earlier line")
    return start, at


def _upto(part: FilePart, end: int) -> FilePart:
    """Return a part without what stands behind a byte, for the shortest parts reach beyond a short line."""
    if (part.total if part.next is None else part.next) <= end:
        return part
    text = part.text.encode()[: end - part.offset].decode("utf-8", "replace")
    return replace(part, text=text, next=end if end < part.total else None)


def _legible(guard: PathGuard, part: FilePart) -> FilePart:
    """Return a part of a file in an old encoding of one byte a letter in its own letters, as the index has it."""
    if REPLACEMENT not in part.text:
        return part
    with guard.open(guard.resolve(part.path)) as file:
        try:
            encoding = decode(file.read(_BLOCK)).encoding
        except ZapomniError:  # it is no text
            return part
        file.seek(part.offset)
        raw = file.read((part.total if part.next is None else part.next) - part.offset)
    return replace(part, text=raw.decode(encoding, "replace")) if encoding in {*CYRILLIC, WESTERN} else part
