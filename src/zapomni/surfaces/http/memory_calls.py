"""The routes of memories at work: read the values, call one method of the memory, shape what came back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model import By, Mode, Status
from zapomni.services.parse import parse_choice, parse_whole
from zapomni.surfaces.http.answers import Answer, answered, in_route_words
from zapomni.surfaces.shapes import (
    PREVIEW,
    outcome_shape,
    page_shape,
    recollection_shape,
    revision_shape,
    shown_shape,
    undone_shape,
)
from zapomni.surfaces.version_shapes import blame_shape, difference_shape

if TYPE_CHECKING:
    from zapomni.app import Zapomni
    from zapomni.model import Outcome
    from zapomni.surfaces.http.asked import Asked


def create(app: Zapomni, asked: Asked) -> Answer:
    """Store one memory; 201 says that it is new."""
    outcome = app.remember(asked.take("content"), scope=asked.take("scope"), actor=asked.actor, **asked.values)
    return _outcome(outcome)


def search(app: Zapomni, asked: Asked) -> Answer:
    """Return the memories that answer a question."""
    take = asked.take
    explain, with_docs = asked.flag("explain"), asked.flag("with_docs")
    preview = _preview(asked)
    found = app.recall(
        take("q"),
        scopes=asked.scopes(),
        limit=take("limit"),
        mode=parse_choice("mode", take("mode"), Mode, Mode.HYBRID),
        by=parse_choice("by", take("by"), By, By.TEXT),
        strict=asked.flag("strict"),
        budget=take("budget"),
        with_docs=with_docs,
        explain=explain,
        **asked.values,
    )
    return answered(recollection_shape(found, explain=explain, preview=preview, with_docs=with_docs))


def list_(app: Zapomni, asked: Asked) -> Answer:
    """Return one page, newest first."""
    take, preview = asked.take, _preview(asked)
    scopes = asked.scopes()
    page = app.list(scopes=scopes, limit=take("limit"), cursor=take("cursor"), **asked.values)
    return answered(page_shape(page, app.scopes(scopes), preview=preview))


def show(app: Zapomni, asked: Asked) -> Answer:
    """Return one memory whole."""
    return answered(shown_shape(*app.show(asked.take("id"), scopes=asked.scopes())))


def update(app: Zapomni, asked: Asked) -> Answer:
    """Change the fields given."""
    take = asked.take
    outcome = app.update(
        take("id"),
        scopes=asked.scopes(),
        move_to=take("move_to"),
        version=parse_whole("version", take("version"), 0, low=1) or None,
        actor=asked.actor,
        **asked.values,
    )
    return _outcome(outcome)


def delete(app: Zapomni, asked: Asked) -> Answer:
    """Delete one memory, recoverably or for good."""
    take = asked.take
    outcome = app.delete(
        take("id"),
        scopes=asked.scopes(),
        erase=asked.flag("erase"),
        never=take("never"),
        actor=asked.actor,
    )
    return _outcome(outcome)


def history(app: Zapomni, asked: Asked) -> Answer:
    """Return the revisions of one memory."""
    named = asked.take("id")
    memory, revisions = app.history(named, scopes=asked.scopes())
    rows = [revision_shape(revision) for revision in revisions]
    return answered({"id": memory.id if memory else rows[-1]["id"], "count": len(rows), "revisions": rows})


def diff(app: Zapomni, asked: Asked) -> Answer:
    """Compare one memory after two of its revisions."""
    first, last = (parse_whole(name, asked.take(name), 0, low=1) or None for name in ("start", "end"))
    return answered(difference_shape(app.versions.diff(asked.take("id"), scopes=asked.scopes(), start=first, end=last)))


def blame(app: Zapomni, asked: Asked) -> Answer:
    """Tell where each line of one memory comes from."""
    return answered(blame_shape(app.versions.blame(asked.take("id"), scopes=asked.scopes())))


def undo(app: Zapomni, asked: Asked) -> Answer:
    """Take back the latest change of one memory."""
    take = asked.take
    revision = parse_whole("to", take("to"), 0, low=1) or None
    undone = app.undo(take("id"), scopes=asked.scopes(), to=revision, actor=asked.actor)
    return answered(undone_shape(undone))


def undo_run(app: Zapomni, asked: Asked) -> Answer:
    """Take back a whole run: an import, an ingestion, a consolidation."""
    return answered(undone_shape(app.undo_run(asked.take("run"), actor=asked.actor)))


def _preview(asked: Asked) -> int | None:
    return None if asked.flag("full") else PREVIEW


def _outcome(outcome: Outcome) -> Answer:
    shape = outcome_shape(outcome)
    if "warnings" in shape:
        shape["warnings"] = [in_route_words(warning) for warning in shape["warnings"]]
    if outcome.status is Status.REFUSED:
        return answered(shape, 422)
    if outcome.status is Status.CREATED:
        return answered(shape, 201, Location=f"/memories/{outcome.id}")
    return answered(shape)
