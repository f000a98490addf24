"""Plain readings of memories, their links and their history."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from zapomni.record import parse_scope, read_stamp
from zapomni.store.found import Merit
from zapomni.store.sqlite.connection import column_of, value_of
from zapomni.store.sqlite.rows import (
    RESERVED,
    SELECT_MEMORY,
    SELECT_REVISION,
    SELECT_RUN,
    memory_of,
    revision_of,
    run_of,
    scope_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from zapomni.model import Link, Memory, Revision, Run, Scope
    from zapomni.store.found import Place
    from zapomni.store.sqlite.condition import Condition

_MERITS: Final = "SELECT no, id, importance, created_at FROM memories WHERE no IN (SELECT value FROM json_each(?))"
_PLACES: Final = """
SELECT DISTINCT m.no, m.scope_no, m.source, m.position, length(m.content)
FROM json_each(:nos) chosen
CROSS JOIN memories a ON a.no = chosen.value AND a.source IS NOT NULL
CROSS JOIN memories m INDEXED BY memories_source
  ON m.scope_no = a.scope_no AND m.source = a.source
  AND m.position BETWEEN a.position - :reach AND a.position + :reach
WHERE m.source IS NOT NULL AND {condition}
"""


def get(db: apsw.Connection, ids: Sequence[str], condition: Condition) -> list[Memory]:
    """Return the memories of these ids that the condition lets through, in the order asked."""
    sql = f"{SELECT_MEMORY} WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {condition.sql}"
    found = {memory.id: memory for memory in _memories(db, sql, {**condition.values, "ids": json.dumps(list(ids))})}
    return [found[memory_id] for memory_id in dict.fromkeys(ids) if memory_id in found]


def fetch(db: apsw.Connection, nos: Sequence[int]) -> dict[int, Memory]:
    """Return the memories of these rows."""
    sql = f"{SELECT_MEMORY} WHERE m.no IN (SELECT value FROM json_each(?))"
    return {row[0]: memory_of(row) for row in db.execute(sql, (json.dumps(list(nos)),))}


def merits(db: apsw.Connection, nos: Sequence[int]) -> dict[int, Merit]:
    """Return what these rows are ranked by."""
    rows = db.execute(_MERITS, (json.dumps(list(nos)),))
    return {no: Merit(memory_id, importance, read_stamp(at)) for no, memory_id, importance, at in rows}


def match_id(db: apsw.Connection, prefix: str, condition: Condition, limit: int) -> list[str]:
    """Return the ids that begin with `prefix`; an exact id alone when there is one."""
    sql = (
        f"SELECT m.id FROM memories m WHERE m.id >= :low AND m.id < :high AND {condition.sql} ORDER BY m.id LIMIT :most"
    )
    values = {**condition.values, "low": prefix, "high": prefix + "\U0010ffff", "most": limit}
    found: list[str] = column_of(db, sql, values)
    return found[:1] if found[:1] == [prefix] else found


def scopes(db: apsw.Connection) -> dict[Scope, str | None]:
    """Return every known scope with the identity it is tied to; those of branches are known by their branch."""
    rows = db.execute("SELECT kind, name, identity FROM scopes WHERE kind <> 'branch' ORDER BY no")
    return {scope_of(kind, name): identity for kind, name, identity in rows}


def reserved_scopes(db: apsw.Connection) -> dict[Scope, str | None]:
    """Return the scopes whose names are kept for repositories, with the identity of each."""
    rows = db.execute("SELECT name, value FROM meta WHERE name >= ? AND name < ?", (RESERVED, RESERVED + "\U0010ffff"))
    return {parse_scope(name.removeprefix(RESERVED)): identity for name, identity in rows}


def links(db: apsw.Connection, memory_id: str) -> list[Link]:
    """Return the links from a memory, then those to it."""
    from zapomni.model import Link, LinkKind

    sql = (
        "SELECT source, target, kind FROM links WHERE source = ?1"
        " UNION ALL SELECT source, target, kind FROM links WHERE target = ?1 AND source <> ?1"
    )
    rows = db.execute(sql, (memory_id,))
    return [Link(source=source, target=target, kind=LinkKind(kind)) for source, target, kind in rows]


def places(db: apsw.Connection, nos: Sequence[int], condition: Condition, reach: int) -> list[Place]:
    """Return the places of these rows and of those at most `reach` away in their ordered sources."""
    from zapomni.store.found import Place

    values = {**condition.values, "nos": json.dumps(list(nos)), "reach": reach}
    rows = db.execute(_PLACES.format(condition=condition.sql), values)
    return [Place(no, (scope_no, source), position, length) for no, scope_no, source, position, length in rows]


def history(db: apsw.Connection, memory_id: str) -> list[Revision]:
    """Return a memory's revisions, oldest first."""
    return _revisions(db, "WHERE r.memory_id = ? ORDER BY r.seq", memory_id)


def latest_revision(db: apsw.Connection, memory_id: str) -> Revision | None:
    """Return a memory's newest revision."""
    return next(iter(_revisions(db, "WHERE r.memory_id = ? ORDER BY r.seq DESC LIMIT 1", memory_id)), None)


def revision(db: apsw.Connection, seq: int) -> Revision | None:
    """Return one revision."""
    return next(iter(_revisions(db, "WHERE r.seq = ?", seq)), None)


def run(db: apsw.Connection, run_id: str) -> tuple[Run, list[Revision]] | None:
    """Return a run with its revisions, oldest first."""
    for row in db.execute(f"{SELECT_RUN} WHERE id = ?", (run_id,)):
        return run_of(row), _revisions(db, "WHERE r.run = ? ORDER BY r.seq", run_id)
    return None


def runs(db: apsw.Connection, limit: int) -> list[Run]:
    """Return the latest runs, newest first."""
    return [run_of(row) for row in db.execute(f"{SELECT_RUN} ORDER BY no DESC LIMIT ?", (limit,))]


def touch(db: apsw.Connection, ids: Sequence[str], at: str) -> None:
    """Count each of these targeted readings; a memory may be named several times."""
    db.executemany(
        "UPDATE memories SET accessed_at = ?, access_count = access_count + ? WHERE id = ? AND deleted_at IS NULL",
        [(at, count, memory_id) for memory_id, count in Counter(ids).items()],
    )


def generation(db: apsw.Connection) -> int:
    """Return the number that every write transaction raises."""
    return int(value_of(db, "SELECT value FROM meta WHERE name = 'generation'"))


def _memories(db: apsw.Connection, sql: str, values: dict[str, Any]) -> list[Memory]:
    return [memory_of(row) for row in db.execute(sql, values)]


def _revisions(db: apsw.Connection, condition: str, value: Any) -> list[Revision]:
    return [revision_of(row) for row in db.execute(f"{SELECT_REVISION} {condition}", (value,))]
