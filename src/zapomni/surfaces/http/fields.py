"""What every parameter and field of a body is, by its name: said once, for all routes that take it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.model import CONTENT_LIMIT, PAGE_LIMIT, RECALL_LIMIT, About, By, Kind, Mode, Trust
from zapomni.model.document import DocumentKind
from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.services.reading.ledger import DAYS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

Schema = dict[str, Any]


def _text(says: str) -> Schema:
    return {"type": "string", "description": says}


def _texts(says: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": says}


def _one_of(choices: type[StrEnum], says: str) -> Schema:
    return _text(says) | {"enum": [choice.value for choice in choices]}


def _any_of(choices: type[StrEnum], says: str) -> Schema:
    items = {"type": "string", "enum": [choice.value for choice in choices]}
    return {"type": "array", "items": items, "description": says}


def _flag(says: str) -> Schema:
    return {"type": "boolean", "description": says}


def _whole(says: str, low: int, high: int | None = None) -> Schema:
    schema: Schema = {"type": "integer", "minimum": low, "description": says}
    return schema | ({"maximum": high} if high is not None else {})


def _share(says: str) -> Schema:
    return {"type": "number", "minimum": 0, "maximum": 1, "description": says}


MEMORY: Final[Mapping[str, Schema]] = {
    "content": _text("The fact itself, kept verbatim") | {"minLength": 1, "maxLength": CONTENT_LIMIT},
    "kind": _one_of(Kind, "What happened, what is so, how to do it, or the state of a task"),
    "title": _text("A short name"),
    "description": _text("One line: the question that this answers"),
    "about": _one_of(About, "What it is about"),
    "path": _text("A dotted topic"),
    "tags": _texts("Words to find it by"),
    "entities": _texts("People and things that it names"),
    "importance": _share("From 0 to 1"),
    "pinned": _flag("Whether it is always shown first"),
    "source": _text("Where it comes from"),
    "position": _whole("Its place in a conversation", 0, 2**53),
    "key": _text("The same key is the same memory, updated"),
    "observed_at": _text("When it happened: a date or time"),
    "valid_from": _text("Since when it holds"),
    "valid_until": _text("Until when it holds"),
    "metadata": {"type": "object", "description": "Any names and values; an update merges them"},
}
"""The fields of a memory that a caller may set."""

FILTER: Final[Mapping[str, Schema]] = {
    "kind": _any_of(Kind, "Any of these kinds"),
    "about": MEMORY["about"],
    "tags": _texts("Any of these tags"),
    "all_tags": _texts("All of these tags"),
    "entities": _texts("Any of these entities"),
    "path": _text("This topic and what lies below it"),
    "source": MEMORY["source"],
    "importance_from": _share("At least so important"),
    "pinned": _flag("Only those that are pinned, or only the others"),
    "trust": _any_of(Trust, "Any of these states"),
    "since": _text("From this date on, or for so long (7d)"),
    "until": _text("Before the end of this date"),
    "on": _text("One whole day, month or year"),
    "as_of": _text("What held at this time"),
    "expired": _flag("Those that hold no more as well"),
    "deleted": _flag("Deleted ones as well"),
}
"""The fields of a filter."""

SCOPES: Final = _texts("Look into these scopes, or into all; the user's where none is given")
SCOPE: Final = _text("user, project:NAME, agent:NAME or team:NAME; the user's where it is left out")
LIMIT: Final = _whole("At most so many", 1, RECALL_LIMIT)

ASKED: Final[Mapping[str, Schema]] = {
    "q": _text("The question, in any language") | {"minLength": 1},
    "limit": LIMIT,
    "mode": _one_of(Mode, "By words, by meaning, or by both (as usual)"),
    "strict": _flag("Fail rather than fall back on words alone"),
    "explain": _flag("Take every score apart, or say why nothing was found"),
}
"""What a search takes beside its filter."""

PAGED: Final[Mapping[str, Schema]] = {
    "limit": _whole("At most so many", 1, PAGE_LIMIT),
    "cursor": _text("The `next` of the page before"),
}
"""What a listing takes beside its filter."""

DOCUMENTS: Final[Mapping[str, Schema]] = {
    "kind": _any_of(DocumentKind, "Any of these kinds of documents"),
    "path": _text("What lies under this path of a source"),
    "source": _texts("Only what was read from these sources, by id or path"),
    "tags": FILTER["tags"],
}
"""The fields of a filter of documents."""

OTHERS: Final[Mapping[str, Schema]] = {
    "by": _one_of(By, "Look at all of a memory, or at its title and description alone"),
    "budget": _whole("So many tokens at most in the answer", 1),
    "with_docs": _flag("Documents too"),
    "full": _flag("Long texts whole, not their beginning"),
    "move_to": _text("The scope to which it moves"),
    "version": _whole("Fail when somebody has changed it since this version", 1),
    "erase": _flag("For good: no history, no way back"),
    "never": _text("Why this content is refused from now on"),
    "to": _whole("Bring it to what it was after this revision; the last change is taken back if left out", 1),
    "start": _whole("As it was after this revision; that before `end` if left out", 1),
    "end": _whole("As it was after this revision; the newest if left out", 1),
    "accept_removals": _flag("Remove from the index what is gone, however much it is"),
    "days": _whole("So many days, with today", 1, DAYS),
}

READING: Final[Mapping[str, Schema]] = {
    "text": _text("The text to be read") | {"minLength": 1},
    "source": _text("What it comes from, for example notes; who asks or the file's name, where it is left out"),
    "name": _text("The file's name; its ending says what it is") | {"minLength": 1},
    "said_at": _text("When it was said: its yesterday and next week are counted from then; now where it is left out"),
    "dry_run": _flag("Only say what it would use; no model is asked"),
    "select": _flag("Let the model pick at most five memories by their titles first"),
    "all": _flag("Go on until nothing waits, not one batch of each scope alone"),
}
"""What the routes of the reading memory take."""

REVIEW_FIELDS: Final[Mapping[str, Schema]] = {
    "kind": _any_of(ProposalKind, "Any of these kinds"),
    "state": _any_of(ProposalState, "Any of these states; open ones where it is left out"),
    "choice": _text("One of its choices, where it has any"),
    "why": _text("Why, in a few words"),
    "to": _text("Whose rule it should be: user or team:NAME"),
    "pinned": _flag("Whether the rule is pinned"),
    "agent": _text("The name of the agent; that of the settings where it is left out"),
    "ids": _texts("Of lessons"),
    "query": _text("What was asked") | {"minLength": 1},
    "expected": _text("The memory that should have been found, by id"),
}
"""What the routes of the review desk take."""
