"""The one JSON shape of every answer, for `--json`, MCP and HTTP alike; documented in `docs/json.md`.

Shapes only grow: a field is never renamed, and a consumer passes over fields that it does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import Ambiguous, Conflict
from zapomni.model import Memory, Status
from zapomni.record import stamp, to_record
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.app import Zapomni
    from zapomni.errors import ZapomniError
    from zapomni.model import Hit, Link, Outcome, Page, Part, Recollection, Revision, Scope
    from zapomni.model.change import Redaction
    from zapomni.model.document import DocumentHit, Findings, Scanned, Skipped, Source, SourceStatus
    from zapomni.model.explanation import Barred, Explanation, Hidden, Near
    from zapomni.services.embedding import Embedding
    from zapomni.services.history import Undone
    from zapomni.store.base import Stats

MESSAGE_LIMIT: Final = 1_000
"""Most characters of an error's message, and of its remedy, on any surface; they quote what was given, however long."""
PREVIEW: Final = 1_000
"""Characters of content shown in a list of many; the whole text is one `show` away."""
ARGUMENTS: Final = {"kinds": "kind", "trusts": "trust", "source_ids": "source"}
"""Fields of a filter whose argument is called otherwise."""
SCAN_COUNTS: Final = ("added", "changed", "moved", "removed", "unchanged", "read", "chunks")
"""What a scan counts."""
MIRROR_COUNTS: Final = ("written", "dropped", "conflicts")
"""What the scan of a mirrored folder counts beside."""


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
    return shape | {"parts": _parts(hit.parts)} if explain else shape


def recollection_shape(
    answer: Recollection, *, explain: bool = False, preview: int | None = PREVIEW, with_docs: bool = False
) -> dict[str, Any]:
    """Return the answer to a question: the mode that answered, the scopes seen, the hits best first.

    `with_docs` adds the documents that were asked for beside the memories.
    """
    shape: dict[str, Any] = {
        "mode": answer.mode.value,
        "scopes": scope_names(answer.scopes),
        "count": len(answer.hits),
        "memories": [hit_shape(hit, explain=explain, preview=preview) for hit in answer.hits],
    }
    if with_docs:
        shape["documents"] = [document_shape(hit, explain=explain, preview=preview) for hit in answer.documents]
        shape["count"] += len(answer.documents)
    why, left_out = [explanation_shape(one) for one in answer.explanations], list(answer.left_out)
    return shape | _said(
        reason=answer.reason,
        waiting=answer.waiting,
        left_out=left_out,
        explanations=why,
        **_barred_shape(answer.barred),
    )


def findings_shape(answer: Findings, *, explain: bool = False, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return what was found in documents, best first; `stale` names sources whose last scan did not end."""
    shape: dict[str, Any] = {
        "mode": answer.mode.value,
        "scopes": scope_names(answer.scopes),
        "count": len(answer.hits),
        "documents": [document_shape(hit, explain=explain, preview=preview) for hit in answer.hits],
    }
    why, stale = [explanation_shape(one) for one in answer.explanations], list(answer.stale)
    return shape | _said(
        reason=answer.reason, waiting=answer.waiting, stale=stale, explanations=why, **_barred_shape(answer.barred)
    )


def _barred_shape(barred: Barred | None) -> dict[str, Any]:
    if barred is None:
        return {}
    return {"barred": {"by": _arguments(barred.fields), "together": barred.together, "of": barred.stored}}


def _arguments(fields: Sequence[str]) -> list[str]:
    return [ARGUMENTS.get(field, field) for field in fields]


def explanation_shape(why: Explanation) -> dict[str, Any]:
    """Return why nothing was found; of what came nearest its handle and scores, and no stored text."""
    near = why.nearest
    return {
        "of": why.of,
        "words": list(why.words),
        "common": why.common,
        "passed_over": list(why.passed_over),
        "near": dict(why.near),
        "seen": why.seen,
        "by_words": why.by_words,
        "by_meaning": why.by_meaning,
        "judged": why.judged,
        "nearest": _near_shape(near) if near is not None else None,
        "without": {part: hidden.count for part, hidden in why.without.items()},
        "hidden": [_hidden_shape(part, hidden) for part, hidden in why.without.items()],
    }


def _hidden_shape(part: str, hidden: Hidden) -> dict[str, Any]:
    told = {"part": part, "count": hidden.count, "more": hidden.more}
    return {**told, "by": _arguments(hidden.fields), "scopes": scope_names(hidden.scopes)}


def _near_shape(near: Near) -> dict[str, Any]:
    told = {"handle": near.handle, "score": round(near.score, 4), "share": round(near.share, 4)}
    return {**told, "parts": _parts(near.parts)}


def document_shape(hit: DocumentHit, *, explain: bool = False, preview: int | None = PREVIEW) -> dict[str, Any]:
    """Return a place in a document: where it stands, as editors open it, and its text, cut as a memory's is."""
    document, chunk = hit.document, hit.chunk
    shape: dict[str, Any] = {
        "score": round(hit.score, 4),
        "citation": hit.citation,
        "path": document.path,
        "root": hit.source.root,
        "source": hit.source.id,
        "kind": document.kind.value,
        "title": document.title,
        "trail": list(chunk.trail),
        "first_line": chunk.first_line,
        "last_line": chunk.last_line,
        "page": chunk.page,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
        "tags": list(document.tags),
    }
    if preview is not None and len(chunk.text) > preview:
        shape |= {"text": cut(chunk.text, preview), "cut": True, "length": len(chunk.text)}
    return shape | {"parts": _parts(hit.parts)} if explain else shape


def source_shape(source: Source) -> dict[str, Any]:
    """Return a source: what is attached, how it is read, and how its last scan ended."""
    return {
        "id": source.id,
        "root": source.root,
        "mode": source.mode.value,
        "scope": str(source.scope),
        "include": list(source.include),
        "exclude": list(source.exclude),
        "created_at": stamp(source.created_at),
        "scanned_at": stamp(source.scanned_at) if source.scanned_at else None,
        "problem": source.problem,
    }


def sources_shape(found: Sequence[Source]) -> dict[str, Any]:
    """Return what is attached."""
    return {"count": len(found), "sources": [source_shape(source) for source in found]}


def statuses_shape(found: Sequence[SourceStatus]) -> dict[str, Any]:
    """Return what is attached with what stands of it in the index."""
    return {"count": len(found), "sources": [status_shape(status) for status in found]}


def status_shape(status: SourceStatus) -> dict[str, Any]:
    """Return a source with what stands of it in the index, and what was passed over."""
    return {
        **source_shape(status.source),
        "documents": status.documents,
        "chunks": status.chunks,
        "waiting": status.waiting,
        "kinds": dict(status.kinds),
        "skipped": skipped_shape(status.skipped),
    }


def scans_shape(scans: Sequence[Scanned], waiting: int) -> dict[str, Any]:
    """Return what scans came to; `waiting` counts chunks without a vector.

    `reason` is the first problem, or else why what was read waits for a model.
    """
    shape = {"count": len(scans), "sources": [scanned_shape(one) for one in scans], "waiting": waiting}
    problems = [*filter(None, (one.problem for one in scans)), *filter(None, (one.waits for one in scans))]
    return shape | {"reason": problems[0]} if problems else shape


def scanned_shape(scanned: Scanned) -> dict[str, Any]:
    """Return what one scan came to, in files but for `chunks`; of a mirrored folder with what went the other way."""
    source = scanned.source
    counted = SCAN_COUNTS + (MIRROR_COUNTS if source.mode.value == "mirror" else ())
    counts = {name: getattr(scanned, name) for name in counted}
    return {
        "id": source.id,
        "root": source.root,
        "scope": str(source.scope),
        **counts,
        "excluded": dict(scanned.excluded),
        "skipped": skipped_shape(scanned.skipped),
        "notes": skipped_shape(scanned.notes),
        "problem": scanned.problem,
    }


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


OUTSIDE: Final = (
    "what was written elsewhere before still holds it: exports, git repositories, backups, those of an upgrade beside "
    "the store (`memories.db.before-*`) among them; the file of a mirrored folder goes at the next `source scan`"
)
"""What erasing a memory does not reach."""


def outcome_shape(outcome: Outcome) -> dict[str, Any]:
    """Return what a write came to: `status`, `id`, `scope`, `version` and whatever must be told."""
    shape: dict[str, Any] = {"status": outcome.status.value, "id": outcome.id}
    if outcome.memory is not None:
        shape["scope"], shape["version"] = str(outcome.memory.scope), outcome.memory.version
    if outcome.similar:
        shape["similar"] = [{"id": m.id, "content": cut(m.content, 200)} for m in outcome.similar]
    if outcome.redactions:
        shape["redactions"] = redactions_shape(outcome.redactions)
    if told := [*outcome.warnings, *outcome.notes]:
        shape["warnings"] = told
    if outcome.waiting:
        shape["waiting"] = True
    if outcome.status is Status.ERASED:
        shape["outside"] = OUTSIDE
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


def meaning_shape(embedding: Embedding[Memory]) -> dict[str, Any]:
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
    shape: dict[str, Any] = {"code": error.code, "message": cut(error.message, MESSAGE_LIMIT)}
    if error.remedy:
        shape["remedy"] = cut(error.remedy, MESSAGE_LIMIT)
    if isinstance(error, Ambiguous):
        shape["matches"] = list(error.matches)
    if isinstance(error, Conflict) and isinstance(error.current, Memory):
        shape["current"] = memory_shape(error.current)
    return {"error": shape}


def _said(**fields: Any) -> dict[str, Any]:
    """Return the fields that have something to say."""
    return {name: value for name, value in fields.items() if value}


def _parts(parts: Sequence[Part]) -> list[dict[str, Any]]:
    return [{"name": part.name, "value": round(part.value, 4), "why": part.why} for part in parts]


def skipped_shape(files: Sequence[Skipped]) -> list[dict[str, str]]:
    """Return files that were passed over, or of which something is told, each with the reason."""
    return [{"path": file.path, "reason": file.reason} for file in files]


def redactions_shape(found: Sequence[Redaction]) -> list[dict[str, str]]:
    """Return what was cut out: the rule that found it, and the field."""
    return [{"rule": one.rule, "field": one.field} for one in found]


def scope_names(scopes: Sequence[Scope]) -> list[str]:
    """Return scopes as people write them."""
    return [str(scope) for scope in scopes]
