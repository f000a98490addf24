"""Rows of the database as the nouns of the model and back."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from zapomni.model import (
    USER_SCOPE,
    About,
    Kind,
    Memory,
    Origin,
    Scope,
    ScopeKind,
    Trust,
    Verb,
)
from zapomni.record import read_stamp, stamp, to_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from zapomni.model import Rejection, Revision, Run

Row = tuple[Any, ...]

RESERVED: Final = "scope "
"""What the names of reserved scopes begin with in `meta`."""

COLUMNS: Final = (
    *("id", "kind", "about", "path", "trust", "origin", "importance", "pinned", "source", "position", "key"),
    *("observed_at", "valid_from", "valid_until", "created_at", "updated_at", "accessed_at", "access_count"),
    *("deleted_at", "version", "tags", "entities", "metadata", "title", "description", "content", "digest"),
)
"""The columns of `memories` in the order of `values_of`; `no` and `scope_no` stand beside them."""
_FIELDS: Final = COLUMNS[:-1]
"""Those that are fields of a memory."""

SELECT_MEMORY: Final = (
    f"SELECT m.no, s.kind, s.name, {', '.join('m.' + name for name in _FIELDS)}"
    " FROM memories m JOIN scopes s ON s.no = m.scope_no"
)
"""What `memory_of` reads, with its number in front."""
INSERT_MEMORY: Final = (
    f"INSERT INTO memories (scope_no, {', '.join(COLUMNS)}) VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"
)
UPDATE_MEMORY: Final = (
    f"UPDATE memories SET scope_no = ?, {', '.join(name + ' = ?' for name in COLUMNS)} WHERE id = ? AND version = ?"
)

SELECT_REVISION: Final = (
    "SELECT r.seq, r.memory_id, r.verb, r.at, r.actor, r.run, r.undoes, r.before, (SELECT n.before FROM revisions n"
    " WHERE n.memory_id = r.memory_id AND n.memory_no = r.memory_no AND n.seq > r.seq ORDER BY n.seq LIMIT 1),"
    f" m.no, s.kind, s.name, {', '.join('m.' + name for name in _FIELDS)}"
    " FROM revisions r LEFT JOIN memories m ON m.no = r.memory_no LEFT JOIN scopes s ON s.no = m.scope_no"
)
"""What `revision_of` reads: what the memory was after a revision is what it was before the next, or what it is now.

Of an erased memory neither is there; one that comes back under its id has another number.
"""
IN_SCOPES: Final = "EXISTS (SELECT 1 FROM json_each(?1) e WHERE e.value ->> 0 = s.kind AND e.value ->> 1 = s.name)"
"""Whether `scopes s` is among those of the first parameter, `listed_scopes`."""
SELECT_RUN: Final = "SELECT id, verb, actor, started_at, finished_at, detail FROM runs"

_KINDS: Final = {kind.value: kind for kind in Kind}
_TRUSTS: Final = {trust.value: trust for trust in Trust}
_ORIGINS: Final = {origin.value: origin for origin in Origin}
_ABOUTS: Final[dict[str | None, About | None]] = {None: None, **{about.value: about for about in About}}
_NONE: Final = "[]"
_EMPTY: Final = "{}"
_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def dumps(value: Any) -> str:
    """Write JSON values compactly; letters of any script stay readable."""
    return _JSON.encode(value)


@lru_cache(maxsize=256)  # the memories of one import share their times
def stamped(at: datetime | None) -> str | None:
    """Write a time, or its absence, as the database keeps it."""
    return stamp(at) if at is not None else None


def values_of(memory: Memory, digest: bytes) -> Row:
    """Return the values of `COLUMNS`."""
    return (
        memory.id,
        memory.kind.value,
        memory.about.value if memory.about else None,
        memory.path,
        memory.trust.value,
        memory.origin.value,
        memory.importance,
        memory.pinned,
        memory.source,
        memory.position,
        memory.key,
        stamped(memory.observed_at),
        stamped(memory.valid_from),
        stamped(memory.valid_until),
        stamped(memory.created_at),
        stamped(memory.updated_at),
        stamped(memory.accessed_at),
        memory.access_count,
        stamped(memory.deleted_at),
        memory.version,
        dumps(memory.tags) if memory.tags else _NONE,
        dumps(memory.entities) if memory.entities else _NONE,
        dumps(dict(memory.metadata)) if memory.metadata else _EMPTY,
        memory.title,
        memory.description,
        memory.content,
        digest,
    )


def memory_of(row: Row) -> Memory:
    """Return the memory of a row of `SELECT_MEMORY`."""
    return Memory(
        scope=scope_of(row[1], row[2]),
        id=row[3],
        kind=_KINDS[row[4]],
        about=_ABOUTS[row[5]],
        path=row[6],
        trust=_TRUSTS[row[7]],
        origin=_ORIGINS[row[8]],
        importance=row[9],
        pinned=bool(row[10]),
        source=row[11],
        position=row[12],
        key=row[13],
        observed_at=_time(row[14]),
        valid_from=_time(row[15]),
        valid_until=_time(row[16]),
        created_at=read_stamp(row[17]),
        updated_at=read_stamp(row[18]),
        accessed_at=_time(row[19]),
        access_count=row[20],
        deleted_at=_time(row[21]),
        version=row[22],
        tags=tuple(json.loads(row[23])) if row[23] != _NONE else (),
        entities=tuple(json.loads(row[24])) if row[24] != _NONE else (),
        metadata=json.loads(row[25]) if row[25] != _EMPTY else {},
        title=row[26],
        description=row[27],
        content=row[28],
    )


def scope_of(kind: str, name: str) -> Scope:
    """Return the scope of its two columns."""
    return Scope(kind=ScopeKind(kind), name=name) if name else USER_SCOPE


def reserved(scope: Scope) -> str:
    """Return the name under which `meta` keeps the identity of a scope that nothing was written to yet."""
    return f"{RESERVED}{scope}"


def listed_scopes(scopes: Iterable[Scope]) -> str:
    """Return what `IN_SCOPES` is bound to."""
    return dumps([[scope.kind.value, scope.name] for scope in scopes])


def revision_of(row: Row) -> Revision:
    """Return the revision of a row of `SELECT_REVISION`."""
    from zapomni.model import Revision

    seq, memory_id, verb, at, actor, run, undoes, before, after, *now = row
    is_last = after is None and now[0] is not None
    return Revision(
        seq=seq,
        memory_id=memory_id,
        verb=Verb(verb),
        at=read_stamp(at),
        actor=actor,
        run=run,
        before=_record(before),
        after=to_record(memory_of(tuple(now))) if is_last else _record(after),
        undoes=undoes,
    )


def run_of(row: Row) -> Run:
    """Return the run of a row of `SELECT_RUN`."""
    from zapomni.model import Run

    run_id, verb, actor, started_at, finished_at, detail = row
    return Run(
        id=run_id,
        verb=verb,
        actor=actor,
        started_at=read_stamp(started_at),
        finished_at=_time(finished_at),
        detail=json.loads(detail),
    )


def rejection_of(scope: Scope, row: Row) -> Rejection:
    """Return the rejection of a row (digest, reason, at, actor)."""
    from zapomni.model import Rejection

    mark, reason, at, actor = row
    return Rejection(scope=scope, digest=mark.hex(), reason=reason, at=read_stamp(at), actor=actor)


def _time(text: str | None) -> datetime | None:
    return read_stamp(text) if text is not None else None


def _record(text: str | None) -> Mapping[str, Any] | None:
    return json.loads(text) if text is not None else None
