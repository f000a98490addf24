"""Capture: what a session came to, kept as candidates with their place in the transcript, and one record a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from zapomni.model import USER_SCOPE, About, Draft, Kind, Memory, Run, Status, Verb
from zapomni.services.remember import admit, entry_of
from zapomni.services.sessions.plan import Action, Plan, plan_session, source_of
from zapomni.services.sessions.record import IMPORTANCE, RECORD, is_record, record_content, record_title
from zapomni.text.cues import Sort
from zapomni.text.fold import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Actor
    from zapomni.model.session import Event
    from zapomni.services.context import Context
    from zapomni.services.sessions.plan import Item
    from zapomni.store.base import Tx

_IMPORTANCE: Final = {Sort.RULE: 0.7, Sort.DECIDED: 0.6, Sort.FOUND: 0.6, Sort.FAILED: 0.5, Sort.OPEN: 0.5}


class Captured(NamedTuple):
    """What capturing a session came to: the plan, the run that undoes it (None when nothing was written), the ids."""

    plan: Plan
    run: str | None = None
    written: tuple[str, ...] = ()
    record: str | None = None


def capture(context: Context, event: Event, *, actor: Actor) -> Captured:
    """Keep what a session came to; what is known is not kept again, and nothing new means that nothing is written."""
    return apply(context, plan_session(context, event), actor=actor)


def apply(context: Context, plan: Plan, *, actor: Actor) -> Captured:
    """Write what a plan says, in one run: new candidates, newer wordings, the record of the session."""
    if not plan.session or all(item.action is Action.KNOWN for item in plan.items):
        return Captured(plan)
    run = context.new_id()
    written: list[Memory] = []
    with context.store.write() as tx:
        refused = [item for item in plan.items if tx.rejection(plan.scope.base, digest(item.finding.text))]
        if all(item.action is Action.KNOWN or item in refused for item in plan.items):
            return Captured(plan)
        detail = {"client": plan.client, "session": plan.session}
        tx.start_run(Run(id=run, verb="capture", actor=actor.name, started_at=context.clock(), detail=detail))
        for item in plan.items:
            memory = _write(context, tx, plan, item, actor, run) if item not in refused else None
            if memory is not None:
                written.append(memory)
        gone = [*plan.erased, *(item.finding.text for item in refused)]
        record = _record(context, tx, plan, written, actor, run, gone) if written else None
        tx.finish_run(run, context.clock(), {**detail, "memories": len(written)})
    return Captured(plan, run, tuple(memory.id for memory in written), record)


def _write(context: Context, tx: Tx, plan: Plan, item: Item, actor: Actor, run: str) -> Memory | None:
    if item.action is Action.NEW:
        outcome = admit(context, tx, entry_of(context, _draft(plan, item), actor=actor, run=run))
        return outcome.memory if outcome.status is Status.CREATED else None
    if item.action is Action.KNOWN or item.memory is None:
        return None
    before = tx.get(item.memory.id)
    if before is None or before.deleted_at is not None or before.content == item.finding.text:
        return None
    now = context.clock()
    after = replace(
        before,
        content=item.finding.text,
        metadata={**before.metadata, **_evidence(plan, item)},
        updated_at=now,
        version=before.version + 1,
    )
    tx.put(before, after, verb=Verb.UPDATE, actor=actor, at=now, run=run)
    return after


def _draft(plan: Plan, item: Item) -> Draft:
    sort = item.finding.sort
    about = About.FEEDBACK if sort is Sort.RULE else About.PROJECT if plan.scope != USER_SCOPE else None
    return Draft(
        content=item.finding.text,
        kind=Kind.WORKING if sort is Sort.OPEN else Kind.SEMANTIC,
        scope=plan.scope,
        about=about,
        tags=(sort.value,),
        importance=_IMPORTANCE[sort],
        source=source_of(plan.client, plan.session),
        metadata=_evidence(plan, item),
    )


def _evidence(plan: Plan, item: Item) -> dict[str, Any]:
    """Return where in the transcript a finding stands: the characters are those of the turn's text."""
    turn, finding = item.turn, item.finding
    return {
        "client": plan.client,
        "session": plan.session,
        "said_by": turn.role,
        "uuid": turn.uuid,
        "line": turn.line,
        "characters": [finding.start, finding.end],
        "said_at": turn.at,
        "confidence": round(item.confidence, 2),
    }


def _record(
    context: Context, tx: Tx, plan: Plan, written: Sequence[Memory], actor: Actor, run: str, gone: Sequence[str]
) -> str | None:
    """Bring the one record of the session to all that stands of it."""
    source = source_of(plan.client, plan.session)
    newer = {memory.id: memory for memory in written}
    held = [newer.pop(memory.id, memory) for memory in plan.held if memory.deleted_at is None]
    before = next(filter(is_record, held), None)
    draft = Draft(
        content=record_content(memory for memory in (*held, *newer.values()) if not is_record(memory)),
        kind=Kind.EPISODIC,
        scope=plan.scope,
        title=before.title if before else record_title(plan.topic, plan.session, gone),
        importance=IMPORTANCE,
        tags=(RECORD,),
        source=source,
        key=source,
        metadata={"client": plan.client, "session": plan.session},
    )
    outcome = admit(context, tx, entry_of(context, draft, actor=actor, run=run))
    return outcome.id or None
