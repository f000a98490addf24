"""The vectors of one space of chunks in memory: loaded once, then brought up to date by what was added.

A chunk never changes under its number, so what was loaded stays true; what is gone is left out of every answer.
"""

from __future__ import annotations

from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zapomni.errors import InvalidInput
from zapomni.store.sqlite import read
from zapomni.store.sqlite.connection import column_of, value_of
from zapomni.store.sqlite.matrix import BLOCK, Matrix
from zapomni.store.sqlite.rows import dumps

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw
    from numpy.typing import NDArray

    from zapomni.model import Vector
    from zapomni.store.sqlite.condition import Condition

QUANTISED: Final = 20_000
"""Pieces from which vectors are kept rounded to bytes: 8 MB for as many; the cosine is off by less than .01."""
_WASTE: Final = 1.25  # times what there is, from which loading anew is due
_LOAD: Final = (
    "SELECT p.seq, p.chunk_no, c.document_no, v.vector FROM chunk_pieces p"
    " CROSS JOIN chunks c ON c.no = p.chunk_no CROSS JOIN chunk_vectors v ON v.no = p.vector_no"
    " WHERE p.space_no = ? AND p.seq > ? ORDER BY p.seq"
)
_COUNT: Final = "SELECT count(*) FROM chunk_pieces WHERE space_no = ?"


class ChunkVectors:
    """The vectors of the space that was asked last; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._space_no = self._generation = self._epoch = -1
        self._dimension = 0
        self._last = 0
        self._matrix: Matrix
        self._chunks: NDArray[np.int64]
        self._documents: NDArray[np.int64]

    def nearest(
        self,
        db: apsw.Connection,
        space_no: int,
        query: Vector,
        asked: Condition,
        limit: int,
        also: Sequence[int],
    ) -> list[tuple[int, float]]:
        """Return the nearest chunks with their mean-centred cosine, best first, and those of `also` that are shown.

        Raises `InvalidInput` for a query of another width than the space.
        """
        with self._lock:
            if not self._refresh(db, space_no) or not len(self._chunks):
                return []
            if len(query) != self._dimension:
                raise InvalidInput("query", f"it has {len(query)} numbers, the space has {self._dimension}")
            scores = self._matrix.product(self._matrix.centred(np.frombuffer(query, np.float32)))
            chunks, documents = self._chunks, self._documents
        if asked.sql != "TRUE":
            shown = column_of(db, f"SELECT d.no FROM documents d WHERE {asked.sql}", asked.values)
            scores[~np.isin(documents, shown)] = -np.inf
        best = _best(db, chunks, scores, limit)
        others = np.flatnonzero(np.isin(chunks, [no for no in also if no not in best]) & (scores > -np.inf))
        best |= _by_chunk(db, chunks[others], scores[others])
        return sorted(best.items(), key=lambda item: (-item[1], item[0]))

    def _refresh(self, db: apsw.Connection, space_no: int) -> bool:
        """Take in what is new; False for a space that is retired."""
        generation = read.generation(db)
        if space_no == self._space_no and generation <= self._generation:
            return True
        sql = "SELECT epoch, dimension, mean FROM chunk_spaces WHERE no = ? AND state <> 'retired'"
        found = db.execute(sql, (space_no,)).get
        if found is None:
            return False
        epoch, dimension, mean = found
        count = value_of(db, _COUNT, (space_no,))
        if (space_no, epoch) != (self._space_no, self._epoch) or len(self._chunks) > _WASTE * count + BLOCK:
            self._matrix = Matrix(dimension, mean, quantised=count > QUANTISED)
            self._chunks = self._documents = np.empty(0, np.int64)
            self._last = 0
        self._space_no, self._epoch, self._dimension = space_no, epoch, dimension
        self._append(db)
        self._generation = generation
        return True

    def _append(self, db: apsw.Connection) -> None:
        rows = db.execute(_LOAD, (self._space_no, self._last))
        while found := list(islice(rows, BLOCK)):
            seqs, chunks, documents, vectors = zip(*found, strict=True)
            self._matrix.add(vectors)
            self._chunks = np.concatenate([self._chunks, np.array(chunks, np.int64)])
            self._documents = np.concatenate([self._documents, np.array(documents, np.int64)])
            self._last = seqs[-1]


def _best(db: apsw.Connection, chunks: NDArray[np.int64], scores: NDArray[np.float32], limit: int) -> dict[int, float]:
    """Return the best chunks that are still there; more are looked at until there are enough of them."""
    taken = 2 * limit
    while limit > 0:
        taken = min(taken, len(scores))
        rows = np.argpartition(scores, -taken)[-taken:]
        rows = rows[scores[rows] > -np.inf]
        found = _by_chunk(db, chunks[rows], scores[rows])
        if len(found) >= limit or len(rows) < taken or taken == len(scores):
            return dict(list(found.items())[:limit])
        taken *= 4
    return {}


def _by_chunk(db: apsw.Connection, chunks: NDArray[Any], scores: NDArray[np.float32]) -> dict[int, float]:
    """Return each chunk that is still there with the score of its best piece, best first."""
    listed = dumps(chunks.tolist())
    there = set(column_of(db, "SELECT no FROM chunks WHERE no IN (SELECT value FROM json_each(?))", (listed,)))
    best: dict[int, float] = {}
    for row in np.lexsort((chunks, -scores)).tolist():
        no = int(chunks[row])
        if no in there:
            best.setdefault(no, float(scores[row]))
    return best
