"""The embed queue: which memories wait for vectors, and taking in the vectors that came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.store.base import Backlog, EmbedJob
from zapomni.store.sqlite import derived
from zapomni.store.sqlite.connection import value_of
from zapomni.store.sqlite.rows import SELECT_MEMORY, memory_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from zapomni.model import Memory, Vector

_JOBS: Final = SELECT_MEMORY.replace("SELECT m.no", "SELECT j.attempts, j.error, m.no", 1) + (
    " JOIN embed_jobs j ON j.memory_no = m.no"
    " WHERE j.space_no = :space AND (:now IS NULL OR j.not_before IS NULL OR j.not_before <= :now)"
    " ORDER BY j.no LIMIT :most"
)
_UNCHANGED: Final = (
    "SELECT no FROM memories WHERE id = ? AND title = ? AND description = ? AND content = ? AND deleted_at IS NULL"
)


def jobs(db: apsw.Connection, space_no: int, limit: int, now: str | None) -> list[EmbedJob]:
    """Return waiting jobs, oldest first; `now` leaves out those whose time has not come."""
    rows = db.execute(_JOBS, {"space": space_no, "now": now, "most": limit})
    return [EmbedJob(memory=memory_of(row[2:]), space_no=space_no, attempts=row[0], error=row[1]) for row in rows]


def known(db: apsw.Connection, space_no: int, digests: Sequence[bytes]) -> set[bytes]:
    """Return which of these digests have a vector in the space."""
    sql = "SELECT 1 FROM vectors WHERE space_no = ? AND digest = ?"
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
    if value_of(db, "SELECT 1 FROM spaces WHERE no = ? AND state <> 'retired'", (space_no,)) is None:
        return
    for memory, digests in pieces:
        no = value_of(db, _UNCHANGED, (memory.id, *derived.embedded_text(memory)))
        if no is None:
            continue
        held = [_vector_no(db, space_no, digest, vectors) for digest in digests]
        whole = [vector_no for vector_no in held if vector_no is not None]
        if len(whole) < len(held):
            derived.drop_orphans(db, whole)
            continue
        older = derived.drop_pieces(db, no, space_no)
        db.executemany(
            "INSERT INTO pieces (space_no, memory_no, ordinal, vector_no) VALUES (?, ?, ?, ?)",
            [(space_no, no, ordinal, vector_no) for ordinal, vector_no in enumerate(whole)],
        )
        derived.drop_orphans(db, older)
        db.execute("DELETE FROM embed_jobs WHERE space_no = ? AND memory_no = ?", (space_no, no))


def postpone(db: apsw.Connection, job: EmbedJob, error: str, until: str) -> None:
    """Record a failed try; a job that was renewed meanwhile is left as it is."""
    db.execute(
        "UPDATE embed_jobs SET attempts = attempts + 1, error = ?, not_before = ?"
        " WHERE space_no = ? AND memory_no = (SELECT no FROM memories WHERE id = ?) AND attempts = ?",
        (error, until, job.space_no, job.memory.id, job.attempts),
    )


def backlog(db: apsw.Connection, space_no: int) -> Backlog:
    """Count what waits in a space; the error is that of the latest failure."""
    sql = "SELECT count(*), count(error) FROM embed_jobs WHERE space_no = ?"
    waiting, failed = db.execute(sql, (space_no,)).get
    latest = "SELECT error FROM embed_jobs WHERE space_no = ? AND error IS NOT NULL ORDER BY not_before DESC LIMIT 1"
    return Backlog(waiting=waiting, failed=failed, error=value_of(db, latest, (space_no,)) if failed else None)


def _vector_no(db: apsw.Connection, space_no: int, digest: bytes, vectors: Mapping[bytes, Vector]) -> int | None:
    """Return the row of a vector, writing it first where it is new; None when there is none at all."""
    found = value_of(db, "SELECT no FROM vectors WHERE space_no = ? AND digest = ?", (space_no, digest))
    if found is not None:
        return int(found)
    vector = vectors.get(digest)
    if vector is None:
        return None
    db.execute("INSERT INTO vectors (space_no, digest, vector) VALUES (?, ?, ?)", (space_no, digest, vector.tobytes()))
    return db.last_insert_rowid()
