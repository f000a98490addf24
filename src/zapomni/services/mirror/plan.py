"""The reconcile of a mirrored folder as a pure function: which file belongs to which memory, and what is to be done.

Both sides are compared with what they last agreed on. An edit of one side goes to the other; two edits that say the
same are agreed on; two that do not stay both, and a person decides.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from zapomni.model.mirror import Agreed


class Act(StrEnum):
    """What is done about one file, or one memory without a file."""

    KEEP = "keep"
    AGREE = "agree"
    TAKE = "take"
    WRITE = "write"
    CLASH = "clash"
    DROP = "drop"
    REVIVE = "revive"
    LEAVE = "leave"
    DELETE = "delete"
    REWRITE = "rewrite"
    FORGET = "forget"


class Seen(Struct, frozen=True, kw_only=True):
    """A file as it is now; `claims` is the memory that its own header names."""

    path: str
    sha256: str
    size: int = 0
    modified_ns: int = 0
    claims: str | None = None


class Pair(NamedTuple):
    """What was agreed of a file, and that file as it is now."""

    row: Agreed
    file: Seen


class Pairing(Struct, frozen=True, kw_only=True):
    """Every file beside what was agreed of it, the files of which nothing was, and what has lost its file."""

    pairs: tuple[Pair, ...]
    new: tuple[Seen, ...]
    gone: tuple[Agreed, ...]


class Case(Struct, frozen=True, kw_only=True):
    """What happened to a file and its memory since they agreed.

    `there` and `alive` tell whether file and memory are there at all, `edited` and `changed` whether they say something
    else than then, `alike` whether they say the same now. `usable` is false for a file that cannot be a memory as it
    is now, `held` true for one that is never written.
    """

    there: bool
    alive: bool
    edited: bool = False
    changed: bool = False
    alike: bool = False
    renewed: bool = False
    usable: bool = True
    held: bool = False


def pair_up(rows: Mapping[str, Agreed], files: Iterable[Seen], hidden: Callable[[str], bool]) -> Pairing:
    """Find for each agreed file where it is now.

    By its bytes first, those that a conflict is about among them, where it was or elsewhere, then by the memory that it
    names, by its path, and by its path in other case or normal form. Empty files are all alike, so their bytes say
    nothing of where they are now. Files that are `hidden` are not gone.
    """
    left = {file.path: file for file in files}
    open_rows = {path: row for path, row in rows.items() if row.tied}
    pairs: list[Pair] = []

    def tie(row: Agreed, file: Seen) -> None:
        pairs.append(Pair(row, file))
        del open_rows[row.path], left[file.path]

    for row in list(open_rows.values()):
        if (file := left.get(row.path)) and file.sha256 == row.sha256:
            tie(row, file)
    for named in (_by_bytes, _by_claim, _by_path, _by_folded_path):
        if not open_rows:
            break
        for row, file in named(open_rows, left):
            tie(row, file)
    gone = tuple(row for row in open_rows.values() if not hidden(row.path))
    return Pairing(pairs=tuple(pairs), new=tuple(left.values()), gone=gone)


def decide(case: Case) -> Act:
    """Say what is done about a file and its memory; whatever is done loses neither's text."""
    if not case.there:
        if not case.alive:
            return Act.FORGET
        return Act.REWRITE if case.changed else Act.DELETE
    if not case.usable:
        return Act.LEAVE
    if not case.alive:
        if case.edited:
            return Act.REVIVE
        return Act.LEAVE if case.held else Act.DROP
    if case.alike:
        return Act.AGREE if case.renewed else Act.KEEP
    if case.edited and case.changed:
        return Act.CLASH
    if case.edited:
        return Act.TAKE
    return Act.LEAVE if case.held else Act.WRITE


def resolved(rows: Iterable[Agreed]) -> set[tuple[str, str]]:
    """Return which memories mention which, by the `[[links]]` of their files: a file's name, or its path, names it."""
    tied = [(_link_key(row.path), row) for row in rows if row.tied]
    by_path = {key: row.memory_id for key, row in tied}
    by_name = {key.rpartition("/")[2]: row.memory_id for key, row in reversed(tied)}
    found: set[tuple[str, str]] = set()
    for _, row in tied:
        for link in row.links:
            key = _link_key(link.strip("/"))
            target = by_path.get(key) or by_name.get(key)
            if target and row.memory_id and target != row.memory_id:
                found.add((row.memory_id, target))
    return found


def path_key(path: str) -> str:
    """Return what two spellings of one path have in common: letter case and normal form aside."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def free_path(wanted: str, taken: Collection[str]) -> str:
    """Return a path of a note that nothing has, by whatever spelling; `taken` holds `path_key`s."""
    stem, dot, ending = wanted.rpartition(".")
    number, path = 1, wanted
    while path_key(path) in taken:
        number += 1
        path = f"{stem}-{number}{dot}{ending}"
    return path


@lru_cache(maxsize=16_384)  # every batch of a big folder asks for all of them
def _link_key(path: str) -> str:
    return path_key(path[:-3] if path.lower().endswith(".md") else path)


def _by_bytes(rows: Mapping[str, Agreed], files: Mapping[str, Seen]) -> list[tuple[Agreed, Seen]]:
    by_mark: dict[str, list[Seen]] = {}
    for file in files.values():
        if file.size:
            by_mark.setdefault(file.sha256, []).append(file)
    found = []
    for row in rows.values():
        fits = by_mark.get(row.sha256) or by_mark.get((row.clash or "").partition(":")[0])
        if fits:
            file = next((one for one in fits if _name(one.path) == _name(row.path)), fits[0])
            fits.remove(file)
            found.append((row, file))
    return found


def _by_claim(rows: Mapping[str, Agreed], files: Mapping[str, Seen]) -> list[tuple[Agreed, Seen]]:
    claims: dict[str, Seen] = {}
    for file in files.values():
        if file.claims is not None:
            at_home = (row := rows.get(file.path)) is not None and row.memory_id == file.claims
            if at_home or file.claims not in claims:
                claims[file.claims] = file
    return [(row, claims[row.memory_id]) for row in rows.values() if row.memory_id in claims]


def _by_path(rows: Mapping[str, Agreed], files: Mapping[str, Seen]) -> list[tuple[Agreed, Seen]]:
    return [(row, files[path]) for path, row in rows.items() if path in files]


def _by_folded_path(rows: Mapping[str, Agreed], files: Mapping[str, Seen]) -> list[tuple[Agreed, Seen]]:
    folded: dict[str, list[Seen]] = {}
    for file in files.values():
        folded.setdefault(path_key(file.path), []).append(file)
    found = []
    for row in rows.values():
        fits = folded.get(path_key(row.path), [])
        if len(fits) == 1:
            found.append((row, fits.pop()))
    return found


def _name(path: str) -> str:
    return path.rpartition("/")[2]
