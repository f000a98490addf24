"""The guard: which file a path from an agent means, if it is one of those that agents may see."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from msgspec import Struct

from zapomni.errors import InvalidInput, Refused
from zapomni.files.names import from_os, oddity, real_path, relative_to, to_os
from zapomni.files.tree import Tree, is_link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PATH_LIMIT: Final = 4_096
"""Most bytes of a path: PATH_MAX of Linux."""
_LINKS: Final = 40
"""Most links on the way to one file, as Linux counts them."""
_DRIVE: Final = re.compile("[A-Za-z]:")
_REFUSAL: Final = "The path names nothing that may be read here"
_REMEDY: Final = "List without a path to see the roots, and use the paths that a listing gives"


class Root(NamedTuple):
    """A folder or file that agents may read: its name, which begins the paths they see, and where it is."""

    name: str
    path: str


class Place(Struct, frozen=True, kw_only=True):
    """A file or folder inside a root; `relative` is its path there, with `/`, and `real` the one without links."""

    root: Root
    relative: str
    real: str
    is_dir: bool
    size: int

    @property
    def shown(self) -> str:
        """The path by which agents know it; it leads here again."""
        return f"{self.root.name}/{self.relative}" if self.relative else self.root.name


class PathGuard:
    """The roots that agents may read; everything else is refused, always with the same words.

    A refusal does not tell whether there is something at the path. `visible` is asked with a root's name, a path
    in it and whether that is a folder, for every place before it is given out.
    """

    def __init__(self, roots: Sequence[Root], visible: Callable[[str, str, bool], bool]) -> None:
        """Raise `InvalidInput` for two roots of one name and for a name that is no name of a folder."""
        names = [unicodedata.normalize("NFC", root.name) for root in roots]
        for name in names:
            if names.count(name) > 1 or "/" in name or name in {"", ".", ".."} or oddity(name):
                remedy = "Give each root a name of its own, without a slash"
                raise InvalidInput("root", f"{name!r} cannot be its name", remedy=remedy)
        self.roots = tuple(roots)
        self._trees = {root: Tree(real_path(root.path)) for root in roots}
        self._visible = visible
        starts = [(start, root) for root in roots for start in (self._trees[root].root, _absolute(root.path))]
        self._starts = sorted(starts, key=lambda start: len(_parts(start[0])), reverse=True)  # the inner root first

    def resolve(self, path: str) -> Place:
        """Return the place of a path: a root's name and the rest, the rest alone, or an absolute path.

        The rest alone must be there in exactly one root. Names are taken as the folders spell them; only the
        form of their accents (NFC or NFD) may differ. Links are followed within their root. Raises `Refused`
        for everything else.
        """
        place = self._find(path.replace("\\", "/") if os.name == "nt" else path)
        if place is None:
            raise refusal()
        return place

    def open(self, place: Place) -> BinaryIO:
        """Open a file for reading; raises `Refused` if it is none, or if a link was put in its way meanwhile."""
        try:
            return self._trees[place.root].open(place.relative)
        except OSError:
            raise refusal() from None

    def tops(self) -> list[Place]:
        """Return the roots that are there, each as a place."""
        return [place for root in self.roots if (place := self._settle(root, ()))]

    def listing(self, place: Place, depth: int) -> Iterator[Place]:
        """Yield what may be seen in a folder, `depth` folders deep, by path; links are left out."""
        waiting = [(child, depth - 1) for child in self._children(place)] if depth > 0 else []
        while waiting:
            place, left = waiting.pop()
            yield place
            if place.is_dir and left > 0:
                waiting += [(child, left - 1) for child in self._children(place)]

    def _find(self, path: str) -> Place | None:
        if not _is_sound(path):
            return None
        parts = [part for part in path.split("/") if part not in {"", "."}]
        if path.startswith("/") or _DRIVE.match(path):
            return self._find_absolute(parts)
        for root in self.roots:
            if parts and _same(root.name, parts[0]) and (place := self._settle(root, parts[1:])):
                return place
        places = [place for root in self.roots if (place := self._settle(root, parts))]
        return places[0] if len(places) == 1 else None

    def _find_absolute(self, parts: list[str]) -> Place | None:
        for start, root in self._starts:
            above = _parts(start)
            if _is_start(start, above, parts[: len(above)]):
                return self._settle(root, parts[len(above) :])
        return None

    def _settle(self, root: Root, parts: Sequence[str]) -> Place | None:
        try:
            path = _follow(self._trees[root], parts)
            return None if path is None else self._place(root, path, self._trees[root].stat(path))
        except OSError:
            return None

    def _place(self, root: Root, path: str, info: os.stat_result) -> Place | None:
        is_dir = stat.S_ISDIR(info.st_mode) and not is_link(info)
        if not (is_dir or stat.S_ISREG(info.st_mode)) or not self._visible(root.name, path, is_dir):
            return None
        above = self._trees[root].root
        real = os.path.normpath(f"{above}/{path}") if path else above
        return Place(root=root, relative=path, real=real, is_dir=is_dir, size=0 if is_dir else info.st_size)

    def _children(self, folder: Place) -> list[Place]:
        """Return what may be seen in one folder, the last first; nothing of a folder that cannot be read."""
        try:
            entries = self._trees[folder.root].entries(folder.relative)
        except OSError:
            return []
        start = f"{folder.relative}/" if folder.relative else ""
        sound = [entry for entry in reversed(entries) if not entry.problem]
        places = (self._place(folder.root, start + entry.name, entry.info) for entry in sound)
        return [place for place in places if place]


def refusal() -> Refused:
    """Return the one refusal for every path that is not given out."""
    return Refused(_REFUSAL, remedy=_REMEDY)


def _is_sound(path: str) -> bool:
    if len(path) > PATH_LIMIT or oddity(path) or len(path.encode()) > PATH_LIMIT:
        return False
    if path.startswith(("//", "~")) or (_DRIVE.match(path) and os.name != "nt"):
        return False
    return ".." not in path.split("/")


def _follow(tree: Tree, parts: Sequence[str]) -> str | None:
    """Return the path without links that the parts lead to, None when it is not in the tree.

    A name counts only as its folder lists it: so other letter case, short names, streams, devices and dots at
    the end lead nowhere, whatever the file system makes of them.
    """
    at: list[str] = []
    ahead, links = list(reversed(parts)), 0
    while ahead:
        name = _listed(tree.names("/".join(at)), ahead.pop())
        if name is None:
            return None
        at.append(name)
        if is_link(tree.stat("/".join(at))):
            links += 1
            target = relative_to(tree.root, real_path("/".join([tree.root, *at])))
            if target is None or links > _LINKS:
                return None
            at, ahead = [], ahead + list(reversed(target.split("/") if target else []))
    return "/".join(at)


def _listed(names: Sequence[str], name: str) -> str | None:
    if name in names:
        return name
    return next((listed for listed in names if _same(listed, name)), None)


def _same(one: str, other: str) -> bool:
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)


def _parts(path: str) -> list[str]:
    return [part for part in path.replace(os.sep, "/").split("/") if part]


def _absolute(path: str) -> str:
    return from_os(os.path.abspath(to_os(path)))  # noqa: PTH100 - no link is followed


def _is_start(start: str, above: Sequence[str], parts: Sequence[str]) -> bool:
    """Tell whether a path begins with a root's; where only letter case differs, the file system decides."""
    if len(parts) == len(above) and all(map(_same, above, parts)):
        return True
    asked = f"/{'/'.join(parts)}" if start.startswith("/") else "/".join(parts)
    if asked.casefold() != start.replace(os.sep, "/").casefold():
        return False
    try:
        return os.path.samestat(os.lstat(to_os(asked)), os.lstat(to_os(start)))
    except OSError:
        return False
