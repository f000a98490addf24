"""The leg of vectors: every vector of a space is compared, in the database or in memory, with equal answers.

The first question of a process is answered by a scan inside the database, for which nothing needs loading. From
the second one on, and in large spaces at once, the vectors are kept in memory (`resident`).
"""

from __future__ import annotations

import json
import math
from array import array
from importlib.util import find_spec
from operator import sub
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import apsw

from zapomni.errors import InvalidInput
from zapomni.store.sqlite.condition import SEEN, Condition, condition
from zapomni.store.sqlite.connection import value_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from zapomni.model import Filter, Vector
    from zapomni.store.sqlite.resident import Resident

SCANNED: Final = 20_000
"""Pieces up to which a first scan in the database is quicker than loading them (1.5 against 4 microseconds each)."""

Near = list[tuple[int, float]]

_SCAN: Final = """
SELECT p.memory_no, coalesce(1 - vec_distance_cosine({vector}, :query), 0) AS cosine
FROM pieces p CROSS JOIN {seen} ON m.no = p.memory_no CROSS JOIN vectors v ON v.no = p.vector_no
WHERE p.space_no = :space AND {condition} ORDER BY cosine DESC
"""
_CHOSEN: Final = " AND p.memory_no IN (SELECT value FROM json_each(:also))"


class Vectors:
    """The vectors of a store as this process sees them; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked = False
        self._resident: Resident | None = None

    def nearest(
        self,
        db: apsw.Connection,
        space_no: int,
        query: Vector,
        where: Filter,
        now: datetime,
        limit: int,
        also: Sequence[int],
    ) -> Near:
        """Return the nearest rows with their mean-centred cosine, best first; none for a retired space.

        Raises `InvalidInput` for a query of another width than the space.
        """
        found = db.execute("SELECT dimension, mean FROM spaces WHERE no = ? AND state <> 'retired'", (space_no,)).get
        if found is None:
            return []
        dimension, mean = found
        if len(query) != dimension:
            raise InvalidInput("query", f"it has {len(query)} numbers, the space has {dimension}")
        # What this thread has written but not committed must not get into the memory that all threads share.
        private = db.txn_state("main") == apsw.SQLITE_TXN_WRITE
        with self._lock:
            first, self._asked = not self._asked, True
        if (first or private) and _is_small(db, space_no) and _load_extension(db):
            asked = condition(where, now)
            return _scan(db, space_no, centred(query, mean), mean, asked, limit, also)
        from zapomni.store.sqlite.resident import Resident

        if private:
            return Resident(space_no).nearest(db, query, where, now, limit, also)
        with self._lock:
            if self._resident is None or self._resident.space_no != space_no:
                self._resident = Resident(space_no)
            return self._resident.nearest(db, query, where, now, limit, also)


def centred(vector: Vector, mean: bytes | None) -> Vector:
    """Return the unit vector that points from the mean to the vector; all zeros when they are equal."""
    moved = list(map(sub, vector, array("f", mean))) if mean else list(vector)
    length = math.hypot(*moved) or 1.0
    return array("f", [value / length for value in moved])


def _scan(
    db: apsw.Connection,
    space_no: int,
    query: Vector,
    mean: bytes | None,
    asked: Condition,
    limit: int,
    also: Sequence[int],
) -> Near:
    values: dict[str, Any] = {**asked.values, "space": space_no, "query": query.tobytes()}
    if mean:
        values["mean"] = mean
    vector = "vec_sub(v.vector, :mean)" if mean else "v.vector"
    sql = _SCAN.format(vector=vector, seen=SEEN, condition=asked.sql + "{chosen}")
    best: dict[int, float] = {}
    for no, cosine in db.execute(sql.format(chosen=""), values):
        if len(best) >= limit:
            break
        best.setdefault(no, cosine)
    others = [no for no in also if no not in best]
    if others:
        for no, cosine in db.execute(sql.format(chosen=_CHOSEN), {**values, "also": json.dumps(others)}):
            best.setdefault(no, cosine)
    return sorted(best.items(), key=lambda item: (-item[1], item[0]))


def _is_small(db: apsw.Connection, space_no: int) -> bool:
    sql = "SELECT count(*) FROM (SELECT 1 FROM pieces WHERE space_no = ? LIMIT ?)"
    return bool(value_of(db, sql, (space_no, SCANNED + 1)) <= SCANNED)


def _load_extension(db: apsw.Connection) -> bool:
    """Load sqlite-vec into a connection by its file: importing its package would load numpy."""
    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        return False
    db.enable_load_extension(True)
    try:
        db.load_extension(f"{spec.submodule_search_locations[0]}/vec0")
    except apsw.ExtensionLoadingError:
        return False
    finally:
        db.enable_load_extension(False)
    return True
