"""An example of every answer and of every body, for the description of the routes."""

from __future__ import annotations

from typing import Any, Final

from zapomni import __version__

_ID: Final = "k7m2p4qdx3w9zt5c"
_OTHER: Final = "b8n3r5tfy4x2wv6d"
_RUN: Final = "r4t6y8n3b5v7c9x2"
_AT: Final = "2026-11-30T09:15:00.000000Z"
_MEMORY: Final[dict[str, Any]] = {
    "id": _ID,
    "kind": "semantic",
    "scope": "user",
    "content": "По пятницам не выкатываем: до понедельника дежурит один человек.",
    "title": "No Friday deploys",
    "description": "May I deploy before the weekend?",
    "about": "project",
    "path": "process.deploy",
    "tags": ["deploy"],
    "entities": ["Ada"],
    "importance": 0.9,
    "pinned": False,
    "trust": "confirmed",
    "origin": "agent",
    "source": "handbook.md",
    "position": None,
    "key": None,
    "observed_at": None,
    "valid_from": "2026-01-01T00:00:00.000000Z",
    "valid_until": None,
    "metadata": {"team": "platform"},
    "created_at": _AT,
    "updated_at": _AT,
    "accessed_at": None,
    "access_count": 0,
    "deleted_at": None,
    "version": 1,
}
_PLACE: Final[dict[str, Any]] = {
    "score": 1.4421,
    "citation": "/home/ada/shop/docs/release.md:8",
    "path": "docs/release.md",
    "root": "/home/ada/shop",
    "source": "m9w2t4r6y8n3b5v7",
    "kind": "docs",
    "title": "Releases",
    "trail": ["Releases", "Friday"],
    "first_line": 8,
    "last_line": 12,
    "page": 0,
    "start": 201,
    "end": 388,
    "text": "## Friday\nReleases on Fridays are forbidden.",
    "tags": ["deploy"],
}
_SOURCE: Final[dict[str, Any]] = {
    "id": "m9w2t4r6y8n3b5v7",
    "root": "/home/ada/shop",
    "mode": "index",
    "scope": "user",
    "include": ["*.md"],
    "exclude": ["drafts/"],
    "created_at": _AT,
    "scanned_at": _AT,
    "problem": None,
}
_PROPOSAL: Final[dict[str, Any]] = {
    "id": "t5w8x2k6m9p3q7r4",
    "kind": "promote",
    "state": "open",
    "scope": "user",
    "memories": [_ID],
    "reason": "agent:ada raises a lesson to user: No Friday deploys",
    "detail": {"from": "agent:ada", "to": "user", "pinned": False, "digest": "9f2c4d6e8a1b3c5d7e9f0a2b4c6d8e0f"},
    "choices": [],
    "created_at": _AT,
    "actor": "mcp:ada",
    "decided_at": None,
    "decided_by": None,
    "answer": "",
    "run": None,
}
_MISS: Final[dict[str, Any]] = {
    "at": _AT,
    "query": "можно ли выкатить перед выходными?",
    "expected": _ID,
    "found": [_OTHER],
    "actor": "http",
}
_NOTHING: Final = {"calls": 0, "failed": 0, "tokens_in": 0, "tokens_out": 0, "usd": 0.0, "unpriced": 0}

ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "Recollection": {
        "mode": "hybrid",
        "scopes": ["user"],
        "count": 1,
        "memories": [{"score": 1.7174, **_MEMORY}],
    },
    "Findings": {"mode": "hybrid", "scopes": ["user"], "count": 1, "documents": [_PLACE]},
    "Page": {"scopes": ["user"], "total": 1205, "count": 1, "memories": [_MEMORY], "next": "eyJhdCI6"},
    "Shown": {**_MEMORY, "links": [{"source": _ID, "target": _OTHER, "kind": "supersedes"}]},
    "Outcome": {"status": "created", "id": _ID, "scope": "user", "version": 1, "waiting": True},
    "History": {
        "id": _ID,
        "count": 1,
        "revisions": [
            {
                "seq": 12,
                "id": _ID,
                "verb": "create",
                "at": _AT,
                "actor": "http:curl",
                "run": None,
                "undoes": None,
                "before": None,
                "after": {"id": _ID, "content": _MEMORY["content"]},
            }
        ],
    },
    "Undone": {"run": None, "restored": [_ID], "skipped": []},
    "Sources": {"count": 1, "sources": [_SOURCE]},
    "Scans": {
        "count": 1,
        "sources": [{"id": _SOURCE["id"], "root": _SOURCE["root"], "scope": "user", "added": 12, "problem": None}],
        "waiting": 61,
    },
    "Status": {
        "scopes_seen": ["user"],
        "memories": 40,
        "deleted": 2,
        "kinds": {"semantic": 30, "episodic": 10},
        "scopes": {"user": 40},
        "trusts": {"confirmed": 40},
        "tags": {"deploy": 3},
        "bytes": {"file": 401408, "log": 0},
        "store": "/home/ada/.local/share/zapomni/memories.db",
        "writes_to": "user",
        "known_scopes": ["user"],
        "meaning": {"on": True, "model": "bundled:multilingual-e5-small-q4", "space": None, "waiting": 3},
    },
    "Ingested": {
        "run": _RUN,
        "reading": "n4k8s2v6x9c3m7q5",
        "source": "notes",
        "path": None,
        "scope": "user",
        "count": 1,
        "memories": [
            {
                **_MEMORY,
                "status": "created",
                "start": 0,
                "end": 51,
                "waits": False,
                "content": "On 2026-11-30 Alice said that the Q3 budget is approved: $2.4M.",
                "kind": "episodic",
                "entities": ["Alice"],
                "observed_at": "2026-11-30T00:00:00.000000Z",
            }
        ],
        "waiting": 0,
        "retired": [],
        "conflicts": [],
        "redactions": [],
        "skipped": [],
        "notes": [],
        "reason": None,
    },
    "Told": {
        "answer": f"The Q3 budget is approved: $2.4M [memory:{_ID}].",
        "found": True,
        "model": "ollama:qwen3:4b",
        "count": 1,
        "memories": [_MEMORY],
        "read": 12,
        "not_read": 0,
        "tokens_in": 1830,
        "tokens_out": 24,
        "narrowed": {"since": None, "until": None, "entities": ["Alice"]},
    },
    "Consolidated": {
        "count": 1,
        "batches": [
            {
                "run": _RUN,
                "scope": "user",
                "looked_at": 12,
                "done": 12,
                "insights": [_MEMORY],
                "refused": [],
                "reason": None,
            }
        ],
    },
    "Insights": {
        "count": 1,
        "insights": [{**_MEMORY, "members": [{"id": _OTHER, "content": "Ada is on call until Monday."}]}],
    },
    "Costs": {
        "model": None,
        "today": {"since": _AT, "until": _AT, **_NOTHING, "daily_tokens": 500000, "daily_usd": None},
        "since": _AT,
        "total": _NOTHING,
        "count": 0,
        "totals": [],
        "days": [],
    },
    "Proposals": {"count": 1, "proposals": [_PROPOSAL]},
    "Proposal": _PROPOSAL,
    "Lessons": {
        "count": 1,
        "lessons": [{"id": _ID, "scope": "user", "from": "agent:ada", "at": _AT, "rejected": None, "memory": _MEMORY}],
    },
    "Acknowledged": {"count": 1, "acknowledged": [_ID]},
    "Missed": {"miss": _MISS, "proposal": None, "reason": "its description has every word of the question already"},
    "Misses": {
        "count": 1,
        "misses": [_MISS],
        "alarms": [
            {
                "scope": "user",
                "rings": True,
                "crowded": True,
                "rising": True,
                "records": 181,
                "misses": 9,
                "misses_before": 1,
                "recalls": 240,
                "recalls_before": 220,
                "chance": 0.015,
            }
        ],
    },
    "Health": {"status": "ok", "version": __version__, "mode": "hybrid", "waiting": 0},
    "Error": {"error": {"code": "not_found", "message": "no memory 'zzzz' in user", "remedy": "See GET /memories"}},
}
"""By the name of the shape."""

BODIES: Final[dict[str, dict[str, Any]]] = {
    "ingest": {"text": "Met with Alice today. Q3 budget is approved, $2.4M.", "source": "notes"},
    "consolidate": {},
    "create_memory": {"content": _MEMORY["content"], "tags": ["deploy"], "importance": 0.9},
    "update_memory": {"importance": 1, "version": 1},
    "undo_memory": {},
    "accept_proposal": {},
    "reject_proposal": {"why": "It holds for one shop only."},
    "promote_memory": {"to": "user", "why": "Everybody deploys."},
    "acknowledge_lessons": {"ids": [_ID], "agent": "bob"},
    "report_miss": {"query": "можно ли выкатить перед выходными?", "expected": _ID},
    "undo_run": {},
    "scan_sources": {"source": "/home/ada/shop"},
}
"""By the name of the route."""

VALUES: Final[dict[str, Any]] = {
    "id": _ID,
    "run": _RUN,
    "q": "можно ли выкатить перед выходными?",
    "name": "notes.md",
    "source": _SOURCE["id"],
}
"""By the name of the parameter."""
