"""The routes of the reading memory at work: what a language model ingests, answers and consolidates."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from zapomni.errors import Unavailable
from zapomni.surfaces.http.answers import Answer, answered, failure
from zapomni.surfaces.reading_shapes import (
    answer_shape,
    consolidations_shape,
    forecast_shape,
    ingested_shape,
    insights_shape,
    planned_shape,
    reading_shape,
    supply_shape,
)
from zapomni.surfaces.shapes import PREVIEW

if TYPE_CHECKING:
    from zapomni.app import Zapomni
    from zapomni.services.reading.material import Material
    from zapomni.surfaces.http.asked import Asked


def ingest(app: Zapomni, asked: Asked) -> Answer:
    """Have a text read and its facts stored."""
    from zapomni.services.reading.material import material_of_text

    source = asked.text("source") or asked.actor.name
    return _ingested(app, asked, material_of_text(asked.text("text"), source=source))


def ingest_file(app: Zapomni, asked: Asked) -> Answer:
    """Have a file read and its facts stored."""
    material = app.reading.material(BytesIO(asked.data), asked.text("name"), source=asked.text("source"))
    return _ingested(app, asked, material)


def _ingested(app: Zapomni, asked: Asked, material: Material) -> Answer:
    """Take it in, or with `dry_run` say what that would use; 202 says that a part waits for a model."""
    scope, material = asked.text("scope") or None, app.reading.said(material, asked.text("said_at"))
    if asked.flag("dry_run"):
        return answered(forecast_shape(app.reading.would_ingest([material]), app.config.llm.model))
    came = app.reading.take_in(material, scope=scope, actor=asked.actor)
    app.wake()
    if came.skipped:
        return _in_vain(ingested_shape(came), came.reason)
    return answered(ingested_shape(came), 202 if came.waiting else 200)


def ask(app: Zapomni, asked: Asked) -> Answer:
    """Answer a question from the memory."""
    question, scopes, full, rehearsed = asked.text("q"), asked.scopes(), asked.flag("full"), asked.flag("dry_run")
    limit = asked.take("limit")
    wish: dict[str, Any] = {"scopes": scopes, "budget": asked.take("budget"), "select": asked.flag("select")}
    if rehearsed:
        supply = app.reading.would_ask(question, **wish, **asked.values)
        usd = app.reading.ledger.price(supply.usage.tokens_in, supply.usage.tokens_out)
        return answered(supply_shape(supply, app.config.llm.model, usd))
    tell = asked.tell
    answer = app.reading.ask(
        question,
        **wish,
        limit=limit,
        tell=(lambda supply: tell(reading_shape(supply))) if tell is not None else None,
        **asked.values,
    )
    shape = answer_shape(answer, preview=None if full else PREVIEW)
    if answer.problem is None:
        return answered(shape)
    return failure(answer.problem, beside=shape)


def consolidate(app: Zapomni, asked: Asked) -> Answer:
    """Find what memories that were not looked at yet mean together."""
    scopes, every = asked.scopes(), asked.flag("all")
    if asked.flag("dry_run"):
        plans = app.reading.plan_consolidation(scopes=scopes, every=every)
        read, written = sum(one.tokens_in for one in plans), sum(one.tokens_out for one in plans)
        return answered(planned_shape(plans, app.config.llm.model, app.reading.ledger.price(read, written)))
    rounds = app.reading.consolidate(scopes=scopes, every=every, actor=asked.actor)
    app.wake()
    shape = consolidations_shape(rounds)
    if "reason" in shape and not any(one.done for one in rounds):
        return _in_vain(shape, shape["reason"])
    return answered(shape)


def insights(app: Zapomni, asked: Asked) -> Answer:
    """Return what was concluded."""
    preview = None if asked.flag("full") else PREVIEW
    return answered(
        insights_shape(app.reading.insights(scopes=asked.scopes(), limit=asked.take("limit")), preview=preview)
    )


def _in_vain(shape: dict[str, Any], reason: str | None) -> Answer:
    """Return what came of a model that gave nothing, with the reason as the error that it is."""
    return failure(Unavailable(reason or "nothing was done"), beside=shape)
