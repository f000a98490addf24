"""The one JSON shape of every answer, for `--json`, MCP and HTTP alike; documented in `docs/json.md`.

Shapes only grow: a field is never renamed, and a consumer passes over fields that it does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import Ambiguous, Conflict
from zapomni.model import Memory
from zapomni.record import stamp, to_record
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.app import Zapomni
    from zapomni.errors import ZapomniError
    from zapomni.model import Hit, Link, Outcome, Page, Recollection, Revision, Scope
    from zapomni.services.embedding import Embedding
    from zapomni.services.history import Undone
    from zapomni.store.base import Stats

PREVIEW: Final = 1_000
"""Characters of content shown in a list of many; the whole text is one `show` away."""


def memory_shape(memory: Memory, *, preview: int | None = None) -> dict[str, Any]:
    """Return every field of a memory; a longer content than `preview` is cut and marked by `cut` and `length`."""
    shape = to_record(memory)
    if preview is not None and len(memory.content) > preview:
        shape["content"] = cut(memory.content, preview)
        shape["cut"], shape["length"] = True, len(memory.content)
    return shape


def hit_shape(hit: Hit, *, explain: bool = False, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return a hit: its memory, its score and, asked for, every part of that score."""
    shape = {"score": round(hit.score, 4), **memory_shape(hit.memory, preview=preview)}
    if explain:
        shape["parts"] = [{"name": p.name, "value": round(p.value, 4), "why": p.why} for p in hit.parts]
    return shape


def recollection_shape(answer: Recollection, *, explain: bool = False, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return the answer to a question: the mode that answered, the scopes seen, the hits best first."""
    shape: dict[str, Any] = {
        "mode": answer.mode.value,
        "scopes": scope_names(answer.scopes),
        "count": len(answer.hits),
        "memories": [hit_shape(hit, explain=explain, preview=preview) for hit in answer.hits],
    }
    if answer.reason:
        shape["reason"] = answer.reason
    if answer.waiting:
        shape["waiting"] = answer.waiting
    if answer.left_out:
        shape["left_out"] = list(answer.left_out)
    return shape


def page_shape(page: Page, scopes: Sequence[Scope], *, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return one page of a listing: `next` is the cursor of the page after it, null at the end."""
    return {
        "scopes": scope_names(scopes),
        "total": page.total,
        "count": len(page.memories),
        "memories": [memory_shape(memory, preview=preview) for memory in page.memories],
        "next": page.next,
    }


def shown_shape(memory: Memory, links: Sequence[Link]) -> dict[str, Any]:
    """Return one memory whole, with the links from and to it."""
    shape = memory_shape(memory)
    shape["links"] = [{"source": k.source, "target": k.target, "kind": k.kind.value} for k in links]
    return shape


def outcome_shape(outcome: Outcome) -> dict[str, Any]:
    """Return what a write came to: `status`, `id`, `scope`, `version` and whatever must be told."""
    shape: dict[str, Any] = {"status": outcome.status.value, "id": outcome.id}
    if outcome.memory is not None:
        shape["scope"], shape["version"] = str(outcome.memory.scope), outcome.memory.version
    if outcome.similar:
        shape["similar"] = [{"id": m.id, "content": cut(m.content, 200)} for m in outcome.similar]
    if outcome.redactions:
        shape["redactions"] = [{"rule": r.rule, "field": r.field} for r in outcome.redactions]
    if outcome.warnings:
        shape["warnings"] = list(outcome.warnings)
    if outcome.waiting:
        shape["waiting"] = True
    return shape


def revision_shape(revision: Revision) -> dict[str, Any]:
    """Return one entry of the history with the whole records before and after it."""
    return {
        "seq": revision.seq,
        "id": revision.memory_id,
        "verb": revision.verb.value,
        "at": stamp(revision.at),
        "actor": revision.actor,
        "run": revision.run,
        "undoes": revision.undoes,
        "before": revision.before,
        "after": revision.after,
    }


def undone_shape(undone: Undone) -> dict[str, Any]:
    """Return what an undo came to: the ids brought back and those passed over, with reasons."""
    return {
        "run": undone.run,
        "restored": list(undone.restored),
        "skipped": [{"id": memory_id, "reason": reason} for memory_id, reason in undone.skipped],
    }


def stats_shape(stats: Stats, scopes: Sequence[Scope]) -> dict[str, Any]:
    """Return the counts of a store and the bytes of its parts."""
    return {
        "scopes_seen": scope_names(scopes),
        "memories": stats.memories,
        "deleted": stats.deleted,
        "kinds": dict(stats.kinds),
        "scopes": dict(stats.scopes),
        "trusts": dict(stats.trusts),
        "tags": dict(stats.tags),
        "bytes": dict(stats.bytes),
    }


def state_shape(app: Zapomni) -> dict[str, Any]:
    """Return where the store lies, what it knows, where writes go by default and how search by meaning stands."""
    return {
        "store": str(app.config.store_path),
        "writes_to": str(app.context.place.write),
        "known_scopes": scope_names(sorted(app.store.scopes())),
        "meaning": meaning_shape(app.embedding),
    }


def meaning_shape(embedding: Embedding) -> dict[str, Any]:
    """Return how search by meaning stands: the model, what waits for its vector and the last error.

    `space` is the generation of vectors that answers now, null before the first vector.
    """
    wanted = embedding.wanted
    if wanted is None:
        return {"on": False, "waiting": 0}
    backlog, space = embedding.backlog(), embedding.active()
    shape: dict[str, Any] = {
        "on": True,
        "model": f"{wanted.provider}:{wanted.model}",
        "space": space.label if space else None,
        "waiting": backlog.waiting,
    }
    return shape | {"failed": backlog.failed, "error": backlog.error} if backlog.error else shape


def error_shape(error: ZapomniError) -> dict[str, Any]:
    """Return an error: its stable `code`, what happened, what can be done, and what it carries."""
    shape: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.remedy:
        shape["remedy"] = error.remedy
    if isinstance(error, Ambiguous):
        shape["matches"] = list(error.matches)
    if isinstance(error, Conflict) and isinstance(error.current, Memory):
        shape["current"] = memory_shape(error.current)
    return {"error": shape}


def scope_names(scopes: Sequence[Scope]) -> list[str]:
    """Return scopes as people write them."""
    return [str(scope) for scope in scopes]
