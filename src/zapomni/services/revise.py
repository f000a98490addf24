"""Changing what is remembered: update, delete, erase. Each change is one revision that can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import Ambiguous, Conflict, InvalidInput, NotFound, Refused
from zapomni.model import UNSET, Memory, Outcome, Patch, Rejection, Run, Status, Trust, Verb
from zapomni.services.branching.fork import erase_copies, refuse_on_branch, write_change
from zapomni.services.find import find_one, given_id
from zapomni.services.outdate import outdate
from zapomni.services.prepare import Prepared, prepare, prepare_reason
from zapomni.services.remember import confirmation, is_confirmed_by, lifted, read_back
from zapomni.services.sessions.record import keep_away
from zapomni.text.fold import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.errors import ZapomniError
    from zapomni.model import Actor, Scope
    from zapomni.services.context import Context
    from zapomni.store.base import Tx


def update(
    context: Context,
    short: str,
    patch: Patch,
    *,
    scopes: Sequence[Scope],
    actor: Actor,
    version: int | None = None,
) -> Outcome:
    """Change the fields that the patch sets and leave the others; a candidate whose content it sets is confirmed.

    Raises `Conflict` with both texts when `version` is given and is not the current one, `Refused` when the
    new content was rejected before, `InvalidInput` for an empty patch or a bad value.
    """
    given_id(short)
    if all(getattr(patch, name) is UNSET for name in Patch.__struct_fields__):
        raise InvalidInput("patch", "it changes no field", remedy="Name at least one field to change")
    prepared = prepare(patch)
    with context.store.write() as tx:
        found = find_one(context, short, scopes)
        before = tx.get(found.id) or found
        _check_version(before, version, patch)
        confirms = patch.content is not UNSET and is_confirmed_by(before, actor)
        outcome = change(context, tx, before, prepared, actor=actor, trust=Trust.CONFIRMED if confirms else None)
    if confirms:
        outcome = replace(outcome, notes=(*outcome.notes, confirmation(before)))
    return outcome if outcome.status is Status.UNCHANGED else read_back(context, outcome)


def change(
    context: Context,
    tx: Tx,
    before: Memory,
    prepared: Prepared,
    *,
    actor: Actor,
    run: str | None = None,
    trust: Trust | None = None,
) -> Outcome:
    """Put a prepared patch of a memory into an open transaction; the caller reads it back after the commit.

    It is believed as before, unless the verb that changes it has found out another `trust`. Raises `Refused` when the
    new content was rejected before.
    """
    after = replace(_patched(before, prepared.values), trust=trust or before.trust)
    if after == before:
        return Outcome(status=Status.UNCHANGED, id=before.id, memory=before)
    if (digest(after.content), after.scope) != (digest(before.content), before.scope):
        _check_welcome(context, tx, after)
    after = replace(after, updated_at=context.clock(), version=before.version + 1)
    written = write_change(context, tx, before, after, verb=Verb.UPDATE, actor=actor, run=run)
    return _outcome(Status.UPDATED, written, prepared)


class Deletions(Struct, frozen=True, kw_only=True):
    """What deleting several memories came to: the run that takes all of it back, and one result each."""

    run: str
    results: tuple[Outcome | ZapomniError, ...]


def delete(context: Context, short: str, *, scopes: Sequence[Scope], actor: Actor, never: str | None = None) -> Outcome:
    """Delete a memory so that no reading finds it; `undo` brings it back.

    `never` gives the reason why this content must not be stored in its scope again: every write path then
    refuses it, until the deletion is undone. Raises `NotFound` when there is none; deleted ones count as none.
    """
    reason = _reason(context, never)
    with context.store.write() as tx:
        return _delete(context, tx, short, scopes, actor, never=reason)


def erase(context: Context, short: str, *, scopes: Sequence[Scope], actor: Actor) -> Outcome:
    """Remove a memory for good: text, words, vectors, links and the texts of its history.

    Takes deleted memories too. What stays is one entry of the history that says who erased it and when.
    """
    with context.store.write() as tx:
        erased, outcome = _erase(context, tx, short, scopes, actor)
    keep_away(context, [erased])
    return outcome


def delete_many(
    context: Context,
    shorts: Sequence[str],
    *,
    scopes: Sequence[Scope],
    actor: Actor,
    for_good: bool = False,
    never: str | None = None,
) -> Deletions:
    """Delete or erase several memories in one transaction and one run.

    One that cannot be deleted costs the others nothing: its error stands in its place.
    """
    reason = _reason(context, never)
    verb = "erase" if for_good else "delete"
    run = Run(id=context.new_id(), verb=verb, actor=actor.name, started_at=context.clock())
    results: list[Outcome | ZapomniError] = []
    erased: list[Memory] = []
    with context.store.write() as tx:
        tx.start_run(run)
        for short in shorts:
            try:
                if for_good:
                    memory, outcome = _erase(context, tx, short, scopes, actor, run=run.id)
                    erased.append(memory)
                    results.append(outcome)
                else:
                    results.append(_delete(context, tx, short, scopes, actor, never=reason, run=run.id))
            except (NotFound, Ambiguous, InvalidInput, Refused) as error:
                results.append(error)
        done = sum(isinstance(result, Outcome) for result in results)
        tx.finish_run(run.id, context.clock(), {"done": done, "failed": len(results) - done})
    keep_away(context, erased)
    return Deletions(run=run.id, results=tuple(results))


def _reason(context: Context, never: str | None) -> str | None:
    """Return the reason of a refusal, which holds for the main line and every branch; None for none."""
    if never is None:
        return None
    refuse_on_branch(context, "refusing a content for good")
    return prepare_reason(never)


def _delete(
    context: Context,
    tx: Tx,
    short: str,
    scopes: Sequence[Scope],
    actor: Actor,
    *,
    never: str | None,
    run: str | None = None,
) -> Outcome:
    found = find_one(context, short, scopes)
    now = context.clock()
    before = tx.get(found.id) or found
    after = before.gone(now)
    written = write_change(context, tx, before, after, verb=Verb.DELETE, actor=actor, run=run)
    if never:
        mark = digest(before.content).hex()
        tx.reject(Rejection(scope=before.scope, digest=mark, reason=never, at=now, actor=actor.name))
    return Outcome(status=Status.DELETED, id=written.id, memory=written)


def _erase(
    context: Context, tx: Tx, short: str, scopes: Sequence[Scope], actor: Actor, *, run: str | None = None
) -> tuple[Memory, Outcome]:
    found = find_one(context, short, scopes, deleted=True)
    before, now = tx.get(found.id) or found, context.clock()
    if not before.scope.branch:
        refuse_on_branch(context, "erasing what the main line holds")
    erase_copies(tx, before, actor=actor, at=now, run=run)
    outdate(context, tx, before, None, actor=actor, at=now, run=run)
    tx.put(before, None, verb=Verb.ERASE, actor=actor, at=now, run=run)
    return before, Outcome(status=Status.ERASED, id=found.id)


def _check_welcome(context: Context, tx: Tx, memory: Memory) -> None:
    rejection = tx.rejection(memory.scope.base, digest(memory.content))
    if rejection is not None:
        raise Refused(
            f"this content was refused before by {rejection.actor}: {rejection.reason}",
            remedy=lifted(context, tx, rejection),
        )


def _check_version(current: Memory, version: int | None, patch: Patch) -> None:
    if version is not None and version != current.version:
        raise Conflict(
            f"memory {current.id} is at version {current.version}, not {version}",
            current=current,
            wanted=patch,
            remedy="Read it again, merge your change and give the new version",
        )


def _patched(before: Memory, patch: Patch) -> Memory:
    values: dict[str, Any] = {
        name: getattr(patch, name) for name in Patch.__struct_fields__ if getattr(patch, name) is not UNSET
    }
    if "metadata" in values:
        merged = {**before.metadata, **values["metadata"]}
        values["metadata"] = {key: value for key, value in merged.items() if value not in (None, "")}
    after = replace(before, **values)
    if after.valid_from and after.valid_until and after.valid_until <= after.valid_from:
        raise InvalidInput("valid_until", f"{after.valid_until.isoformat()} is not after valid_from")
    return after


def _outcome(status: Status, memory: Memory, prepared: Prepared) -> Outcome:
    return Outcome(
        status=status,
        id=memory.id,
        memory=memory,
        redactions=prepared.redactions,
        warnings=prepared.warnings,
        waiting=True,
    )
