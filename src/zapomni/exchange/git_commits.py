"""The history of memories as commits: the same history always gives the same commits, down to their names."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Final

from dulwich.objects import Commit

from zapomni.exchange.git_files import Files
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from dulwich.objects import ObjectID

    from zapomni.exchange.exporting import Snapshot
    from zapomni.exchange.git_files import Objects
    from zapomni.model import Revision, Run, Scope

_SUBJECT: Final = 72
"""Characters of a first line, as git's own tools expect it."""
_TOLD: Final = 100
"""Files of a run that its commit names."""
_ADDRESS: Final = re.compile(r"[^A-Za-z0-9.+]+")

Group = list["Revision"]


class History:
    """The commits of a snapshot, oldest first, those that change no file left out."""

    def __init__(self, snapshot: Snapshot, scopes: Collection[Scope]) -> None:
        self._runs: Mapping[str, Run] = {run.id: run for run in snapshot.runs()}
        self._revisions = snapshot.revisions()
        self._files = Files(scopes)
        self.waiting = 0
        """Changes of a run at the end of the history that has not ended: the next export takes them."""

    def commits(self) -> Iterator[tuple[Commit, Objects]]:
        """Yield each commit with what git has to keep for it, the commit itself last."""
        parent: Commit | None = None
        for group in self._groups():
            changes = [change for revision in group for change in self._changes(revision)]
            tree = self._files.tree()
            made, self._files.made = self._files.made, []
            if changes and (parent is None or parent.tree != tree):
                parent = self._commit(group, changes, tree, parent)
                yield parent, [*made, parent]

    def _groups(self) -> Iterator[Group]:
        """Yield the revisions of each run that follow each other, and every other revision alone."""
        open_run: Group | None = None
        for _, found in groupby(self._revisions, key=lambda one: one.run or f"#{one.seq}"):
            if open_run is not None:
                yield open_run  # another change came behind: nothing can be added to it any more
                open_run = None
            group = list(found)
            run = self._runs.get(group[0].run or "")
            if run is not None and run.finished_at is None:
                open_run = group
            else:
                yield group
        self.waiting = len(open_run or ())

    def _changes(self, revision: Revision) -> Iterator[str]:
        """Bring the files to what a revision left and say which it changed; of an erased memory nothing is left."""
        if revision.after is None:
            return
        path = self._files.apply(revision.memory_id, revision.after)
        if path:
            yield f"{revision.verb.value} {path}"

    def _commit(self, group: Group, changes: list[str], tree: ObjectID, parent: Commit | None) -> Commit:
        commit = Commit()
        commit.tree = tree
        commit.parents = [parent.id] if parent is not None else []
        commit.author = commit.committer = _author(group[-1].actor)
        commit.author_time = commit.commit_time = int(group[-1].at.timestamp())
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = self._message(group, changes).encode("utf-8", "backslashreplace")
        return commit

    def _message(self, group: Group, changes: list[str]) -> str:
        run = self._runs.get(group[0].run or "")
        verb = run.verb if run is not None else group[-1].verb.value
        what = _called(group[-1]) if len(changes) == 1 else f"{len(changes)} changes"
        lines = [cut(f"{verb}: {what}", _SUBJECT), "", *changes[:_TOLD]]
        if len(changes) > _TOLD:
            lines.append(f"and {len(changes) - _TOLD} more")
        lines += ["", f"Zapomni-Revision: {group[-1].seq}"]
        if group[0].run is not None:
            lines.append(f"Zapomni-Run: {group[0].run}")
        return "\n".join([*lines, ""])


def _called(revision: Revision) -> str:
    record = revision.after or {}
    text = record.get("title") or record.get("description") or record.get("content") or revision.memory_id
    return " ".join(str(text).split())


def _author(actor: str) -> bytes:
    name = " ".join(re.sub(r"[<>\x00-\x1f]", " ", actor).split()) or "zapomni"
    address = _ADDRESS.sub("-", actor).strip("-.") or "actor"
    return f"{name} <{address}@zapomni>".encode("utf-8", "replace")
