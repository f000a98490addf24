"""Capture: what a session came to, kept as candidates with their place in the transcript, and one record a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from zapomni.model import USER_SCOPE, About, Draft, Kind, Memory, Run, Status, Verb
from zapomni.services.remember import admit, entry_of
from zapomni.services.sessions.plan import Action, Plan, plan_session, source_of
from zapomni.text.clean import preview
from zapomni.text.cues import Sort, unlabelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zapomni.model import Actor
    from zapomni.model.session import Event
    from zapomni.services.context import Context
    from zapomni.services.sessions.plan import Item
    from zapomni.store.base import Tx

RECORD: Final = "session"
"""The tag of the one record of a session; its findings carry their sort."""
_IMPORTANCE: Final = {Sort.RULE: 0.7, Sort.DECIDED: 0.6, Sort.FOUND: 0.6, Sort.FAILED: 0.5, Sort.OPEN: 0.5}
_HEADINGS: Final = {
    Sort.DECIDED: "Decided",
    Sort.RULE: "Rules",
    Sort.FOUND: "Found",
    Sort.FAILED: "Tried in vain",
    Sort.OPEN: "Left open",
}
_TOPIC: Final = 80
_TOLD: Final = 160
_LISTED: Final = 8
"""Findings of one sort that a record names; the others are memories of their own as well."""


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
        detail = {"client": plan.client, "session": plan.session}
        tx.start_run(Run(id=run, verb="capture", actor=actor.name, started_at=context.clock(), detail=detail))
        for item in plan.items:
            memory = _write(context, tx, plan, item, actor, run)
            if memory is not None:
                written.append(memory)
        record = _record(context, tx, plan, written, actor, run) if written else None
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


def _record(context: Context, tx: Tx, plan: Plan, written: Sequence[Memory], actor: Actor, run: str) -> str | None:
    """Bring the one record of the session to all that stands of it."""
    source = source_of(plan.client, plan.session)
    newer = {memory.id: memory for memory in written}
    held = [newer.pop(memory.id, memory) for memory in plan.held if memory.deleted_at is None]
    before = next((memory for memory in held if RECORD in memory.tags), None)
    facts = [memory for memory in (*held, *newer.values()) if RECORD not in memory.tags]
    title = before.title if before else f"Session: {preview(plan.topic, _TOPIC) or plan.session}"
    draft = Draft(
        content="\n".join([f"{title} ({plan.client})", *_listed(facts)]),
        kind=Kind.EPISODIC,
        scope=plan.scope,
        title=title,
        tags=(RECORD,),
        source=source,
        key=source,
        metadata={"client": plan.client, "session": plan.session},
    )
    outcome = admit(context, tx, entry_of(context, draft, actor=actor, run=run))
    return outcome.id or None


def _listed(facts: Iterable[Memory]) -> list[str]:
    by_sort: dict[str, list[str]] = {}
    for memory in facts:
        for tag in memory.tags:
            by_sort.setdefault(tag, []).append(preview(unlabelled(memory.content), _TOLD))
    return [
        f"{heading}: {'; '.join(by_sort[sort][-_LISTED:])}" for sort, heading in _HEADINGS.items() if sort in by_sort
    ]
