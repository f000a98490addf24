"""The vectors of one space in memory: loaded once, brought up to date by what changed, asked by one product.

Rows are pieces in the order of `pieces.seq`. What the usual filter asks stands beside each row (`facts`), so that
it is answered without the database; any other filter names the memories that it lets through.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from zapomni.model import Filter
from zapomni.record import stamp
from zapomni.store.sqlite import read
from zapomni.store.sqlite.condition import SUCCEEDED, TIMELINE, condition
from zapomni.store.sqlite.connection import column_of, rows_of, value_of
from zapomni.store.sqlite.facts import FACTS, GONE, SUPERSEDED, Facts
from zapomni.store.sqlite.matrix import BLOCK, Matrix

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    import apsw
    from numpy.typing import NDArray

    from zapomni.model import Scope, Vector

QUANTISED: Final = 100_000
"""Pieces from which a vector is kept in a quarter of the memory and the best are scored again from the file."""
RESCORED: Final = 200
"""Fewest pieces that are scored again."""
_WASTE: Final = 0.25  # share of rows that are gone from which loading anew is due
_FEW: Final = 1_000  # rows below which neither waste nor change asks for that

_LOAD: Final = (
    f"SELECT {FACTS}, v.vector FROM pieces p CROSS JOIN memories m ON m.no = p.memory_no"
    " CROSS JOIN vectors v ON v.no = p.vector_no WHERE p.space_no = ? AND p.seq > ? ORDER BY p.seq"
)
_KNOWN: Final = (
    f"SELECT {FACTS} FROM pieces p JOIN memories m ON m.no = p.memory_no"
    " WHERE p.memory_no IN (SELECT value FROM json_each(?)) AND p.space_no = ? AND p.seq <= ?"
)
_CHANGED: Final = (
    "SELECT memory_no FROM revisions WHERE seq > ? UNION SELECT memory_no FROM pieces WHERE seq > ? AND space_no = ?"
)
_VECTORS: Final = (
    "SELECT p.seq, v.vector FROM pieces p JOIN vectors v ON v.no = p.vector_no"
    " WHERE p.seq IN (SELECT value FROM json_each(?))"
)


class Resident:
    """The vectors of one space in memory; one thread at a time."""

    def __init__(self, space_no: int) -> None:
        self.space_no = space_no
        self._generation = self._epoch = -1
        self._revision = 0
        self._matrix: Matrix
        self._facts: Facts

    def nearest(
        self, db: apsw.Connection, query: Vector, where: Filter, now: datetime, limit: int, also: Sequence[int]
    ) -> list[tuple[int, float]]:
        """Return the nearest memories with their cosine, best first, and those of `also` that the filter shows."""
        self._refresh(db)
        if not self._facts.count:
            return []
        centred = self._matrix.centred(np.frombuffer(query, np.float32))
        scores = self._matrix.product(centred)
        shown = self._shown(db, where, now)
        scores[~shown] = -np.inf
        best = self._best(db, scores, centred, limit)
        others = [no for no in also if no not in best]
        if others:
            chosen = np.flatnonzero(self._facts.holding(others) & shown)
            best |= self._by_memory(chosen, self._exact(db, chosen, scores, centred))
        return sorted(best.items(), key=lambda item: (-item[1], item[0]))

    def _best(
        self, db: apsw.Connection, scores: NDArray[np.float32], centred: NDArray[np.float32], limit: int
    ) -> dict[int, float]:
        """Return the best memories; pieces are taken until enough different memories are among them."""
        taken = max(limit, RESCORED) if self._matrix.quantised else limit
        while limit > 0:
            taken = min(taken, len(scores))
            chosen = np.argpartition(scores, -taken)[-taken:]
            chosen = chosen[scores[chosen] > -np.inf]
            found = self._by_memory(chosen, self._exact(db, chosen, scores, centred))
            if len(found) >= limit or len(chosen) < taken or taken == len(scores):
                return dict(list(found.items())[:limit])
            taken *= 4
        return {}

    def _exact(
        self,
        db: apsw.Connection,
        chosen: NDArray[np.intp],
        scores: NDArray[np.float32],
        centred: NDArray[np.float32],
    ) -> NDArray[np.float32]:
        """Return the cosines of rows; where only rounded vectors are in memory, from those in the file."""
        if not self._matrix.quantised or not len(chosen):
            return scores[chosen]
        seqs = self._facts.seq[chosen].tolist()
        stored = dict(rows_of(db, _VECTORS, (json.dumps(seqs),)))
        raw = np.frombuffer(b"".join(stored[seq] for seq in seqs), np.float32).reshape(len(seqs), -1).copy()
        self._matrix.centre(raw)
        return raw @ centred

    def _by_memory(self, chosen: NDArray[np.intp], scores: NDArray[np.float32]) -> dict[int, float]:
        """Return each memory with the score of its best piece, best first and of equal ones the oldest."""
        nos = self._facts.no[chosen]
        order = np.lexsort((nos, -scores))
        best: dict[int, float] = {}
        for no, score in zip(nos[order].tolist(), scores[order].tolist(), strict=True):
            best.setdefault(no, score)
        return best

    def _shown(self, db: apsw.Connection, where: Filter, now: datetime) -> NDArray[np.bool_]:
        """Mark the rows that the filter lets through."""
        facts = self._facts
        if where != Filter(scopes=where.scopes, as_of=where.as_of) or any(scope.branch for scope in where.scopes):
            asked = condition(where, now)
            let_through = column_of(db, f"SELECT m.no FROM {TIMELINE} WHERE {asked.sql}", asked.values)
            shown = facts.holding(let_through)
            shown &= facts.state != GONE
            return shown
        at = where.as_of or now
        shown = facts.usual(_scope_nos(db, where.scopes), at)
        if (facts.state == SUPERSEDED).any():
            shown &= ~facts.holding(column_of(db, SUCCEEDED, {"at": stamp(at)}))
        return shown

    # --- keeping up ------------------------------------------------------------------------------------
    def _refresh(self, db: apsw.Connection) -> None:
        generation = read.generation(db)
        if generation <= self._generation:
            return  # nothing new, or this reading began before the one that brought us here
        epoch = value_of(db, "SELECT epoch FROM spaces WHERE no = ?", (self.space_no,))
        if epoch != self._epoch or not self._follow(db):
            self._load(db)
            self._epoch = epoch
        self._generation = generation
        self._revision = value_of(db, "SELECT max(seq) FROM revisions") or 0

    def _load(self, db: apsw.Connection) -> None:
        ((mean, dimension),) = rows_of(db, "SELECT mean, dimension FROM spaces WHERE no = ?", (self.space_no,))
        count = value_of(db, "SELECT count(*) FROM pieces WHERE space_no = ?", (self.space_no,))
        self._facts = Facts()
        self._matrix = Matrix(dimension, mean, quantised=count > QUANTISED)
        self._append(db, 0)

    def _follow(self, db: apsw.Connection) -> bool:
        """Take in what changed; False when loading anew is due."""
        facts = self._facts
        count = facts.count
        last = int(facts.seq[-1]) if count else 0
        changed = column_of(db, _CHANGED, (self._revision, last, self.space_no))
        if len(changed) > max(_FEW, count // 2):
            return False
        if changed and count:
            facts.state[facts.holding(changed)] = GONE
            for row in rows_of(db, _KNOWN, (json.dumps(changed), self.space_no, last)):
                facts.put_back(row)
        self._append(db, last)
        gone = int(np.count_nonzero(facts.state == GONE))
        outgrown = facts.count > QUANTISED and not self._matrix.quantised
        return not outgrown and gone <= max(_FEW, count * _WASTE)

    def _append(self, db: apsw.Connection, last: int) -> None:
        cursor = db.execute(_LOAD, (self.space_no, last))
        while found := list(islice(cursor, BLOCK)):
            self._facts.append(found)
            self._matrix.add([row[-1] for row in found])


def _scope_nos(db: apsw.Connection, scopes: Sequence[Scope]) -> list[int] | None:
    """Return the numbers of these scopes, leaving out those never written; None for every scope."""
    if not scopes:
        return None
    sql = "SELECT no FROM scopes WHERE kind = ? AND name = ?"
    found = (value_of(db, sql, (scope.kind.value, scope.name)) for scope in scopes)
    return [no for no in found if no is not None]
