"""The embed queue: what waits for vectors, and taking in the vectors that came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.store.jobs import Backlog, EmbedJob
from zapomni.store.sqlite import derived
from zapomni.store.sqlite.connection import value_of
from zapomni.store.sqlite.corpus import MEMORIES
from zapomni.store.sqlite.rows import SELECT_MEMORY, memory_of
from zapomni.store.sqlite.spaces import is_kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import apsw

    from zapomni.model import Memory, Vector
    from zapomni.store.sqlite.corpus import Corpus

WAITING: Final = (
    " WHERE j.space_no = :space AND (:now IS NULL OR j.not_before IS NULL OR j.not_before <= :now)"
    " ORDER BY j.no LIMIT :most"
)
"""Which jobs are due; they stand in the statement as `j`."""
_JOBS: Final = (
    SELECT_MEMORY.replace("SELECT m.no", "SELECT j.attempts, j.error, m.no", 1)
    + " JOIN embed_jobs j ON j.memory_no = m.no"
    + WAITING
)
_UNCHANGED: Final = (
    "SELECT no FROM memories WHERE id = ? AND title = ? AND description = ? AND content = ? AND deleted_at IS NULL"
)


def jobs(db: apsw.Connection, space_no: int, limit: int, now: str | None) -> list[EmbedJob[Memory]]:
    """Return the memories that wait, oldest first; `now` leaves out those whose time has not come."""
    return [
        EmbedJob(item=memory, key=memory.id, version=memory.version, space_no=space_no, attempts=attempts, error=error)
        for attempts, error, *row in db.execute(_JOBS, {"space": space_no, "now": now, "most": limit})
        for memory in [memory_of(tuple(row))]
    ]


def known(db: apsw.Connection, corpus: Corpus, space_no: int, digests: Iterable[bytes]) -> set[bytes]:
    """Return which of these digests have a vector in the space."""
    sql = f"SELECT 1 FROM {corpus.vectors} WHERE space_no = ? AND digest = ?"
    return {digest for digest in digests if value_of(db, sql, (space_no, digest))}


def save(
    db: apsw.Connection,
    space_no: int,
    vectors: Mapping[bytes, Vector],
    pieces: Sequence[tuple[Memory, Sequence[bytes]]],
) -> None:
    """Tie each memory to the vectors of its pieces and take it off the queue.

    A memory whose text changed, that is gone or a vector of which is missing stays on the queue, and so does
    every memory of a space that was retired meanwhile. No vector is kept that no memory asks for.
    """
    if not is_kept(db, MEMORIES, space_no):
        return
    for memory, digests in pieces:
        no = value_of(db, _UNCHANGED, (memory.id, *derived.embedded_text(memory)))
        if no is not None:
            tie(db, MEMORIES, space_no, no, digests, vectors)


def tie(
    db: apsw.Connection,
    corpus: Corpus,
    space_no: int,
    no: int,
    digests: Sequence[bytes],
    vectors: Mapping[bytes, Vector],
) -> None:
    """Tie one item to the vectors of its pieces and take it off the queue; where one is missing it stays there."""
    held = [_vector_no(db, corpus, space_no, digest, vectors) for digest in digests]
    whole = [vector_no for vector_no in held if vector_no is not None]
    if len(whole) < len(held):
        derived.drop_orphans(db, corpus, whole)
        return
    older = derived.drop_pieces(db, corpus, no, space_no)
    db.executemany(
        f"INSERT INTO {corpus.pieces} (space_no, {corpus.item}, ordinal, vector_no) VALUES (?, ?, ?, ?)",
        [(space_no, no, ordinal, vector_no) for ordinal, vector_no in enumerate(whole)],
    )
    derived.drop_orphans(db, corpus, older)
    db.execute(f"DELETE FROM {corpus.jobs} WHERE space_no = ? AND {corpus.item} = ?", (space_no, no))


def postpone(db: apsw.Connection, corpus: Corpus, no: int | None, job: EmbedJob[Any], error: str, until: str) -> None:
    """Record a failed try of the item of this number; a job that was renewed meanwhile is left as it is."""
    db.execute(
        f"UPDATE {corpus.jobs} SET attempts = attempts + 1, error = ?, not_before = ?"
        f" WHERE space_no = ? AND {corpus.item} = ? AND attempts = ?",
        (error, until, job.space_no, no, job.attempts),
    )


def memory_no(db: apsw.Connection, memory_id: str) -> int | None:
    """Return the number of a memory."""
    no: int | None = value_of(db, "SELECT no FROM memories WHERE id = ?", (memory_id,))
    return no


def backlog(db: apsw.Connection, corpus: Corpus, space_no: int) -> Backlog:
    """Count what waits in a space; the error is that of the latest failure."""
    sql = f"SELECT count(*), count(error) FROM {corpus.jobs} WHERE space_no = ?"
    waiting, failed = db.execute(sql, (space_no,)).get
    latest = f"FROM {corpus.jobs} WHERE space_no = ? AND error IS NOT NULL ORDER BY not_before DESC LIMIT 1"
    error = value_of(db, f"SELECT error {latest}", (space_no,)) if failed else None
    return Backlog(waiting=waiting, failed=failed, error=error)


def _vector_no(
    db: apsw.Connection, corpus: Corpus, space_no: int, digest: bytes, vectors: Mapping[bytes, Vector]
) -> int | None:
    """Return the row of a vector, writing it first where it is new; None when there is none at all."""
    found = value_of(db, f"SELECT no FROM {corpus.vectors} WHERE space_no = ? AND digest = ?", (space_no, digest))
    if found is not None:
        return int(found)
    vector = vectors.get(digest)
    if vector is None:
        return None
    row = (space_no, digest, vector.tobytes())
    db.execute(f"INSERT INTO {corpus.vectors} (space_no, digest, vector) VALUES (?, ?, ?)", row)
    return db.last_insert_rowid()
