"""Embedding generations: opening, activating and dropping spaces, and the mean of each."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.errors import NotFound
from zapomni.model import Space, SpaceState
from zapomni.store.sqlite.connection import column_of, rows_of, value_of
from zapomni.text.language import is_russian

if TYPE_CHECKING:
    import apsw

    from zapomni.model import Vector
    from zapomni.store.sqlite.corpus import Corpus

FIRST_MEAN: Final = 100
"""Vectors from which a space has a mean of its own; then at each doubling."""
PRIOR_WEIGHT: Final = 50
"""How many vectors the mean that a space began with counts for; LoCoMo is flat from 5 to 50."""

_SAMPLE: Final = 200
"""Texts whose language is looked at: the share is good to four points."""

_COLUMNS: Final = "no, provider, model, dimension, preparation, state, mean, russian"


class Name(NamedTuple):
    """What tells one space from another."""

    provider: str
    model: str
    dimension: int
    preparation: int


def spaces(db: apsw.Connection, corpus: Corpus) -> list[Space]:
    """Return every space that is not retired, the active one first."""
    alive = f"FROM {corpus.spaces} WHERE state <> 'retired' ORDER BY state <> 'active', no"
    rows = rows_of(db, f"SELECT {_COLUMNS} {alive}")
    return [_space_of(*row) for row in rows]


def find(db: apsw.Connection, corpus: Corpus, name: Name) -> Space | None:
    """Return the space of this name that is not retired."""
    return next((space for space in spaces(db, corpus) if _name_of(space) == name), None)


def build(db: apsw.Connection, corpus: Corpus, name: Name, mean: Vector | None) -> Space:
    """Begin a space with a job for everything that is searched; without an active one it is active at once."""
    has_active = value_of(db, f"SELECT 1 FROM {corpus.spaces} WHERE state = 'active'")
    state = SpaceState.BUILDING if has_active else SpaceState.ACTIVE
    prior = mean.tobytes() if mean is not None else None
    db.execute(
        f"INSERT INTO {corpus.spaces} (provider, model, dimension, preparation, state, prior, mean)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*name, state.value, prior, prior),
    )
    no = db.last_insert_rowid()
    jobs = f"INSERT INTO {corpus.jobs} (space_no, {corpus.item})"
    db.execute(f"{jobs} SELECT ?, no FROM {corpus.items} WHERE {corpus.alive}", (no,))
    return _space_of(no, *name, state.value, prior)


def activate(db: apsw.Connection, corpus: Corpus, space_no: int) -> None:
    """Make a space the active one and retire the others: the one before it, and what was begun for a model in between.

    Raises `NotFound` when there is no such space any more.
    """
    if not is_kept(db, corpus, space_no):
        raise NotFound(f"there is no embedding space {space_no}")
    for other in column_of(db, f"SELECT no FROM {corpus.spaces} WHERE state <> 'retired' AND no <> ?", (space_no,)):
        drop(db, corpus, other)
    db.execute(f"UPDATE {corpus.spaces} SET state = 'active' WHERE no = ?", (space_no,))


def is_kept(db: apsw.Connection, corpus: Corpus, space_no: int) -> bool:
    """Tell whether there is such a space and it is not retired."""
    return value_of(db, f"SELECT 1 FROM {corpus.spaces} WHERE no = ? AND state <> 'retired'", (space_no,)) is not None


def drop(db: apsw.Connection, corpus: Corpus, space_no: int) -> None:
    """Retire a space and remove what it held."""
    for table in (corpus.jobs, corpus.pieces, corpus.vectors):
        db.execute(f"DELETE FROM {table} WHERE space_no = ?", (space_no,))
    db.execute(f"UPDATE {corpus.spaces} SET state = 'retired', epoch = epoch + 1 WHERE no = ?", (space_no,))


def renew_mean(db: apsw.Connection, corpus: Corpus, space_no: int) -> None:
    """Work out the mean of a space anew when it has grown to twice what it was the last time.

    The mean that it began with counts like `PRIOR_WEIGHT` vectors, so that a few do not bend it.
    """
    sql = f"SELECT counted, prior FROM {corpus.spaces} WHERE no = ? AND state <> 'retired'"
    found = db.execute(sql, (space_no,)).get
    if found is None:
        return
    counted, prior = found
    due = max(FIRST_MEAN, 2 * counted)
    sql = f"SELECT count(*) FROM (SELECT 1 FROM {corpus.vectors} WHERE space_no = ? LIMIT ?)"
    if value_of(db, sql, (space_no, due)) < due:
        return
    mean, count = _mean(db, corpus, space_no, prior)
    db.execute(
        f"UPDATE {corpus.spaces} SET mean = ?, counted = ?, russian = ?, epoch = epoch + 1 WHERE no = ?",
        (mean.tobytes(), count, _russian_share(db, corpus, space_no), space_no),
    )


def _russian_share(db: apsw.Connection, corpus: Corpus, space_no: int) -> float:
    """Return the share of Russian texts among those with a vector, judged by a sample."""
    sql = (
        f"SELECT {corpus.text} FROM {corpus.items} WHERE no IN (SELECT {corpus.item} FROM {corpus.pieces}"
        " WHERE space_no = ? AND ordinal = 0 ORDER BY random() LIMIT ?)"
    )
    texts = column_of(db, sql, (space_no, _SAMPLE))
    return sum(map(is_russian, texts)) / len(texts) if texts else 0.5


def _mean(db: apsw.Connection, corpus: Corpus, space_no: int, prior: bytes | None) -> tuple[Vector, int]:
    import numpy as np

    total = np.frombuffer(prior, np.float32).astype(np.float64) * PRIOR_WEIGHT if prior else np.float64(0)
    count = 0
    for (vector,) in db.execute(f"SELECT vector FROM {corpus.vectors} WHERE space_no = ?", (space_no,)):
        total = total + np.frombuffer(vector, np.float32)
        count += 1
    mean = total / (count + (PRIOR_WEIGHT if prior else 0))
    return array("f", mean.astype(np.float32).tobytes()), count


def _space_of(
    no: int,
    provider: str,
    model: str,
    dimension: int,
    preparation: int,
    state: str,
    mean: bytes | None,
    russian: float = 0.5,
) -> Space:
    return Space(
        no=no,
        provider=provider,
        model=model,
        dimension=dimension,
        preparation=preparation,
        state=SpaceState(state),
        mean=tuple(array("f", mean)) if mean else (),
        russian=russian,
    )


def _name_of(space: Space) -> Name:
    return Name(space.provider, space.model, space.dimension, space.preparation)
