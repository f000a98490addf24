"""The JSON shapes of the review desk; see `shapes` for what every shape keeps to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.record import stamp
from zapomni.surfaces.shapes import PREVIEW, memory_shape
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model.miss import Miss
    from zapomni.model.proposal import Proposal
    from zapomni.services.review.handover import Lesson
    from zapomni.services.review.misses import Alarm, Missed


def proposals_shape(found: Sequence[Proposal], *, preview: int | None = None) -> dict[str, Any]:
    """Return what is proposed, oldest first."""
    return {"count": len(found), "proposals": [proposal_shape(one, preview=preview) for one in found]}


def proposal_shape(proposal: Proposal, *, preview: int | None = None) -> dict[str, Any]:
    """Return one proposal, texts of its detail cut to `preview` characters; `run` is the run that carried it out."""
    detail = dict(proposal.detail)
    return {
        "id": proposal.id,
        "kind": proposal.kind.value,
        "state": proposal.state.value,
        "scope": str(proposal.scope),
        "memories": list(proposal.memories),
        "reason": proposal.reason,
        "detail": detail if preview is None else shortened(detail, preview),
        "choices": list(proposal.choices),
        "created_at": stamp(proposal.created_at),
        "actor": proposal.actor,
        "decided_at": stamp(proposal.decided_at) if proposal.decided_at else None,
        "decided_by": proposal.decided_by,
        "answer": proposal.answer,
        "run": proposal.run,
    }


def shortened(value: Any, limit: int) -> Any:
    """Return JSON values in which no text is longer than so many characters."""
    if isinstance(value, str):
        return cut(value, limit)
    if isinstance(value, dict):
        return {name: shortened(item, limit) for name, item in value.items()}
    if isinstance(value, list):
        return [shortened(item, limit) for item in value]
    return value


def lessons_shape(found: Sequence[Lesson], *, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return what an agent has not acknowledged: rules, and answers to lessons that it raised in vain."""
    return {"count": len(found), "lessons": [lesson_shape(one, preview=preview) for one in found]}


def lesson_shape(lesson: Lesson, *, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return one lesson; `rejected` says why for one that was raised in vain and is null for a rule."""
    return {
        "id": lesson.id,
        "scope": str(lesson.scope),
        "from": str(lesson.raised_from),
        "at": stamp(lesson.at),
        "rejected": lesson.rejected or None,
        "memory": memory_shape(lesson.memory, preview=preview) if lesson.memory is not None else None,
    }


def acknowledged_shape(ids: Sequence[str]) -> dict[str, Any]:
    """Return what was acknowledged."""
    return {"count": len(ids), "acknowledged": list(ids)}


def missed_shape(missed: Missed) -> dict[str, Any]:
    """Return what reporting a miss came to; `proposal` is null where no better description was found."""
    shape = {
        "miss": miss_shape(missed.miss),
        "proposal": proposal_shape(missed.proposal) if missed.proposal is not None else None,
    }
    return shape | ({"reason": missed.note} if missed.note else {})


def misses_shape(found: Sequence[Miss], alarms: Sequence[Alarm]) -> dict[str, Any]:
    """Return the latest misses, and how each scope stands."""
    return {
        "count": len(found),
        "misses": [miss_shape(one) for one in found],
        "alarms": [alarm_shape(one) for one in alarms],
    }


def miss_shape(miss: Miss) -> dict[str, Any]:
    """Return one miss: what was asked, what was expected, what a recall gives instead."""
    return {
        "at": stamp(miss.at),
        "query": miss.query,
        "expected": miss.expected,
        "found": list(miss.found),
        "actor": miss.actor,
    }


def alarms_shape(alarms: Sequence[Alarm]) -> dict[str, Any]:
    """Return what the statistics of some scopes say of misses: nothing where none is crowded and none had any."""
    told = [alarm_shape(one) for one in alarms if one.crowded or one.misses]
    return {"alarms": told} if told else {}


def alarm_shape(alarm: Alarm) -> dict[str, Any]:
    """Return the two conditions of the alarm with the figures that they are counted from."""
    return {
        "scope": str(alarm.scope),
        "rings": alarm.rings,
        "crowded": alarm.crowded,
        "rising": alarm.rising,
        "records": alarm.records,
        "misses": alarm.misses,
        "misses_before": alarm.misses_before,
        "recalls": alarm.recalls,
        "recalls_before": alarm.recalls_before,
        "chance": round(alarm.chance, 6),
    }
