"""The vectors of descriptions in one SQLite file; `store.descriptions` says what each method promises."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from zapomni.errors import Unavailable
from zapomni.store.sqlite.connection import rows_of
from zapomni.store.sqlite.rows import dumps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Vector
    from zapomni.store.sqlite.connection import Connections


class SqliteDescriptions:
    """What one SQLite file holds of vectors of descriptions."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def vectors(self, space_no: int, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return those of these vectors that are there."""
        sql = (
            "SELECT digest, vector FROM description_vectors"
            " WHERE space_no = ? AND hex(digest) IN (SELECT value FROM json_each(?))"
        )
        asked = dumps([digest.hex().upper() for digest in digests])
        with self._db.reading() as db:
            return {digest: array("f", vector) for digest, vector in rows_of(db, sql, (space_no, asked))}

    def keep(self, space_no: int, vectors: Mapping[bytes, Vector]) -> None:
        """Keep vectors, and drop those of spaces that are retired; where it cannot be written it is passed over."""
        try:
            with self._db.impatient(), self._db.transaction() as db:
                db.execute(
                    "DELETE FROM description_vectors WHERE space_no IN (SELECT no FROM spaces WHERE state = 'retired')"
                )
                db.executemany(
                    "INSERT OR IGNORE INTO description_vectors (space_no, digest, vector) VALUES (?, ?, ?)",
                    [(space_no, digest, vector.tobytes()) for digest, vector in vectors.items()],
                )
        except Unavailable:
            return
