"""One reconcile of a mirrored folder as it goes on: what is agreed so far, what was counted, and its run."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zapomni.model import Actor, Link, LinkKind, Origin, Run
from zapomni.model.document import Skipped
from zapomni.model.mirror import Moves
from zapomni.services.find import everything_in
from zapomni.services.mirror.look import LEAF
from zapomni.services.mirror.plan import path_key, resolved
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zapomni.model import Memory
    from zapomni.model.document import Source
    from zapomni.model.mirror import Agreed
    from zapomni.services.context import Context
    from zapomni.services.mirror.look import Look
    from zapomni.services.mirror.plan import Seen
    from zapomni.services.mirror.says import Said
    from zapomni.store.base import Tx
    from zapomni.store.mirrors import Standing

VERB = "mirror"
"""What the runs of a reconcile are called, and how the names begin under which it writes."""

FOUND: Final = 1
DONE: Final = 2
"""The two steps in which files go elsewhere: what others did with them, and what a reconcile does after that."""


class Reconcile:
    """What all parts of one reconcile share.

    `rows` is what the store holds as agreed, by path, `paths` says where the file of each memory is, `returning` whose
    file it would be that comes back, by its SHA-256, `taken` holds the `path_key`s of what stands in the folder.
    `made` and `edited` are the files that it wrote.
    """

    def __init__(
        self,
        context: Context,
        source: Source,
        looked: Look,
        rows: Mapping[str, Agreed],
        standing: Mapping[str, Standing],
        asked_by: Actor,
    ) -> None:
        self.context = context
        self.source = source
        self.looked = looked
        self.rows = dict(rows)
        self.standing = standing
        self.removed = context.store.mirrors.removed(source.id)
        self.returning = {mark: memory_id for memory_id, mark in reversed(self.removed.items())}
        self.actor = Actor(name=f"{VERB}:{asked_by.name}", origin=Origin.FILE)
        self.paths = _paths_of(self.rows)
        known = (*rows, *looked.seen, *looked.waiting)
        self.taken = {path_key(path) for path in known if self.is_there(path) or looked.tree.is_there(path)}
        self.counts: Counter[str] = Counter()
        self.skipped: list[Skipped] = []
        self.notes: list[Skipped] = []
        self.made: list[str] = []
        self.edited: list[str] = []
        self._owed = max(context.store.mirrors.owed(source.id), default=0)
        self._run: str | None = None
        self._mentions = resolved(self.rows.values())

    @contextmanager
    def writing(self) -> Iterator[Tx]:
        """Write memories and what is agreed of them in one transaction, with the links between them."""
        rows, run = dict(self.rows), self._run
        try:
            with self.context.store.write() as tx:
                yield tx
                mentions = self._link(tx)
                if self._run is not None:
                    tx.finish_run(self._run, self.context.clock(), self._detail())
        except BaseException:
            self.rows, self.paths, self._run = rows, _paths_of(rows), run
            raise
        self._mentions = mentions

    def run(self, tx: Tx) -> str:
        """Return the run of what this reconcile changes in memories; it begins with the first change."""
        if self._run is None:
            self._run = self.context.new_id()
            now = self.context.clock()
            tx.start_run(Run(id=self._run, verb=VERB, actor=self.actor.name, started_at=now, detail=self._detail()))
        return self._run

    def agree(self, tx: Tx, row: Agreed, text: str | None) -> None:
        """Keep what is agreed of a file, the only one of its memory; None keeps the text that stands there.

        Lines of the file that it had before follow, unless that one is there.
        """
        if row.tied and row.memory_id is not None:
            if (other := self.paths.get(row.memory_id, row.path)) != row.path:
                self.forget(tx, [other])
                if not self.is_there(other):
                    self.owe(tx, FOUND, Moves(moved={other: row.path}))
            self.paths[row.memory_id] = row.path
        if text is not None and row.held:
            text = redact(text)[0]
        tx.mirrors.agree(self.source.id, row, text)
        self.rows[row.path] = row

    def forget(self, tx: Tx, paths: Iterable[str]) -> None:
        """Forget what was agreed of files."""
        gone = [path for path in paths if path in self.rows]
        for path in gone:
            row = self.rows.pop(path)
            if row.tied and row.memory_id is not None and self.paths.get(row.memory_id) == path:
                del self.paths[row.memory_id]
        tx.mirrors.forget(self.source.id, gone)

    def owe(self, tx: Tx, step: int, moves: Moves) -> None:
        """Keep where files went until the index says so: a scan that is killed before that leaves it to the next."""
        tx.mirrors.owe(self.source.id, self._owed + step, moves)

    def holds(self, row: Agreed) -> bool:
        """Tell whether what is agreed of a path is still of one memory: another file may have been moved over it."""
        return row.path in self.rows and self.rows[row.path].memory_id == row.memory_id

    def is_there(self, path: str) -> bool:
        """Tell whether a file stands at a path, seen or not."""
        return path in self.looked.seen or self.looked.hides(path)

    def skip(self, path: str, reason: str) -> None:
        """Name a file that was passed over."""
        if reason != LEAF:
            self.skipped.append(Skipped(path=path, reason=reason))

    def note(self, path: str, reason: str) -> None:
        """Tell something odd about a file."""
        self.notes.append(Skipped(path=path, reason=reason))

    def memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return memories of the scope by id, deleted ones too."""
        where = everything_in((self.source.scope,), deleted=True)
        return {memory.id: memory for memory in self.context.store.get(list(ids), where)}

    def _detail(self) -> dict[str, object]:
        return {"source": self.source.root, "scope": str(self.source.scope), **self.counts}

    def _link(self, tx: Tx) -> set[tuple[str, str]]:
        """Bring the links between memories from what the notes said before to what they say now, and return those."""
        before, after = self._mentions, resolved(self.rows.values())
        if before != after:
            tx.unlink(_links(before - after))
            tx.link(_links(after - before))
        return after


def _paths_of(rows: Mapping[str, Agreed]) -> dict[str, str]:
    """Return where the file of each memory is."""
    return {row.memory_id: path for path, row in rows.items() if row.tied and row.memory_id is not None}


def row_of(file: Seen, memory: Memory, one: Said) -> Agreed:
    """Return what is agreed when a file and a memory say the same."""
    from zapomni.model.mirror import Agreed

    return Agreed(
        path=file.path,
        sha256=file.sha256,
        size=file.size,
        modified_ns=file.modified_ns,
        memory_id=memory.id,
        version=memory.version,
        links=one.note.links,
        held=one.held,
    )


def moved(row: Agreed, file: Seen, version: int) -> Agreed:
    """Return what was agreed of a file that is the same elsewhere, or at another time."""
    return replace(
        row, path=file.path, sha256=file.sha256, size=file.size, modified_ns=file.modified_ns, version=version
    )


def _links(pairs: Iterable[tuple[str, str]]) -> list[Link]:
    return [Link(source=source, target=target, kind=LinkKind.MENTIONS) for source, target in sorted(pairs)]
