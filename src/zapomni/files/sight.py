"""Sight: the rules of a root asked for one path at a time, with the `.gitignore` files as they are now."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from zapomni.files.rules import GITIGNORE, GITIGNORE_LIMIT, SECRET

if TYPE_CHECKING:
    from zapomni.files.rules import Rules
    from zapomni.files.tree import Tree

_FOLDERS: Final = 1_000
"""Most folders whose rules are remembered, for a listing asks for every file of a folder."""


class Sight:
    """Tells what of a tree is left out, its folders being asked first; may be asked on several threads."""

    def __init__(self, tree: Tree, rules: Rules) -> None:
        self._tree = tree
        self._rules = rules
        self._known: dict[str, tuple[tuple[object, ...], Rules | str]] = {}

    def verdict(self, path: str, *, is_dir: bool) -> str | None:
        """Return None for what is kept, else the reason; the root is kept unless its own name is a secret's."""
        if not path:
            return verdict_on_root(self._tree, self._rules)
        inside = self._rules_in(path.rpartition("/")[0])
        return inside if isinstance(inside, str) else inside.verdict(path, is_dir=is_dir)

    def _rules_in(self, folder: str) -> Rules | str:
        stamps = tuple(_stamp(self._tree, above) for above in _from_root(folder))
        known = self._known.get(folder)
        if known is None or known[0] != stamps:
            if len(self._known) >= _FOLDERS:
                self._known.clear()
            known = self._known[folder] = (stamps, self._descend(folder))
        return known[1]

    def _descend(self, folder: str) -> Rules | str:
        rules = self._rules
        for above in _from_root(folder):
            if above and (reason := rules.verdict(above, is_dir=True)):
                return reason
            rules = rules_within(self._tree, rules, above)
        return rules


def rules_within(tree: Tree, rules: Rules, folder: str) -> Rules:
    """Return the rules inside a folder, which its own `.gitignore` adds to; a link is no `.gitignore`, as in git."""
    try:
        with tree.open(_gitignore(folder)) as file:
            return rules.within(folder, file.read(GITIGNORE_LIMIT))
    except OSError:
        return rules


def verdict_on_root(tree: Tree, rules: Rules) -> str | None:
    """Return None, or the reason why a root itself is not looked at: a file that may hold secrets."""
    name = tree.root.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return SECRET if rules.verdict(name, is_dir=False) == SECRET else None


def _from_root(folder: str) -> list[str]:
    return ["", *accumulate(folder.split("/"), "{}/{}".format)] if folder else [""]


def _gitignore(folder: str) -> str:
    return f"{folder}/{GITIGNORE}" if folder else GITIGNORE


def _stamp(tree: Tree, folder: str) -> object:
    try:
        info = tree.stat(_gitignore(folder))
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size, info.st_ino
