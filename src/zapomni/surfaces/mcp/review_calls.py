"""The tools of the review desk at work: what is proposed, raised, handed over and missed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import InvalidInput
from zapomni.services.parse import parse_flag, parse_scopes, parse_texts, parse_whole
from zapomni.surfaces.mcp.answers import Answer, compact, fitted, plain
from zapomni.surfaces.review_shapes import (
    acknowledged_shape,
    lessons_shape,
    missed_shape,
    proposal_shape,
    proposals_shape,
)
from zapomni.text.fence import fence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zapomni.app import Zapomni
    from zapomni.model import Actor
    from zapomni.surfaces.mcp.arguments import Given

_MOST: Final = 20
"""Proposals of one answer: a detail may hold two texts."""


def _proposals(app: Zapomni, given: Given, _: Actor) -> Answer:
    take = given.take
    scopes = parse_scopes(take("scope"))
    proposal_id = take("id")
    kinds, states = parse_texts("kind", take("kind") or ()), parse_texts("state", take("state") or ())
    limit = parse_whole("limit", take("limit"), _MOST, low=1, high=_MOST)
    if proposal_id is not None:
        found = [app.review.proposal(str(proposal_id), scopes=scopes)]
    else:
        found = app.review.proposals(scopes=scopes, kinds=kinds, states=states, limit=limit)
    told = partial(_rows_of, name="proposals", quoted=_quoted_proposal)
    return fitted(lambda preview: proposals_shape(found, preview=preview), told)


def _rows_of(shape: dict[str, Any], name: str, quoted: Callable[[dict[str, Any]], str]) -> Answer:
    """Return an answer whose rows under this name stand in fences in its text."""
    head = {field: value for field, value in shape.items() if field != name}
    return Answer(shape, "\n".join([compact(head), *map(quoted, shape[name])]))


def _quoted_proposal(row: dict[str, Any]) -> str:
    label = f"proposal={row['id']} {row['kind']} {row['state']} scope={row['scope']} by {row['actor']}"
    told = {name: row[name] for name in ("reason", "memories", "detail", "choices", "answer") if row[name]}
    return fence(compact(told), label)


def _quoted_lesson(row: dict[str, Any]) -> str:
    label = f"lesson={row['id']} {row['from']} to {row['scope']}" + (" rejected" if row["rejected"] else " rule")
    said = row["memory"]["content"] if row["memory"] is not None else ""
    return fence(f"rejected: {row['rejected']}\n{said}" if row["rejected"] else said, label)


def _decide(app: Zapomni, given: Given, actor: Actor) -> Answer:
    take = given.take
    said: dict[str, Any] = {"scopes": parse_scopes(take("scope")), "actor": actor}
    accepted, why, choice = take("accept"), take("why"), take("choice")
    if accepted is None:
        raise InvalidInput("accept", "it is missing", remedy="Say true for the user's yes, false for the user's no")
    if not parse_flag("accept", accepted):
        return plain(proposal_shape(app.review.reject(take("id"), why=str(why or ""), **said)))
    done = app.review.accept(take("id"), choice=choice, **said)
    app.wake()
    return plain(proposal_shape(done))


def _promote(app: Zapomni, given: Given, actor: Actor) -> Answer:
    take = given.take
    filed = app.review.promote(
        take("id"),
        to=take("to"),
        why=str(take("why") or ""),
        pinned=parse_flag("pinned", take("pinned")),
        scopes=parse_scopes(take("scope")),
        actor=actor,
    )
    return plain(proposal_shape(filed))


def _lessons(app: Zapomni, given: Given, _: Actor) -> Answer:
    found = app.review.lessons(agent=given.take("agent"), scopes=parse_scopes(given.take("scope")))
    told = partial(_rows_of, name="lessons", quoted=_quoted_lesson)
    return fitted(lambda preview: lessons_shape(found, preview=preview), told)


def _acknowledge(app: Zapomni, given: Given, _: Actor) -> Answer:
    ids = parse_texts("ids", given.take("ids") or ())
    return plain(acknowledged_shape(app.review.acknowledge(ids, agent=given.take("agent"))))


def _miss(app: Zapomni, given: Given, actor: Actor) -> Answer:
    take = given.take
    scopes = parse_scopes(take("scope"))
    return plain(missed_shape(app.review.miss(take("query"), expected=take("expected"), scopes=scopes, actor=actor)))


REVIEW_CALLS: Final[Mapping[str, Callable[[Zapomni, Given, Actor], Answer]]] = {
    "list_proposals": _proposals,
    "decide_proposal": _decide,
    "promote_memory": _promote,
    "next_lessons": _lessons,
    "acknowledge_lessons": _acknowledge,
    "report_miss": _miss,
}
