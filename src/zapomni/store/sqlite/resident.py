"""The vectors of one space in memory: loaded once, brought up to date by what changed, asked by one product.

Rows are pieces in the order of `pieces.seq`. What the usual filter asks stands beside each row, so that it is
answered without the database; any other filter names the rows it lets through.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zapomni.model import Filter, Trust
from zapomni.record import read_stamp, stamp
from zapomni.store.sqlite import read
from zapomni.store.sqlite.condition import SUCCEEDED, TIMELINE, condition
from zapomni.store.sqlite.connection import column_of, value_of
from zapomni.store.sqlite.matrix import BLOCK, Matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw
    from numpy.typing import NDArray

    from zapomni.model import Vector

QUANTISED: Final = 100_000
"""Pieces from which a vector is kept in a quarter of the memory and the best are scored again from the file."""
RESCORED: Final = 200
"""Fewest pieces that are scored again."""
_WASTE: Final = 0.25  # share of dead rows from which loading anew is due
_FEW: Final = 1_000

_SHOWN, _SUPERSEDED, _HIDDEN, _GONE = range(4)
_ALWAYS: Final = (np.iinfo(np.int64).min, np.iinfo(np.int64).max)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ROW: Final = np.dtype(
    [("seq", "i8"), ("no", "i8"), ("scope", "i4"), ("state", "i1"), ("since", "i8"), ("until", "i8")]
)

_PIECES: Final = (
    "SELECT p.seq, p.memory_no, m.scope_no, m.trust, m.deleted_at, m.valid_from, m.valid_until{vector}"
    " FROM pieces p CROSS JOIN memories m ON m.no = p.memory_no"
)
_LOAD: Final = (
    _PIECES.format(vector=", v.vector")
    + " CROSS JOIN vectors v ON v.no = p.vector_no WHERE p.space_no = ? AND p.seq > ? ORDER BY p.seq"
)
_KNOWN: Final = (
    _PIECES.format(vector="")
    + " WHERE p.space_no = ? AND p.seq <= ? AND p.memory_no IN (SELECT value FROM json_each(?))"
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
        self._rows = np.empty(0, _ROW)
        self._timed = False

    def nearest(
        self, db: apsw.Connection, query: Vector, where: Filter, now: datetime, limit: int, also: Sequence[int]
    ) -> list[tuple[int, float]]:
        """Return the nearest memories with their cosine, best first, and those of `also` that the filter shows."""
        self._refresh(db)
        if not self._matrix.count:
            return []
        centred = self._matrix.centred(np.frombuffer(query, np.float32))
        scores = self._matrix.product(centred)
        shown = self._shown(db, where, now)
        if not shown.all():
            scores[~shown] = -np.inf
        best = self._best(db, scores, centred, limit)
        others = [no for no in also if no not in best]
        if others:
            chosen = np.flatnonzero(self._holding(others) & shown)
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
            exact = self._exact(db, chosen, scores, centred)
            found = self._by_memory(chosen, exact)
            if len(found) >= limit or len(chosen) < taken or taken == len(scores):
                ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
                return dict(ordered[:limit])
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
        seqs = self._rows["seq"][chosen].tolist()
        stored = dict(db.execute(_VECTORS, (json.dumps(seqs),)))
        raw = np.frombuffer(b"".join(stored[seq] for seq in seqs), np.float32).reshape(len(seqs), -1).copy()
        self._matrix.centre(raw)
        return raw @ centred

    def _by_memory(self, chosen: NDArray[np.intp], scores: NDArray[np.float32]) -> dict[int, float]:
        order = np.argsort(-scores, kind="stable")
        best: dict[int, float] = {}
        for no, score in zip(self._rows["no"][chosen[order]].tolist(), scores[order].tolist(), strict=True):
            best.setdefault(no, score)
        return best

    # --- what may be seen ------------------------------------------------------------------------------
    def _shown(self, db: apsw.Connection, where: Filter, now: datetime) -> NDArray[np.bool_]:
        rows = self._rows[: self._matrix.count]
        alive: NDArray[np.bool_] = rows["state"] != _GONE
        if where != Filter(scopes=where.scopes, as_of=where.as_of):
            asked = condition(where, now)
            let_through = column_of(db, f"SELECT m.no FROM {TIMELINE} WHERE {asked.sql}", asked.values)
            alive &= self._holding(let_through)
            return alive
        at = where.as_of or now
        shown: NDArray[np.bool_] = rows["state"] <= _SUPERSEDED
        if where.scopes:
            shown &= np.isin(rows["scope"], [no for no in (_scope_no(db, scope) for scope in where.scopes) if no])
        if self._timed:
            micros = _micros(at)
            shown &= (rows["since"] <= micros) & (rows["until"] > micros)
        if (rows["state"] == _SUPERSEDED).any():
            shown &= ~self._holding(column_of(db, SUCCEEDED, {"at": stamp(at)}))
        return shown

    def _holding(self, nos: Sequence[int]) -> NDArray[np.bool_]:
        """Mark the rows of these memories."""
        held = self._rows["no"][: self._matrix.count]
        table = np.zeros(int(held.max(initial=0)) + 1, np.bool_)
        wanted = np.asarray(nos, np.int64)
        table[wanted[wanted < len(table)]] = True
        marks: NDArray[np.bool_] = table[held]
        return marks

    # --- keeping up ------------------------------------------------------------------------------------
    def _refresh(self, db: apsw.Connection) -> None:
        generation = read.generation(db)
        if generation <= self._generation:
            return  # nothing new, or this reading began before the one that brought us here
        mean, epoch, dimension = db.execute(
            "SELECT mean, epoch, dimension FROM spaces WHERE no = ?", (self.space_no,)
        ).get
        if epoch != self._epoch or not self._follow(db):
            self._load(db, mean, dimension)
            self._epoch = epoch
        self._generation = generation
        self._revision = value_of(db, "SELECT max(seq) FROM revisions") or 0

    def _load(self, db: apsw.Connection, mean: bytes | None, dimension: int) -> None:
        count = value_of(db, "SELECT count(*) FROM pieces WHERE space_no = ?", (self.space_no,))
        self._rows = np.empty(0, _ROW)
        self._matrix = Matrix(dimension, mean, quantised=count > QUANTISED)
        self._timed = False
        self._append(db, 0)

    def _follow(self, db: apsw.Connection) -> bool:
        """Take in what changed; False when loading anew is due."""
        count = self._matrix.count
        rows = self._rows[:count]
        last = int(rows["seq"][-1]) if count else 0
        changed = column_of(db, _CHANGED, (self._revision, last, self.space_no))
        if len(changed) > max(_FEW, count // 2):
            return False
        if changed and count:
            rows["state"][self._holding(changed)] = _GONE
            for row in db.execute(_KNOWN, (self.space_no, last, json.dumps(changed))):
                at = int(np.searchsorted(rows["seq"], row[0]))
                rows[at] = _row_of(row)
                self._timed = self._timed or row[5] is not None or row[6] is not None
        self._append(db, last)
        gone = int((rows["state"] == _GONE).sum())
        outgrown = not self._matrix.quantised and self._matrix.count > QUANTISED
        return not outgrown and gone <= max(_FEW, count * _WASTE)

    def _append(self, db: apsw.Connection, last: int) -> None:
        cursor = db.execute(_LOAD, (self.space_no, last))
        while found := list(islice(cursor, BLOCK)):
            count = self._matrix.count
            if count + len(found) > len(self._rows):
                grown = np.empty(max(BLOCK, 2 * (count + len(found))), _ROW)
                grown[:count] = self._rows[:count]
                self._rows = grown
            self._rows[count : count + len(found)] = [_row_of(row) for row in found]
            self._timed = self._timed or any(row[5] is not None or row[6] is not None for row in found)
            self._matrix.add([row[7] for row in found])


def _row_of(row: Sequence[Any]) -> tuple[int, int, int, int, int, int]:
    seq, no, scope_no, trust, deleted_at, valid_from, valid_until = row[:7]
    if deleted_at is not None or trust == Trust.REJECTED.value:
        state = _HIDDEN
    else:
        state = _SUPERSEDED if trust == Trust.SUPERSEDED.value else _SHOWN
    since = _ALWAYS[0] if valid_from is None else _micros(read_stamp(valid_from))
    until = _ALWAYS[1] if valid_until is None else _micros(read_stamp(valid_until))
    return seq, no, scope_no, state, since, until


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


def _scope_no(db: apsw.Connection, scope: Any) -> int | None:
    return value_of(  # type: ignore[no-any-return]
        db, "SELECT no FROM scopes WHERE kind = ? AND name = ?", (scope.kind.value, scope.name)
    )
