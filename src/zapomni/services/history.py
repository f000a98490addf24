"""What happened to a memory, and taking it back: one change, or a whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import Conflict, NotFound, Refused
from zapomni.model import Memory, Revision, Run, Verb
from zapomni.record import from_record, read_scope
from zapomni.services.branching.fork import refuse_on_branch
from zapomni.services.find import find_one
from zapomni.services.outdate import outdate
from zapomni.services.scopes import named
from zapomni.text.fold import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Actor, Scope
    from zapomni.services.context import Context
    from zapomni.store.base import Tx


_PUT_ANEW: Final = frozenset({"version", "updated_at", "accessed_at", "access_count"})
"""Fields that putting back an earlier state writes anew."""


class Undone(Struct, frozen=True, kw_only=True):
    """What an undo came to: the ids brought back, and those passed over, each with the reason.

    Of a single memory, `took` is the change that was taken back, or `reached` the one that it was brought to.
    """

    run: str | None
    restored: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    took: Revision | None = None
    reached: Revision | None = None

    @property
    def deleted(self) -> bool:
        """Whether the single memory is a deleted one now."""
        if self.took is not None:
            return self.took.before is None or bool(self.took.before.get("deleted_at"))
        return self.reached is not None and bool((self.reached.after or {}).get("deleted_at"))

    @property
    def scope(self) -> Scope | None:
        """Where the single memory lies now."""
        step = self.took or self.reached
        if step is None:
            return None
        record = (step.before if step is self.took else None) or step.after or {}
        return read_scope(str(record["scope"])) if "scope" in record else None


def history(context: Context, short: str, *, scopes: Sequence[Scope]) -> tuple[Memory | None, list[Revision]]:
    """Return a memory (deleted ones too) and its revisions, oldest first.

    Of an erased memory, which only its whole id still names, there is no memory and no text, but who erased it
    and when.
    """
    try:
        memory = find_one(context, short, scopes, deleted=True)
    except NotFound:
        erased = context.store.history(short.strip())
        if erased and erased[-1].verb is Verb.ERASE:
            return None, erased
        raise
    return memory, context.store.history(memory.id)


def undo(context: Context, short: str, *, scopes: Sequence[Scope], actor: Actor, to: int | None = None) -> Undone:
    """Take back the latest change of a memory that still holds; each further undo goes one change further back.

    `to` names a revision instead: the memory is brought to what it was after it, forwards or backwards. Raises
    `NotFound`, or `Refused` for what cannot be taken back.
    """
    with context.store.write() as tx:
        memory = find_one(context, short, scopes, deleted=True)
        if not memory.scope.branch:
            refuse_on_branch(context, "taking back a change of the main line")
        revisions = context.store.history(memory.id)
        if to is not None:
            reached = _bring_to(context, tx, memory, revisions, to, actor)
            return Undone(run=None, restored=(memory.id,), reached=reached)
        latest = _still_holding(revisions)
        if latest is None:
            there = named(context.place, memory.scope)
            raise Refused(
                f"memory {memory.id} has no change left to take back",
                remedy=f"It is brought to any of its `history` by `zapomni undo {memory.id}{there} --to NUMBER`",
            )
        _take_back(context, tx, latest, actor=actor, run=None)
    return Undone(run=None, restored=(memory.id,), took=latest)


def brought_to(revision: Revision, earlier: Sequence[Revision]) -> int | None:
    """Return which earlier revision an `undo --to` went to, None for what is no such step.

    Of several that left the memory the same it is the first.
    """
    if revision.verb is not Verb.RESTORE or revision.undoes is not None or revision.after is None:
        return None
    same = [one.seq for one in earlier if one.after is not None and _says(one.after) == _says(revision.after)]
    return same[0] if same else None


def _says(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in _PUT_ANEW}


def _still_holding(revisions: Sequence[Revision]) -> Revision | None:
    """Return the newest change that is neither an undo nor undone."""
    undone: set[int] = set()
    for revision in reversed(revisions):
        if revision.seq in undone:
            continue
        if revision.undoes is None:
            return revision
        undone.add(revision.undoes)
    return None


def _bring_to(
    context: Context, tx: Tx, memory: Memory, revisions: Sequence[Revision], seq: int, actor: Actor
) -> Revision:
    found = next((revision for revision in revisions if revision.seq == seq), None)
    if found is None or found.after is None:
        known = ", ".join(str(revision.seq) for revision in revisions)
        raise NotFound(f"memory {memory.id} has no revision {seq} to go to", remedy=f"Its revisions are {known}")
    current = tx.get(memory.id) or memory
    _put_back(context, tx, current, from_record(found.after), verb=Verb.RESTORE, actor=actor)
    return found


def undo_run(context: Context, run_id: str, *, actor: Actor) -> Undone:
    """Take back every change of a run, newest first; memories changed since are left alone and named.

    Where nothing of it can be taken back, no run is recorded. Raises `NotFound` when there is no such run, `Refused`
    when it was taken back before.
    """
    found = context.store.run(run_id)
    if found is None:
        raise NotFound(f"no run {run_id!r}", remedy="`zapomni history --runs` lists them")
    _, revisions = found
    own = Run(id=context.new_id(), verb="undo", actor=actor.name, started_at=context.clock(), detail={"of": run_id})
    with context.store.write() as tx:
        restored, skipped = _take_all_back(context, tx, revisions, actor=actor, run=own.id)
        if revisions and not restored:
            _check_standing(context, run_id, revisions)
        tx.readings.unmark_consolidated(run=run_id)
        if not skipped:
            tx.proposals.reopen(run_id)
        tx.branches.reopen(run_id)
        recorded = bool(restored) or not revisions
        if recorded:
            tx.start_run(own)
            numbers = {"restored": len(restored), "skipped": len(skipped)}
            tx.finish_run(own.id, context.clock(), {**own.detail, **numbers})
    return Undone(run=own.id if recorded else None, restored=tuple(dict.fromkeys(restored)), skipped=tuple(skipped))


def _take_all_back(
    context: Context, tx: Tx, revisions: Sequence[Revision], *, actor: Actor, run: str
) -> tuple[list[str], list[tuple[str, str]]]:
    """Take back what can be of several changes; return the ids brought back, and those left alone with the reason."""
    restored: list[str] = []
    skipped: list[tuple[str, str]] = []
    taken: set[int] = set()
    for revision in reversed(revisions):
        reason = _since(context, revision, taken)
        if reason:
            skipped.append((revision.memory_id, reason))
            continue
        try:
            taken.add(_take_back(context, tx, revision, actor=actor, run=run))
        except (Conflict, Refused, NotFound) as error:
            skipped.append((revision.memory_id, error.message))
            continue
        restored.append(revision.memory_id)
    return restored, skipped


def _check_standing(context: Context, run_id: str, revisions: Sequence[Revision]) -> None:
    """Raise `Refused` for a run of which every change was taken back before."""
    takers = [_taken_back_by(context, revision) for revision in revisions]
    if None in takers:
        return
    runs = list(dict.fromkeys(taker.run for taker in takers if taker is not None and taker.run is not None))
    by = f" by run {', '.join(runs)}" if runs else ""
    forward = f"`zapomni undo --run {runs[0]}` goes forward again" if len(runs) == 1 else ""
    raise Refused(f"run {run_id} was already taken back{by}", remedy=forward)


def _taken_back_by(context: Context, revision: Revision) -> Revision | None:
    """Return the change that took back another one and stands itself; None where there is none."""
    undone: set[int] = set()
    for later in reversed(context.store.history(revision.memory_id)):
        if later.seq in undone or later.undoes is None:
            continue
        if later.undoes == revision.seq:
            return later
        undone.add(later.undoes)
    return None


def _since(context: Context, revision: Revision, taken: set[int]) -> str:
    """Say why a revision of a run is no longer the newest word on its memory, or nothing when it is."""
    latest = context.store.latest_revision(revision.memory_id)
    if latest is None or latest.seq == revision.seq or latest.seq in taken:
        return ""
    taker = _taken_back_by(context, revision)
    if taker is not None:
        return f"already taken back by {f'run {taker.run}' if taker.run else taker.actor}"
    return f"changed again by {latest.actor} ({latest.verb.value})"


def _take_back(context: Context, tx: Tx, revision: Revision, *, actor: Actor, run: str | None) -> int:
    if revision.verb is Verb.ERASE or (revision.before is None and revision.after is None):
        raise Refused(f"memory {revision.memory_id} was erased", remedy="Erased text is gone for good")
    current = tx.get(revision.memory_id)
    if current is None:
        raise NotFound(f"memory {revision.memory_id} is gone")
    if revision.before is None:
        after, verb = replace(current, deleted_at=context.clock()), Verb.DELETE
    else:
        after, verb = from_record(revision.before), Verb.RESTORE
    return _put_back(context, tx, current, after, verb=verb, actor=actor, run=run, undoes=revision.seq)


def _put_back(
    context: Context,
    tx: Tx,
    current: Memory,
    after: Memory,
    *,
    verb: Verb,
    actor: Actor,
    run: str | None = None,
    undoes: int | None = None,
) -> int:
    """Write an earlier state as the newest one; raises `Refused` for content that was refused meanwhile."""
    now = context.clock()
    after = replace(
        after,
        updated_at=now,
        version=current.version + 1,
        accessed_at=current.accessed_at,
        access_count=current.access_count,
    )
    if after.deleted_at is None:
        _welcome(tx, current, after)
    outdate(context, tx, current, after, actor=actor, at=now, run=run)
    return tx.put(current, after, verb=verb, actor=actor, at=now, run=run, undoes=undoes)


def _welcome(tx: Tx, current: Memory, after: Memory) -> None:
    """Let refused content back only with the memory whose deletion refused it: that takes the refusal back too."""
    mark = digest(after.content)
    rejection = tx.rejection(after.scope, mark)
    if rejection is None:
        return
    if (current.deleted_at, current.scope, digest(current.content)) != (rejection.at, after.scope, mark):
        raise Refused(f"this content was refused by {rejection.actor}: {rejection.reason}")
    tx.lift_rejection(after.scope, mark)
