"""Writing on a branch: what belongs to the main line is never changed, the branch gets its own in its place.

A branch keeps what it writes as memories in scopes of its own (`Scope.on`), each tied to the memory that it stands
for. As long as that one is there and undeleted, readings on the branch see it and not the memory behind it; taking it
back shows the memory again. What the branch deletes lies, undeleted, where nobody reads (`deleted_on`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from zapomni.errors import NotFound, Refused
from zapomni.model import Verb, deleted_on
from zapomni.record import from_record
from zapomni.services.outdate import outdate
from zapomni.text.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from zapomni.model import Actor, Memory, Scope
    from zapomni.model.branch import Branch, Fork
    from zapomni.services.context import Context
    from zapomni.store.base import Tx


def write_change(
    context: Context, tx: Tx, before: Memory, after: Memory, *, verb: Verb, actor: Actor, run: str | None = None
) -> Memory:
    """Write a memory's next state where the caller stands, with what goes with it, and return it as written.

    On a branch a memory of the main line gets one of the branch in its place. `after` is as it would be on the main
    line: its next version, deleted or not.
    """
    branch = context.place.branch
    if branch and not before.scope.branch:
        return _fork(context, tx, branch, before, after, verb=verb, actor=actor, run=run)
    if after.deleted_at is not None and before.scope.branch and tx.branches.base_of(before.id) is not None:
        after = replace(after, scope=deleted_on(before.scope.branch), deleted_at=None)
    outdate(context, tx, before, after, actor=actor, at=after.updated_at, run=run)
    tx.put(before, after, verb=verb, actor=actor, at=after.updated_at, run=run)
    return after


def erase_copies(tx: Tx, memory: Memory, *, actor: Actor, at: datetime, run: str | None = None) -> None:
    """Erase what stands for a memory on any branch: it repeats the memory's text, as its history does."""
    for copy in tx.branches.copies(memory.id):
        tx.put(copy, None, verb=Verb.ERASE, actor=actor, at=at, run=run)


def twin_behind(tx: Tx, scope: Scope, mark: bytes, key: str | None) -> tuple[Memory | None, bool]:
    """Return what the main line holds of a text or key that is new to a branch, and whether the key found it.

    What the branch has of its own stands in front of it and is not returned.
    """
    keyed = tx.find_key(scope.base, key) if key else None
    found = keyed or tx.find_digest(scope.base, mark)
    if found is None or found.deleted_at is not None or tx.branches.copy_of(scope.branch, found.id) is not None:
        return None, False
    return found, keyed is not None


def begun_from(context: Context, fork: Fork) -> Memory | None:
    """Return the state of the main line that a branch's memory began with; None where the history does not tell."""
    for revision in context.store.history(fork.base_id) if fork.base_id else ():
        if revision.after is not None and revision.after["version"] == fork.base_version:
            return from_record(revision.after)
    return None


def open_branch(tx: Tx, name: str) -> Branch:
    """Return a branch that can be written to; raises `NotFound` for one that was never made, or was dropped."""
    found = tx.branches.find(name)
    if found is None or found.dropped_at is not None:
        raise no_branch(name, ())
    return found


def check_there(context: Context, name: str) -> None:
    """Raise `NotFound` for a branch that is not there, where making it would help nobody: it has nothing to show."""
    known = [one.name for one in context.store.branches.all()]
    if name not in known:
        raise no_branch(name, known, otherwise="`zapomni branch list` shows those that are there")


def no_branch(name: str, known: Iterable[str], *, otherwise: str = "") -> NotFound:
    """Return the error for a branch that is not there, naming those most like it, or else what else can be done.

    By default that is making it: it was to be worked on.
    """
    close = nearest(name, known)
    otherwise = otherwise or f"`zapomni branch create {name}` makes it"
    remedy = f"Did you mean {' or '.join(close)}?" if close else otherwise
    return NotFound(f"there is no branch {name!r}", remedy=remedy)


def refuse_on_branch(context: Context, what: str) -> None:
    """Raise `Refused` where the caller stands on a branch: this verb writes to the main line alone."""
    if context.place.branch:
        raise Refused(
            f"{what} works on the main line alone, and branch {context.place.branch!r} is set",
            remedy="Take away the setting `branch` (ZAPOMNI_BRANCH) for it",
        )


def _fork(
    context: Context,
    tx: Tx,
    branch: str,
    before: Memory,
    after: Memory,
    *,
    verb: Verb,
    actor: Actor,
    run: str | None,
) -> Memory:
    open_branch(tx, branch)
    tx.register_scope(after.scope.base, None)
    deleted = after.deleted_at is not None
    earlier = tx.branches.copy_of(branch, before.id, deleted=True)
    own = replace(
        after,
        id=earlier.id if earlier else context.new_id(),
        scope=deleted_on(branch) if deleted else after.scope.on(branch),
        deleted_at=None,
        version=earlier.version + 1 if earlier else 1,
    )
    tx.put(earlier, own, verb=verb, actor=actor, at=after.updated_at, run=run)
    tx.branches.tie(own.id, before.id, before.version)
    return own
