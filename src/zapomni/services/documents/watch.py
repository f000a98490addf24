"""Keeping the index of every source up to date, and mirrored folders in step, while a server runs."""

from __future__ import annotations

import logging
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.errors import Unavailable, ZapomniError
from zapomni.files.names import relative_to
from zapomni.files.rules import GITIGNORE, Rules
from zapomni.files.sight import Sight
from zapomni.files.tree import Tree
from zapomni.files.walk import walk
from zapomni.files.watching import watching
from zapomni.model.document import SourceMode
from zapomni.services.background import Background

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from zapomni.files.watching import Changes
    from zapomni.model.document import Source
    from zapomni.store.documents import Documents

PATIENCE_S: Final = 60.0
"""Seconds between two looks at whether a source was attached and whether each root is where it was, and before a
scan that was killed is tried again."""
STIR_S: Final = 2.0
"""Seconds between two looks at whether the memories of a mirrored folder changed."""
POLL_S: Final = 300.0
"""Seconds between two scans where the system does not tell what changes (features RA-4)."""
_LOG = logging.getLogger(__name__)


class Watcher(Background):
    """Notices what changes in indexed and mirrored sources; begins with a scan of every one.

    Of several servers over one store one watches; another takes over when it ends. `scan` brings the source of an id
    up to date, or all without one, in another process, and returns why it could not. `pulse` gives for a mirrored
    source a value that is another once its memories are.
    """

    name = "zapomni-watcher"

    def __init__(
        self,
        documents: Documents,
        scan: Callable[..., str | None],
        rest_s: float,
        pulse: Callable[[Source], object] = lambda _: None,
    ) -> None:
        super().__init__()
        self._pulse = pulse
        self._felt: dict[str, object] = {}
        self._documents = documents
        self._scan = scan
        self._rest_s = rest_s

    def run(self) -> None:
        """Work until `stopping` is set."""
        while not self.stopping.is_set():
            try:
                with self._documents.worker_lock("watch") as mine:
                    if mine:
                        self._watch()
            except ZapomniError as error:
                _LOG.warning("watching paused: %s", error.message)
            self.stopping.wait(PATIENCE_S)

    def _watch(self) -> None:
        while not self.stopping.is_set():
            try:
                self._round()
            except Unavailable as error:
                _LOG.warning("%s; looking every %.0f seconds instead", error.message, POLL_S)
                self._look()
                self.stopping.wait(POLL_S)

    def _round(self) -> None:
        """Scan every source, then what changes, until other folders have to be watched."""
        views = [_View.of(source) for source in watched(self._documents)]
        folders = sorted({folder for view in views for folder in view.folders})
        mirrored = any(view.source.mode is SourceMode.MIRROR for view in views)
        patience_s = STIR_S if mirrored else PATIENCE_S
        with watching(folders, rest_s=self._rest_s, patience_s=patience_s, stop=self.stopping) as changes:
            owed = self._look()  # what changes from here on is told
            self._felt.clear()  # a mirrored file that was being written just before is told of by nobody: look twice
            while (due := self._due(views, changes, owed)) is not None:
                owed = self._look(due)

    def _due(self, views: Sequence[_View], changes: Changes, owed: set[str]) -> set[str] | None:
        """Wait until sources are due, `owed` after a while in any case; None when other folders have to be watched."""
        while not _is_news(views, watched(self._documents)) and (changed := changes()) is not None:
            touched = [(view, path) for view in views for path in changed if view.concerns(path)]
            if any(view.is_reshaped_by(path) for view, path in touched):
                return None
            if due := {view.source.id for view, _ in touched} | owed | self._stirred(views):
                return due
        return None

    def _stirred(self, views: Sequence[_View]) -> set[str]:
        """Return the mirrored sources whose memories changed since their last scan began."""
        mirrored = [view.source for view in views if view.source.mode is SourceMode.MIRROR]
        return {source.id for source in mirrored if self._felt.get(source.id) != self._pulse(source)}

    def _look(self, due: Iterable[str] | None = None) -> set[str]:
        """Have sources scanned, all if none is named; return those that were not, for a scan may be killed."""
        sources = watched(self._documents)
        before = {source.id: source.scanned_at for source in sources}
        asked = before if due is None else set(due)
        self._felt |= {one.id: self._pulse(one) for one in sources if one.mode is SourceMode.MIRROR and one.id in asked}
        for names in [()] if due is None else [(source_id,) for source_id in sorted(due)]:
            if not self.stopping.is_set() and (reason := self._scan(*names)):
                _LOG.warning("a scan stopped: %s", reason)
        now = {source.id: source.scanned_at for source in watched(self._documents)}
        return {source_id for source_id in due or before if now.get(source_id, ...) == before.get(source_id)}


def watched(documents: Documents) -> list[Source]:
    """Return the sources whose files are indexed or mirrored, oldest first."""
    return [source for source in documents.sources() if source.mode is not SourceMode.INGEST]


class _View(NamedTuple):
    """What of one source is watched: its kept folders, and what in them matters."""

    source: Source
    folders: tuple[str, ...]
    tree: Tree
    sight: Sight
    standing: object

    @classmethod
    def of(cls, source: Source) -> _View:
        rules = Rules.of(source.include, source.exclude)
        tree = Tree(source.root)
        standing = _standing(tree)
        try:
            found = walk(source.root, rules, limit=lambda _: 0)
        except ZapomniError:
            return cls(source, (), tree, Sight(tree, rules), standing)
        return cls(source, tuple(_places(source, found.folders)), tree, Sight(tree, rules), standing)

    def concerns(self, path: str) -> bool:
        """Tell whether a change of this path can change the index; of what is gone nobody knows what it was."""
        inside = relative_to(self.source.root, path)
        if inside is None:
            return False
        if _is_rule(inside):
            return True
        return all(self.sight.verdict(inside, is_dir=is_dir) is None for is_dir in self._sorts(inside))

    def is_reshaped_by(self, path: str) -> bool:
        """Tell whether a change of this path, which concerns this source, can change what has to be watched."""
        inside = relative_to(self.source.root, path)
        return inside is not None and (_is_rule(inside) or path in self.folders or self._sorts(inside) == (True,))

    def _sorts(self, inside: str) -> tuple[bool, ...]:
        """Return whether a path is a folder; both answers for what is gone."""
        try:
            return (stat.S_ISDIR(self.tree.stat(inside).st_mode),)
        except OSError:
            return False, True


def _is_rule(path: str) -> bool:
    return path.rpartition("/")[2] == GITIGNORE


def _places(source: Source, folders: Iterable[str]) -> Iterator[str]:
    """Yield the folders by their whole path; a root that is a file is watched by the folder it lies in."""
    if not folders:
        yield source.root.rpartition("/")[0] or "/"
    for folder in folders:
        yield f"{source.root}/{folder}" if folder else source.root


def _standing(tree: Tree) -> object:
    """Return what stands at a root: a disk that is taken away or put back makes it another, and tells nobody."""
    try:
        info = tree.stat("")
    except OSError:
        return None
    return info.st_dev, info.st_ino, info.st_mode


def _is_news(views: Iterable[_View], now: Iterable[Source]) -> bool:
    """Tell whether sources were attached, let go of or given other patterns, or a root is another."""
    known = [(view.source.id, view.source.include, view.source.exclude) for view in views]
    return known != [(source.id, source.include, source.exclude) for source in now] or any(
        view.standing != _standing(view.tree) for view in views
    )
