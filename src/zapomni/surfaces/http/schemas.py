"""The shapes of `docs/json.md` as JSON Schema, by the names under which routes say what they give.

Shapes only grow: no schema closes an object, and what is not always there is not required.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.model import About, Kind, Mode, Origin, Status, Trust, Verb
from zapomni.model.document import DocumentKind
from zapomni.model.proposal import ProposalKind, ProposalState

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import StrEnum

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
FLAG: Final[Schema] = {"type": "boolean"}
TIME: Final[Schema] = {"type": "string", "format": "date-time"}
OBJECT: Final[Schema] = {"type": "object"}
COUNTS: Final[Schema] = {"type": "object", "additionalProperties": {"type": "integer"}}


def ref(name: str) -> Schema:
    """Return a reference to a schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]} | (
        {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    )


def _one_of(choices: Iterable[StrEnum]) -> Schema:
    return {"type": "string", "enum": [choice.value for choice in choices]}


def _object(properties: dict[str, Schema], *optional: str) -> Schema:
    """Return an object of which everything but the optional names is always there."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


TEXTS: Final = _list(TEXT)
_CUT: Final = {"cut": FLAG, "length": WHOLE}
_PARTS: Final = _list(_object({"name": TEXT, "value": NUMBER, "why": TEXT}))
_HIDDEN: Final = _object({"part": TEXT, "count": WHOLE, "more": FLAG, "by": TEXTS, "scopes": TEXTS})
_WHY: Final = _list(
    _object(
        {
            "of": TEXT,
            "words": TEXTS,
            "common": FLAG,
            "passed_over": TEXTS,
            "near": {"type": "object", "additionalProperties": TEXT},
            "seen": WHOLE,
            "by_words": WHOLE,
            "by_meaning": WHOLE,
            "judged": WHOLE,
            "nearest": _or_null(_object({"handle": TEXT, "score": NUMBER, "share": NUMBER, "parts": _PARTS})),
            "without": COUNTS,
            "hidden": _list(_HIDDEN),
        }
    )
)
_FILES: Final = _list(_object({"path": TEXT, "reason": TEXT}))
_MEMORY: Final[dict[str, Schema]] = {
    "id": TEXT,
    "kind": _one_of(Kind),
    "scope": TEXT,
    "content": TEXT,
    "title": TEXT,
    "description": TEXT,
    "about": _or_null(_one_of(About)),
    "path": _or_null(TEXT),
    "tags": TEXTS,
    "entities": TEXTS,
    "importance": NUMBER,
    "pinned": FLAG,
    "trust": _one_of(Trust),
    "origin": _one_of(Origin),
    "source": _or_null(TEXT),
    "position": _or_null(WHOLE),
    "key": _or_null(TEXT),
    "observed_at": _or_null(TIME),
    "valid_from": _or_null(TIME),
    "valid_until": _or_null(TIME),
    "metadata": OBJECT,
    "created_at": TIME,
    "updated_at": TIME,
    "accessed_at": _or_null(TIME),
    "access_count": WHOLE,
    "deleted_at": _or_null(TIME),
    "version": WHOLE,
}
_FOUND: Final = {"mode": _one_of(Mode), "scopes": TEXTS, "count": WHOLE}
_TOLD: Final = {"reason": TEXT, "waiting": WHOLE}
_EMPTY: Final = {"explanations": _WHY, "barred": _object({"by": TEXTS, "together": FLAG, "of": WHOLE})}
_SOURCE: Final[dict[str, Schema]] = {
    "id": TEXT,
    "root": TEXT,
    "mode": TEXT,
    "scope": TEXT,
    "include": TEXTS,
    "exclude": TEXTS,
    "created_at": TIME,
    "scanned_at": _or_null(TIME),
    "problem": _or_null(TEXT),
}
_BROUGHT: Final = {
    "revision": WHOLE,
    "verb": _one_of(Verb),
    "at": TIME,
    "actor": TEXT,
    "origin": _or_null(TEXT),
    "run": _or_null(TEXT),
}
_STATE: Final = {"documents": WHOLE, "chunks": WHOLE, "waiting": WHOLE, "kinds": COUNTS, "skipped": _FILES}
_SUM: Final = {"calls": WHOLE, "failed": WHOLE, "tokens_in": WHOLE, "tokens_out": WHOLE, "usd": NUMBER}
_USED: Final = {**_SUM, "unpriced": WHOLE}

SCHEMAS: Final[dict[str, Schema]] = {
    "Anything": OBJECT,
    "Memory": _object(_MEMORY | _CUT, *_CUT),
    "Hit": _object({"score": NUMBER, **_MEMORY, **_CUT, "parts": _PARTS}, "parts", *_CUT),
    "Place": _object(
        {
            "score": NUMBER,
            "citation": TEXT,
            "path": TEXT,
            "root": TEXT,
            "source": TEXT,
            "kind": _one_of(DocumentKind),
            "title": TEXT,
            "trail": TEXTS,
            "first_line": WHOLE,
            "last_line": WHOLE,
            "page": WHOLE,
            "start": WHOLE,
            "end": WHOLE,
            "text": TEXT,
            "tags": TEXTS,
            **_CUT,
            "parts": _PARTS,
        },
        "parts",
        *_CUT,
    ),
    "Recollection": _object(
        {
            **_FOUND,
            "memories": _list(ref("Hit")),
            "documents": _list(ref("Place")),
            **_TOLD,
            "left_out": TEXTS,
            **_EMPTY,
        },
        *("documents", "reason", "waiting", "left_out", *_EMPTY),
    ),
    "Findings": _object(
        {**_FOUND, "documents": _list(ref("Place")), **_TOLD, "stale": TEXTS, **_EMPTY},
        *("reason", "waiting", "stale", *_EMPTY),
    ),
    "Page": _object(
        {"scopes": TEXTS, "total": WHOLE, "count": WHOLE, "memories": _list(ref("Memory")), "next": _or_null(TEXT)}
    ),
    "Shown": _object({**_MEMORY, "links": _list(_object({"source": TEXT, "target": TEXT, "kind": TEXT}))}),
    "Outcome": _object(
        {
            "status": _one_of(Status),
            "id": TEXT,
            "scope": TEXT,
            "version": WHOLE,
            "similar": _list(_object({"id": TEXT, "content": TEXT})),
            "redactions": _list(_object({"rule": TEXT, "field": TEXT})),
            "warnings": TEXTS,
            "waiting": FLAG,
            "outside": TEXT,
        },
        *("scope", "version", "similar", "redactions", "warnings", "waiting", "outside"),
    ),
    "Revision": _object(
        {
            "seq": WHOLE,
            "id": TEXT,
            "verb": _one_of(Verb),
            "at": TIME,
            "actor": TEXT,
            "run": _or_null(TEXT),
            "undoes": _or_null(WHOLE),
            "before": _or_null(OBJECT),
            "after": _or_null(OBJECT),
        }
    ),
    "History": _object({"id": TEXT, "count": WHOLE, "revisions": _list(ref("Revision"))}),
    "Difference": _object(
        {
            "id": TEXT,
            "title": TEXT,
            "from": _or_null(WHOLE),
            "to": _or_null(WHOLE),
            "lines": TEXTS,
            "fields": _list(_object({"name": TEXT, "before": {}, "after": {}})),
            "erased": FLAG,
        },
        "erased",
    ),
    "Blame": _object(
        {
            "id": TEXT,
            "lines": _list(_object({"no": WHOLE, "text": TEXT, **_BROUGHT})),
            "fields": _list(_object({"name": TEXT, "value": {}, **_BROUGHT})),
        }
    ),
    "Undone": _object(
        {"run": _or_null(TEXT), "restored": TEXTS, "skipped": _list(_object({"id": TEXT, "reason": TEXT}))}
    ),
    "Sources": _object({"count": WHOLE, "sources": _list(_object(_SOURCE | _STATE, *_STATE))}),
    "Scans": _object(
        {
            "count": WHOLE,
            "sources": _list(_object({"id": TEXT, "root": TEXT, "scope": TEXT, "problem": _or_null(TEXT)})),
            **_TOLD,
        },
        "reason",
    ),
    "Status": _object(
        {
            "scopes_seen": TEXTS,
            "memories": WHOLE,
            "deleted": WHOLE,
            **dict.fromkeys(("kinds", "scopes", "trusts", "tags", "bytes"), COUNTS),
            "store": TEXT,
            "writes_to": TEXT,
            "known_scopes": TEXTS,
            "meaning": _object({"on": FLAG, "waiting": WHOLE}),
            "alarms": _list(ref("Alarm")),
        },
        "alarms",
    ),
    "Costs": _object(
        {
            "model": _or_null(TEXT),
            "today": _object({"since": TIME, "until": TIME, **_USED}),
            "since": TIME,
            "total": _object(_USED),
            "count": WHOLE,
            "totals": _list(_object({"purpose": TEXT, "model": TEXT, **_USED})),
            "days": _list(_object({"day": TEXT, **_USED})),
        }
    ),
    "Health": _object({"status": TEXT, "version": TEXT, "mode": TEXT, "waiting": WHOLE}, "mode", "waiting"),
    "Kept": _object(
        {**_MEMORY, **_CUT, "status": _one_of(Status), "start": WHOLE, "end": WHOLE, "waits": FLAG}, *_MEMORY, *_CUT
    ),
    "Ingested": {
        "anyOf": [
            _object(
                {
                    "run": _or_null(TEXT),
                    "reading": _or_null(TEXT),
                    "source": TEXT,
                    "path": _or_null(TEXT),
                    "scope": TEXT,
                    "count": WHOLE,
                    "memories": _list(ref("Kept")),
                    "waiting": WHOLE,
                    "retired": TEXTS,
                    "conflicts": TEXTS,
                    "redactions": _list(_object({"rule": TEXT, "field": TEXT})),
                    "skipped": _FILES,
                    "notes": TEXTS,
                    "reason": _or_null(TEXT),
                }
            ),
            ref("Estimate"),
        ]
    },
    "Told": {
        "anyOf": [
            _object(
                {
                    "answer": TEXT,
                    "found": FLAG,
                    "model": _or_null(TEXT),
                    "count": WHOLE,
                    "memories": _list(ref("Memory")),
                    "read": WHOLE,
                    "not_read": WHOLE,
                    "tokens_in": WHOLE,
                    "tokens_out": WHOLE,
                    "narrowed": _or_null(OBJECT),
                    "unknown": TEXTS,
                    "unsupported": TEXT,
                },
                *("unknown", "unsupported"),
            ),
            ref("Estimate"),
        ]
    },
    "Reading": _object(
        {"count": WHOLE, "ids": TEXTS, "not_read": WHOLE, "tokens_in": WHOLE, "narrowed": _or_null(OBJECT)}
    ),
    "Consolidated": {
        "anyOf": [
            _object(
                {
                    "count": WHOLE,
                    "batches": _list(
                        _object(
                            {
                                "run": _or_null(TEXT),
                                "scope": TEXT,
                                "looked_at": WHOLE,
                                "done": WHOLE,
                                "insights": _list(ref("Memory")),
                                "refused": _list(_object({"statement": TEXT, "reason": TEXT})),
                                "reason": _or_null(TEXT),
                            }
                        )
                    ),
                    "reason": TEXT,
                },
                "reason",
            ),
            ref("Estimate"),
        ]
    },
    "Estimate": _object(
        {"dry_run": FLAG, "model": _or_null(TEXT), "tokens_in": WHOLE, "tokens_out": WHOLE, "usd": _or_null(NUMBER)}
    ),
    "Insight": _object({**_MEMORY, **_CUT, "members": _list(_object({"id": TEXT, "content": TEXT}))}, *_CUT),
    "Insights": _object({"count": WHOLE, "insights": _list(ref("Insight"))}),
    "Proposal": _object(
        {
            "id": TEXT,
            "kind": _one_of(ProposalKind),
            "state": _one_of(ProposalState),
            "scope": TEXT,
            "memories": TEXTS,
            "reason": TEXT,
            "detail": OBJECT,
            "choices": TEXTS,
            "created_at": TIME,
            "actor": TEXT,
            "decided_at": _or_null(TIME),
            "decided_by": _or_null(TEXT),
            "answer": TEXT,
            "run": _or_null(TEXT),
        }
    ),
    "Proposals": _object({"count": WHOLE, "proposals": _list(ref("Proposal"))}),
    "Lesson": _object(
        {
            "id": TEXT,
            "scope": TEXT,
            "from": TEXT,
            "at": TIME,
            "rejected": _or_null(TEXT),
            "memory": {"anyOf": [ref("Memory"), {"type": "null"}]},
        }
    ),
    "Lessons": _object({"count": WHOLE, "lessons": _list(ref("Lesson"))}),
    "Acknowledged": _object({"count": WHOLE, "acknowledged": TEXTS}),
    "Miss": _object({"at": TIME, "query": TEXT, "expected": TEXT, "found": TEXTS, "actor": TEXT}),
    "Missed": _object(
        {"miss": ref("Miss"), "proposal": {"anyOf": [ref("Proposal"), {"type": "null"}]}, "reason": TEXT}, "reason"
    ),
    "Alarm": _object(
        {
            "scope": TEXT,
            **dict.fromkeys(("rings", "crowded", "rising"), FLAG),
            **dict.fromkeys(("records", "misses", "misses_before", "recalls", "recalls_before"), WHOLE),
            "chance": NUMBER,
        }
    ),
    "Misses": _object({"count": WHOLE, "misses": _list(ref("Miss")), "alarms": _list(ref("Alarm"))}),
    "Error": _object(
        {
            "error": _object(
                {"code": TEXT, "message": TEXT, "remedy": TEXT, "matches": TEXTS, "current": ref("Memory")},
                *("remedy", "matches", "current"),
            )
        }
    ),
}
"""Every shape that a route gives, or that one of them holds."""
