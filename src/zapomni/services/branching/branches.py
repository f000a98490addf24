"""Branches of the memory: making one, listing them, comparing one with the main line, dropping it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import InvalidInput, Refused
from zapomni.model import Run, Verb
from zapomni.model.branch import BRANCH_LIMIT, Branch
from zapomni.record import to_record
from zapomni.services.branching.fork import begun_from, check_there
from zapomni.services.branching.three_way import says_same
from zapomni.services.difference import Difference, compared
from zapomni.services.find import everything_in

if TYPE_CHECKING:
    from zapomni.model import Actor, Memory
    from zapomni.model.branch import Fork
    from zapomni.services.context import Context


class BranchChange(Struct, frozen=True, kw_only=True):
    """One memory that a branch changed, by `verb` create, update or delete; `moved_on`: so did the main line."""

    verb: Verb
    difference: Difference
    moved_on: bool = False


class Listed(Struct, frozen=True, kw_only=True):
    """A branch and how many memories it changed."""

    branch: Branch
    changes: int


class Dropped(Struct, frozen=True, kw_only=True):
    """What dropping a branch came to; undoing `run` brings the branch back."""

    branch: str
    run: str
    dropped: int


def create_branch(context: Context, name: str, *, actor: Actor) -> Branch:
    """Make a branch of the whole memory; nothing is copied.

    Raises `InvalidInput` for a name that cannot be one and `Refused` for one that is there already.
    """
    wanted = Branch(name=checked_name(name), created_at=context.clock(), actor=actor.name)
    with context.store.write() as tx:
        found = tx.branches.find(wanted.name)
        if found is not None and found.dropped_at is None:
            raise Refused(f"branch {wanted.name!r} is there already", remedy="Take another name, or work on that one")
        tx.branches.open(wanted)
    return wanted


def list_branches(context: Context) -> list[Listed]:
    """Return every branch by name, with the number of memories that it changed."""
    store = context.store.branches
    return [Listed(branch=one, changes=len(store.forks(one.name))) for one in store.all()]


def branch_changes(context: Context, name: str) -> list[BranchChange]:
    """Compare what a branch changed with the main line as the branch found it; raises `NotFound`."""
    check_there(context, name)
    return [_change(context, fork) for fork in context.store.branches.forks(name)]


def drop_branch(context: Context, name: str, *, actor: Actor) -> Dropped:
    """Delete what a branch holds, and the branch, in one run that undo takes back; raises `NotFound`."""
    check_there(context, name)
    now = context.clock()
    run = Run(id=context.new_id(), verb="drop", actor=actor.name, started_at=now, detail={"branch": name})
    with context.store.write() as tx:
        tx.start_run(run)
        forks = tx.branches.forks(name)
        for fork in forks:
            gone = fork.memory.gone(now)
            tx.put(fork.memory, gone, verb=Verb.DELETE, actor=actor, at=now, run=run.id)
        tx.branches.drop(name, now, run.id)
        tx.finish_run(run.id, context.clock(), {"branch": name, "dropped": len(forks)})
    return Dropped(branch=name, run=run.id, dropped=len(forks))


def checked_name(name: str) -> str:
    """Return the name of a branch; raises `InvalidInput` for one that cannot be."""
    text = name.strip()
    if not text or len(text) > BRANCH_LIMIT or not text.isprintable() or set(text) & set("@ "):
        problem = f"{name!r} is not one word of at most {BRANCH_LIMIT} printable characters without @"
        raise InvalidInput("branch", problem, remedy="For example try-shorter-notes or feature/login")
    return text


def _change(context: Context, fork: Fork) -> BranchChange:
    own = fork.memory
    after = None if fork.deletes else to_record(replace(own, scope=own.scope.base))
    if fork.base_id is None:
        return BranchChange(verb=Verb.CREATE, difference=compared(own.id, None, after, start=None, end=None))
    old, new = begun_from(context, fork), _current(context, fork.base_id)
    before = to_record(old) if old is not None else None
    return BranchChange(
        verb=Verb.DELETE if fork.deletes else Verb.UPDATE,
        difference=compared(fork.base_id, before, after, start=None, end=None),
        moved_on=old is None or new is None or new.deleted_at is not None or not says_same(old, new),
    )


def _current(context: Context, memory_id: str) -> Memory | None:
    found = context.store.get([memory_id], everything_in((), deleted=True))
    return found[0] if found else None
