"""The routes about the server itself at work: how it is, what it holds, what it cost, and what it can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni import __version__
from zapomni.errors import ZapomniError
from zapomni.services.parse import parse_whole
from zapomni.surfaces.cost_shapes import costs_shape
from zapomni.surfaces.http.answers import Answer, answered
from zapomni.surfaces.review_shapes import alarms_shape
from zapomni.surfaces.shapes import meaning_shape, state_shape, stats_shape

if TYPE_CHECKING:
    from zapomni.app import Zapomni
    from zapomni.surfaces.http.asked import Asked

DAYS_USUAL: Final = 7


def health(app: Zapomni, _: Asked) -> Answer:
    """Say whether the server works, with nothing that a stranger may not know."""
    try:
        state = meaning_shape(app.embedding)
    except ZapomniError as error:
        return answered({"status": error.code, "version": __version__}, 503)
    mode = "hybrid" if state.get("space") else "lexical"
    return answered({"status": "ok", "version": __version__, "mode": mode, "waiting": state.get("waiting", 0)})


def status(app: Zapomni, asked: Asked) -> Answer:
    """Return what the memory holds and how it stands."""
    scopes = asked.scopes()
    counts = stats_shape(app.stats(scopes=scopes, **asked.values), app.scopes(scopes))
    return answered(counts | state_shape(app) | alarms_shape(app.review.alarms(scopes=scopes)))


def cost(app: Zapomni, asked: Asked) -> Answer:
    """Return what language models used."""
    from zapomni.services.reading.ledger import DAYS

    days = parse_whole("days", asked.take("days"), DAYS_USUAL, low=1, high=DAYS)
    return answered(costs_shape(app.reading.ledger.costs(days)))


def openapi(_: Zapomni, __: Asked) -> Answer:
    """Return the description of every route."""
    from zapomni.surfaces.http.openapi import document

    return answered(document())


def docs(_: Zapomni, __: Asked) -> Answer:
    """Return the same for people."""
    from zapomni.surfaces.http.page import page

    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return Answer(
        body=page().encode(), media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": policy}
    )
