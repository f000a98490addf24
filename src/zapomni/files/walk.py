"""The walk: every file of a root that its rules keep, and what was passed over and why."""

from __future__ import annotations

import stat
from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from zapomni.errors import NotFound, Unavailable
from zapomni.files.names import real_path, relative_to, shown
from zapomni.files.rules import SECRET
from zapomni.files.sight import rules_within, verdict_on_root
from zapomni.files.tree import Tree, is_link
from zapomni.model.document import Skipped

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from zapomni.files.rules import Rules
    from zapomni.files.tree import Entry

DEPTH_LIMIT: Final = 64
"""Most folders within one another; deeper trees are made by accident, or to do harm."""
_HOLDS_SECRETS: Final = "it may hold secrets"


class Found(Struct, frozen=True, kw_only=True):
    """A file that is kept: its path under the root, its size in bytes, its own time, its device and number there."""

    path: str
    size: int
    modified_ns: int
    identity: tuple[int, int]


class Walk(Struct, frozen=True, kw_only=True):
    """What lies under a root.

    `folders` are those that were entered, the root (an empty path) first; none for a root that is a file.
    `excluded` counts by reason what the rules leave out, a folder once. `skipped` names everything else that is
    not in `files`, and `unread` the folders among them whose content nobody knows. All are sorted by path.
    """

    files: tuple[Found, ...]
    folders: tuple[str, ...] = ()
    excluded: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    unread: tuple[str, ...] = ()

    def hides(self, path: str) -> bool:
        """Tell whether a path lies in a folder that could not be looked into."""
        return any(path.startswith(f"{folder}/") for folder in self.unread)


def walk(root: str, rules: Rules, *, limit: Callable[[str], int]) -> Walk:
    """Walk through a folder, or look at the one file that the root is; `limit` tells a path's most bytes.

    No link is followed but one that is the root. Raises `NotFound` for a root that is neither file nor folder,
    `Unavailable` for one that cannot be read.
    """
    tree = Tree(real_path(root))
    try:
        info = tree.stat("")
    except OSError as error:
        remedy = "Name a folder or file that is there"
        raise NotFound(f"{shown(root)} cannot be found ({error.strerror})", remedy=remedy) from None
    walker = _Walker(tree, limit)
    if stat.S_ISDIR(info.st_mode):
        walker.walk(rules)
    elif not stat.S_ISREG(info.st_mode):
        raise NotFound(f"{shown(root)} is neither file nor folder", remedy="Name a folder or file")
    elif verdict_on_root(tree, rules) == SECRET:
        walker.skip("", _HOLDS_SECRETS)
    else:
        walker.take("", info)
    return walker.result()


class _Walker:
    def __init__(self, tree: Tree, limit: Callable[[str], int]) -> None:
        self._tree = tree
        self._limit = limit
        self._files: dict[str, Found] = {}
        self._folders: list[str] = []
        self._excluded: Counter[str] = Counter()
        self._skipped: list[Skipped] = []
        self._links: list[tuple[str, str]] = []
        self._unread: list[str] = []

    def walk(self, rules: Rules) -> None:
        waiting = [("", rules)]
        while waiting:
            folder, rules = waiting.pop()
            try:
                entries = self._tree.entries(folder)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._cannot_enter(folder, error)
                continue
            self._folders.append(folder)
            inside = rules_within(self._tree, rules, folder)
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if self._judge(path, entry, inside):
                    waiting.append((path, inside))
        self._settle_links()

    def take(self, path: str, info: os.stat_result) -> None:
        limit = self._limit(path or self._tree.root)
        if info.st_size > limit:
            self.skip(path, f"it has {info.st_size:,} bytes, more than {limit:,}")
            return
        self._files[path] = Found(
            path=path, size=info.st_size, modified_ns=info.st_mtime_ns, identity=(info.st_dev, info.st_ino)
        )

    def skip(self, path: str, reason: str) -> None:
        self._skipped.append(Skipped(path=path, reason=reason))

    def result(self) -> Walk:
        return Walk(
            files=tuple(self._files[path] for path in sorted(self._files)),
            folders=tuple(sorted(self._folders)),
            excluded=dict(sorted(self._excluded.items())),
            skipped=tuple(sorted(self._skipped, key=lambda skipped: skipped.path)),
            unread=tuple(sorted(self._unread)),
        )

    def _judge(self, path: str, entry: Entry, rules: Rules) -> bool:
        """Take one name to where it belongs, and tell whether it is a folder to be entered."""
        mode = entry.info.st_mode
        linked, is_dir = is_link(entry.info), stat.S_ISDIR(mode)
        if entry.problem:
            self.skip(path, entry.problem)
        elif reason := rules.verdict(path, is_dir=is_dir):
            self._leave_out(path, reason)
        elif linked:
            self._note_link(path)
        elif is_dir:
            if path.count("/") + 1 < DEPTH_LIMIT:
                return True
            self.skip(path, f"it lies deeper than {DEPTH_LIMIT} folders")
        elif stat.S_ISREG(mode):
            self.take(path, entry.info)
        else:
            self.skip(path, "it is neither file nor folder")
        return False

    def _leave_out(self, path: str, reason: str) -> None:
        if reason == SECRET:
            self.skip(path, _HOLDS_SECRETS)
        else:
            self._excluded[reason] += 1

    def _note_link(self, path: str) -> None:
        target = relative_to(self._tree.root, real_path(f"{self._tree.root}/{path}"))
        if target is None:
            self.skip(path, "a link that leads outside")
        elif self._tree.is_there(target):
            self._links.append((path, target))
        else:
            self.skip(path, "a link that leads nowhere")

    def _settle_links(self) -> None:
        """Say of each link inside whether its target was found, which is known when all is walked through."""
        folders = set(self._folders)
        for path, target in self._links:
            state = "indexed itself" if target in folders or target in self._files else "left out"
            self.skip(path, f"a link to {shown(target) or 'the root'}, which is {state}")

    def _cannot_enter(self, folder: str, error: OSError) -> None:
        if not folder:
            remedy = "Give the one who runs zapomni the right to read it"
            raise Unavailable(f"{shown(self._tree.root)} cannot be read ({error.strerror})", remedy=remedy) from None
        self._unread.append(folder)
        self.skip(folder, f"it cannot be read ({error.strerror})")
