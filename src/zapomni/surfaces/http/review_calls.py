"""The routes of the review desk at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.services.parse import parse_texts
from zapomni.surfaces.http.answers import Answer, answered
from zapomni.surfaces.review_shapes import (
    acknowledged_shape,
    lessons_shape,
    missed_shape,
    misses_shape,
    proposal_shape,
    proposals_shape,
)
from zapomni.surfaces.shapes import PREVIEW

if TYPE_CHECKING:
    from zapomni.app import Zapomni
    from zapomni.surfaces.http.asked import Asked


def list_(app: Zapomni, asked: Asked) -> Answer:
    """Return what is proposed."""
    found = app.review.proposals(
        scopes=asked.scopes(),
        kinds=parse_texts("kind", asked.take("kind", ())),
        states=parse_texts("state", asked.take("state", ())),
        limit=asked.take("limit"),
    )
    return answered(proposals_shape(found))


def show(app: Zapomni, asked: Asked) -> Answer:
    """Return one proposal."""
    return answered(proposal_shape(app.review.proposal(asked.text("id"), scopes=asked.scopes())))


def accept(app: Zapomni, asked: Asked) -> Answer:
    """Carry a proposal out."""
    choice = asked.text("choice") or None
    done = app.review.accept(asked.text("id"), choice=choice, scopes=asked.scopes(), actor=asked.actor)
    app.wake()
    return answered(proposal_shape(done))


def reject(app: Zapomni, asked: Asked) -> Answer:
    """Refuse a proposal."""
    done = app.review.reject(asked.text("id"), why=asked.text("why"), scopes=asked.scopes(), actor=asked.actor)
    return answered(proposal_shape(done))


def promote(app: Zapomni, asked: Asked) -> Answer:
    """Propose a lesson as a rule."""
    filed = app.review.promote(
        asked.text("id"),
        to=asked.text("to"),
        why=asked.text("why"),
        pinned=asked.flag("pinned"),
        scopes=asked.scopes(),
        actor=asked.actor,
    )
    return answered(proposal_shape(filed))


def lessons(app: Zapomni, asked: Asked) -> Answer:
    """Return what an agent has not acknowledged."""
    preview = None if asked.flag("full") else PREVIEW
    found = app.review.lessons(agent=asked.text("agent") or None, scopes=asked.scopes())
    return answered(lessons_shape(found, preview=preview))


def acknowledge(app: Zapomni, asked: Asked) -> Answer:
    """Take note of lessons."""
    ids = parse_texts("ids", asked.take("ids", ()))
    return answered(acknowledged_shape(app.review.acknowledge(ids, agent=asked.text("agent") or None)))


def miss(app: Zapomni, asked: Asked) -> Answer:
    """Keep a miss."""
    missed = app.review.miss(
        asked.text("query"), expected=asked.text("expected"), scopes=asked.scopes(), actor=asked.actor
    )
    return answered(missed_shape(missed))


def misses(app: Zapomni, asked: Asked) -> Answer:
    """Return the latest misses and how each scope stands."""
    scopes = asked.scopes()
    found = app.review.misses(scopes=scopes, limit=asked.take("limit"))
    return answered(misses_shape(found, app.review.alarms(scopes=scopes)))
