"""The routes of the review desk, rows of `table.CALLS`."""

from __future__ import annotations

from typing import Final

from zapomni.surfaces.http import review_calls
from zapomni.surfaces.http.call import Call, of
from zapomni.surfaces.http.fields import OTHERS, PAGED, REVIEW_FIELDS, SCOPES

_SEEN: Final = {"scope": SCOPES}

REVIEW: Final = (
    Call(
        method="GET",
        path="/proposals",
        name="list_proposals",
        title="List proposals",
        says="Changes that wait for a person, oldest first; with a state those that were decided.",
        query={**of(REVIEW_FIELDS, "kind", "state"), **_SEEN, **of(PAGED, "limit")},
        gives="Proposals",
        act=review_calls.list_,
    ),
    Call(
        method="GET",
        path="/proposals/{id}",
        name="get_proposal",
        title="Read a proposal",
        query=_SEEN,
        gives="Proposal",
        act=review_calls.show,
    ),
    Call(
        method="POST",
        path="/proposals/{id}/accept",
        name="accept_proposal",
        title="Accept a proposal",
        says="Carries it out as one run, whose undoing opens it again. One that fails stays open and changes nothing.",
        query=_SEEN,
        body=of(REVIEW_FIELDS, "choice"),
        gives="Proposal",
        writes=True,
        act=review_calls.accept,
    ),
    Call(
        method="POST",
        path="/proposals/{id}/reject",
        name="reject_proposal",
        title="Reject a proposal",
        says="It is not proposed again; whoever proposed it is told why.",
        query=_SEEN,
        body=of(REVIEW_FIELDS, "why"),
        required=("why",),
        gives="Proposal",
        writes=True,
        act=review_calls.reject,
    ),
    Call(
        method="POST",
        path="/memories/{id}/promote",
        name="promote_memory",
        title="Raise a lesson",
        says="Proposes that a memory become a rule of a team or of the user; nothing is copied before it is accepted.",
        query=_SEEN,
        body=of(REVIEW_FIELDS, "to", "why", "pinned"),
        required=("to",),
        gives="Proposal",
        writes=True,
        act=review_calls.promote,
    ),
    Call(
        method="GET",
        path="/lessons",
        name="list_lessons",
        title="Lessons for an agent",
        says="Rules that other agents raised, and answers to lessons raised in vain, until they are acknowledged.",
        query={**of(REVIEW_FIELDS, "agent"), **_SEEN, **of(OTHERS, "full")},
        gives="Lessons",
        act=review_calls.lessons,
    ),
    Call(
        method="POST",
        path="/lessons/acknowledge",
        name="acknowledge_lessons",
        title="Acknowledge lessons",
        body=of(REVIEW_FIELDS, "ids", "agent"),
        required=("ids",),
        gives="Acknowledged",
        writes=True,
        act=review_calls.acknowledge,
    ),
    Call(
        method="POST",
        path="/misses",
        name="report_miss",
        title="Report a miss",
        says="Keeps that a question did not find a memory, and proposes a better description.",
        body={**of(REVIEW_FIELDS, "query", "expected"), **_SEEN},
        required=("query", "expected"),
        gives="Missed",
        writes=True,
        thinks=True,
        act=review_calls.miss,
    ),
    Call(
        method="GET",
        path="/misses",
        name="list_misses",
        title="List misses",
        says="Questions that did not find their memory, newest first, and whether each scope has more than before.",
        query={**_SEEN, **of(PAGED, "limit")},
        gives="Misses",
        act=review_calls.misses,
    ),
)
