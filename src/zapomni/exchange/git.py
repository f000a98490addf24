"""The whole history as a git repository: made once, continued ever after, and never rewritten by itself."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct

from zapomni.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from dulwich.diff_tree import TreeChange
    from dulwich.objects import Commit, ObjectID, ShaFile
    from dulwich.refs import Ref
    from dulwich.repo import Repo

    from zapomni.exchange.exporting import Snapshot
    from zapomni.model import Scope

_SECTION: Final = (b"zapomni",)
_MARK: Final = b"history"
"""The entry of a repository's settings by which it is known as ours."""
_HEAD: Final = cast("Ref", b"HEAD")
_MAIN: Final = cast("Ref", b"refs/heads/main")
_NEW: Final = ".git.new"
"""Where a repository is made before it takes its place."""
_US: Final = b"zapomni <zapomni@zapomni>"
_BATCH: Final = 10_000
"""Objects that are handed to git at once; each batch is one pack."""


class GitExported(Struct, frozen=True, kw_only=True):
    """What an export to git came to: commits added and in all, and memories that lie there now.

    `rebuilt` tells that the history was written anew. `waiting` counts changes of a run that has not ended.
    """

    folder: str
    added: int
    commits: int
    files: int
    head: str | None
    rebuilt: bool = False
    waiting: int = 0


def export_git(snapshot: Snapshot, folder: Path, scopes: Collection[Scope] = (), *, force: bool = False) -> GitExported:
    """Bring a repository to the history of a snapshot: one commit a run or change, in the order in which they came.

    A second export adds what came since. Raises `Refused` for a folder that holds something else, for files edited
    there, and where the history there is not the beginning of this one (something was erased since, other scopes
    were exported, or somebody committed to it): `force` then writes it anew. Raises `Unavailable` without dulwich
    and where the folder cannot be written.
    """
    try:
        from dulwich.file import FileLocked  # an extra
    except ImportError:
        raise Unavailable(
            "writing a git repository needs dulwich, which is not installed",
            remedy="Install it with `pip install 'zapomni[git]'`",
        ) from None
    try:
        with closing(_opened(folder)) as repo:
            return _Export(repo, folder).run(snapshot, scopes, force=force)
    except FileLocked as error:
        lock = os.fsdecode(error.lockfilename)
        raise Unavailable(
            f"{lock} is there: another program writes to the repository, or one was killed",
            remedy="Wait for it; if none is at work, delete that file",
        ) from error
    except OSError as error:
        raise Unavailable(
            f"{folder} cannot be written ({error.strerror or error})", remedy="Look at the folder and the disk"
        ) from error


def _opened(folder: Path) -> Repo:
    from dulwich.errors import NotGitRepository
    from dulwich.repo import Repo

    if folder.exists() and not folder.is_dir():
        raise Refused(f"{folder} is a file", remedy="Name a folder that is empty or not there yet")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # as every export, its owner's alone
    held = sorted(entry.name for entry in folder.iterdir() if entry.name != _NEW)
    if not held:
        _make(folder)
    try:
        repo = Repo(folder)
    except NotGitRepository:
        raise _foreign(folder) from None
    refs, config = repo.refs, repo.get_config()
    if _SECTION not in config or not config.get_boolean(_SECTION, _MARK):
        if refs.keys() - {_HEAD} or held != [".git"]:
            repo.close()
            raise _foreign(folder)
        _make_ours(repo)
    if refs.read_ref(_HEAD) != b"ref: " + _MAIN:
        repo.close()
        raise Refused(f"another branch than main is checked out in {folder}", remedy="`git checkout main` there first")
    return repo


def _make(folder: Path) -> None:
    """Make an empty repository of ours in one step: a kill leaves either none or a whole one."""
    from shutil import rmtree

    from dulwich.repo import Repo

    new = folder / _NEW
    rmtree(new, ignore_errors=True)
    new.mkdir()
    with closing(Repo.init(new, default_branch=b"main")) as repo:
        _make_ours(repo)
    (new / ".git").replace(folder / ".git")
    new.rmdir()


def _make_ours(repo: Repo) -> None:
    """Mark a repository without a commit as ours, and have git leave line ends and Cyrillic names alone."""
    config = repo.get_config()
    config.set(_SECTION, _MARK, b"true")
    for name, value in ((b"autocrlf", b"false"), (b"quotepath", b"false")):
        config.set((b"core",), name, value)
    config.write_to_path()
    repo.refs.set_symbolic_ref(_HEAD, _MAIN)


def _foreign(folder: Path) -> Refused:
    return Refused(
        f"{folder} is not empty and no history that zapomni wrote",
        remedy="Name a folder that is empty or not there yet",
    )


class _Export:
    """One export into an open repository."""

    def __init__(self, repo: Repo, folder: Path) -> None:
        self._repo = repo
        self._folder = folder
        self._kept: list[ShaFile] = []

    def run(self, snapshot: Snapshot, scopes: Collection[Scope], *, force: bool) -> GitExported:
        from zapomni.exchange.git_commits import History

        head = self._repo.refs[_MAIN] if _MAIN in self._repo.refs else None  # noqa: SIM401 - it is no mapping
        names = {commit.id for commit, _ in History(snapshot, scopes).commits()} if head is not None else set()
        rebuilt = head is not None and head not in names
        if rebuilt and not force:
            raise Refused(
                f"the history in {self._folder} is not the beginning of what would be written now: since then something"
                " was erased, or other scopes are asked for, or somebody committed to it",
                remedy="Export to another folder, or say --force to write it anew; what others committed there is lost",
            )
        history = History(snapshot, scopes)
        commits, added, last = 0, 0, None
        known = head is None or rebuilt
        for last, objects in history.commits():
            commits += 1
            if known:
                added += 1
                self._keep(objects)
            known = known or last.id == head
        self._check_edits(last)
        self._flush()
        self._move(head, last)
        files = self._check_out(last)
        if rebuilt:
            self._forget()
        return GitExported(
            folder=str(self._folder),
            added=added,
            commits=commits,
            files=files,
            head=last.id.decode() if last is not None else None,
            rebuilt=rebuilt,
            waiting=history.waiting,
        )

    def _keep(self, objects: list[ShaFile]) -> None:
        self._kept += objects
        if len(self._kept) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        objects = list({one.id: (one, None) for one in self._kept}.values())
        self._kept = []
        if objects:
            self._repo.object_store.add_objects(objects)

    def _move(self, head: ObjectID | None, last: Commit | None) -> None:
        """Make the last commit the newest of `main`."""
        refs = self._repo.refs
        if last is not None and last.id != head:
            if not refs.set_if_equals(_MAIN, head, last.id, committer=_US, timezone=0, message=b"zapomni export"):
                raise Unavailable(f"another export into {self._folder} was quicker", remedy="Export once more")
        elif last is None and head is not None:
            refs.remove_if_equals(_MAIN, head)

    def _forget(self) -> None:
        """Leave nothing of a history that was written anew."""
        from shutil import rmtree

        from dulwich.gc import garbage_collect

        for ref in self._repo.refs.keys() - {_MAIN, _HEAD}:
            self._repo.refs.remove_if_equals(ref, None)
        for name in ("ORIG_HEAD", "FETCH_HEAD"):
            Path(self._repo.controldir(), name).unlink(missing_ok=True)
        rmtree(Path(self._repo.controldir(), "logs"), ignore_errors=True)
        garbage_collect(self._repo, prune=True, grace_period=None)

    # --- the files ----------------------------------------------------------------------------------------
    def _check_edits(self, last: Commit | None) -> None:
        """Raise `Refused` where a file that is to change was edited or made by hand."""
        self._flush()
        for change in self._changes(last):
            path = (change.new or change.old).path  # type: ignore[union-attr] # one of both is there
            file = Path(self._folder, path.decode())
            if not file.is_file():
                continue
            held = file.read_bytes()
            old, new = (
                self._repo[side.sha].as_raw_string() if side and side.sha else None for side in (change.old, change.new)
            )
            if held != old and not (new or b"").startswith(held):  # a kill can leave the beginning of a file
                raise Refused(
                    f"{file} was edited, and exporting would lose that",
                    remedy="Move it away or take the edit back; an export is written for reading",
                )

    def _changes(self, last: Commit | None) -> Iterator[TreeChange]:
        from dulwich.diff_tree import tree_changes
        from dulwich.objects import Tree

        store = self._repo.object_store
        tree = last.tree if last is not None else Tree().id
        if last is None:
            store.add_object(Tree())
        index = self._repo.open_index()
        return tree_changes(store, index.commit(store) if len(index) else None, tree)

    def _check_out(self, last: Commit | None) -> int:
        """Bring the files of the folder to the last commit, and count them."""
        from dulwich.index import update_working_tree
        from dulwich.objects import Tree

        index = self._repo.open_index()
        old = index.commit(self._repo.object_store) if len(index) else None
        tree = last.tree if last is not None else Tree().id
        update_working_tree(self._repo, old, tree, self._changes(last), allow_overwrite_modified=True)
        return len(self._repo.open_index())
