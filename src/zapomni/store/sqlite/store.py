"""The store in one SQLite file: composes the rooms of this folder behind `base.Store`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zapomni.clock import system_clock
from zapomni.errors import Unavailable
from zapomni.record import stamp
from zapomni.settings import StoreSettings
from zapomni.store.sqlite import read
from zapomni.store.sqlite.condition import Condition, condition
from zapomni.store.sqlite.connection import Connections
from zapomni.store.sqlite.corpus import MEMORIES
from zapomni.store.sqlite.faults import translated
from zapomni.store.sqlite.opening import open_file
from zapomni.store.sqlite.rooms import Rooms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from zapomni.clock import Clock
    from zapomni.model import Filter, Link, Memory, Page, Revision, Run, Scope, Space, Vector
    from zapomni.store.base import Check, Stats
    from zapomni.store.found import Lexical, Merit, Place
    from zapomni.store.jobs import Backlog, EmbedJob
    from zapomni.store.sqlite.vectors import Vectors
    from zapomni.store.sqlite.write import SqliteTx
    from zapomni.text.words import QueryWord

_PATIENCE_MS: Final = StoreSettings().busy_timeout_ms


def open_sqlite(path: Path, *, busy_timeout_ms: int = _PATIENCE_MS, clock: Clock = system_clock) -> SqliteStore:
    """Open the store of a file, making or migrating it first where needed; any number of processes may.

    Raises `StoreDamaged` for a file that is not ours or newer than us, `Unavailable` for one that cannot be
    opened. A store in a read-only place serves readings.
    """

    def open_it() -> bool:
        return open_file(path, busy_timeout_ms, clock)

    return SqliteStore(Connections(path, busy_timeout_ms, immutable=open_it(), reopen=open_it), clock)


class SqliteStore(Rooms):
    """One SQLite file as a `base.Store`, which says what each method promises.

    What a reading by words does not need is imported by the methods that do: a hook has few milliseconds.
    """

    # --- writing ---------------------------------------------------------------------------------------
    @contextmanager
    def write(self) -> Iterator[SqliteTx]:
        """Open a write transaction; leaving it by an error takes everything back."""
        from zapomni.store.sqlite.write import SqliteTx

        with self._db.writing() as db:
            tx = SqliteTx(db)
            self._db.owe(tx)
            yield tx
        # What was erased stood in the log as well; and a copy of the main file alone must not look like a new store.
        if tx.erased or tx.first:
            self._db.clear_log()

    def touch(self, ids: Sequence[str], at: datetime, asked: Mapping[Scope, int] | None = None) -> None:
        """Count these targeted readings, and the recalls that saw each scope; a busy store is passed over."""
        from zapomni.store.sqlite.misses import count_recalls

        try:
            with self._db.impatient(), self._db.transaction() as db:
                read.touch(db, ids, stamp(at))
                count_recalls(db, asked or {}, stamp(at))
        except Unavailable:
            return

    # --- memories --------------------------------------------------------------------------------------
    def get(self, ids: Sequence[str], where: Filter) -> list[Memory]:
        """Return the memories of these ids that the filter lets through, in the order asked."""
        with self._db.reading() as db:
            return read.get(db, ids, self._condition(where))

    def match_id(self, prefix: str, where: Filter, limit: int = 10) -> list[str]:
        """Return the ids that begin with `prefix`; an exact id alone when there is one."""
        with self._db.reading() as db:
            return read.match_id(db, prefix, self._condition(where), limit)

    def page(self, where: Filter, limit: int, cursor: str | None = None) -> Page:
        """Return one page, newest first, each memory exactly once over all pages whatever their times."""
        from zapomni.store.sqlite import paging

        with self._db.reading() as db:
            return paging.page(db, self._condition(where), limit, cursor)

    def merits(self, nos: Sequence[int]) -> dict[int, Merit]:
        """Return what these rows are ranked by."""
        with self._db.reading() as db:
            return read.merits(db, nos)

    def fetch(self, nos: Sequence[int]) -> dict[int, Memory]:
        """Return the memories of these rows."""
        with self._db.reading() as db:
            return read.fetch(db, nos)

    def stats(self, where: Filter) -> Stats:
        """Count what the filter lets through and measure the parts of the store."""
        from zapomni.store.sqlite import stats

        with self._db.reading() as db:
            everything = self._condition(replace(where, deleted=True))
            return stats.stats(db, self._db.path, self._condition(where), everything)

    def topics(self, where: Filter) -> dict[str, int]:
        """Count what the filter lets through at each topic path, in the order of the paths."""
        from zapomni.store.sqlite import stats

        with self._db.reading() as db:
            return stats.topics(db, self._condition(where))

    def scopes(self) -> list[Scope]:
        """Return every known scope."""
        with self._db.reading() as db:
            return list(read.scopes(db))

    def scope_identities(self) -> dict[Scope, str | None]:
        """Return every known or reserved scope with the repository identity it is tied to."""
        with self._db.reading() as db:
            return read.scopes(db) | read.reserved_scopes(db)

    def links(self, memory_id: str) -> list[Link]:
        """Return the links from and to a memory."""
        with self._db.reading() as db:
            return read.links(db, memory_id)

    # --- history ---------------------------------------------------------------------------------------
    def history(self, memory_id: str) -> list[Revision]:
        """Return a memory's revisions, oldest first."""
        with self._db.reading() as db:
            return read.history(db, memory_id)

    def revision(self, seq: int) -> Revision | None:
        """Return one revision."""
        with self._db.reading() as db:
            return read.revision(db, seq)

    def latest_revision(self, memory_id: str) -> Revision | None:
        """Return a memory's newest revision."""
        with self._db.reading() as db:
            return read.latest_revision(db, memory_id)

    def run(self, run_id: str) -> tuple[Run, list[Revision]] | None:
        """Return a run with its revisions, oldest first."""
        with self._db.reading() as db:
            return read.run(db, run_id)

    def runs(self, limit: int = 20) -> list[Run]:
        """Return the latest runs, newest first."""
        with self._db.reading() as db:
            return read.runs(db, limit)

    # --- the read path ---------------------------------------------------------------------------------
    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Have every reading of this thread inside see the same state of the store."""
        with self._db.reading():
            yield

    def lexical(self, words: Sequence[QueryWord], where: Filter, limit: int) -> Lexical:
        """Return the memories that hold some of the words, best first."""
        from zapomni.store.sqlite import lexical

        with self._db.reading() as db:
            return lexical.lexical(db, lexical.MEMORIES_LEG, words, self._condition(where), limit)

    def nearest(
        self, space: Space, query: Vector, where: Filter, limit: int, also: Sequence[int] = ()
    ) -> list[tuple[int, float]]:
        """Return the rows nearest to a unit query vector with their mean-centred cosine, best first."""
        with self._db.reading() as db:
            return self._vectors.nearest(db, space.no, query, where, self._clock(), limit, also)

    def visible(self, where: Filter) -> int:
        """Return how many memories the filter lets through, counted no further than `VISIBLE_MOST`."""
        from zapomni.store.sqlite import lexical

        with self._db.reading() as db:
            return lexical.visible(db, lexical.MEMORIES_LEG, self._condition(where))

    def places(self, nos: Sequence[int], where: Filter, reach: int) -> list[Place]:
        """Return the places of these memories and of those at most `reach` away in their ordered sources."""
        with self._db.reading() as db:
            return read.places(db, nos, self._condition(where), reach)

    # --- spaces and the embed queue --------------------------------------------------------------------
    def size(self) -> int:
        """Return how many memories there are to be searched."""
        from zapomni.store.sqlite import lexical

        with self._db.reading() as db:
            return lexical.indexed(db, MEMORIES)

    def spaces(self) -> list[Space]:
        """Return every space that is not retired, the active one first."""
        from zapomni.store.sqlite import spaces

        with self._db.reading() as db:
            return spaces.spaces(db, MEMORIES)

    def open_space(self, provider: str, model: str, dimension: int, preparation: int, mean: Vector | None) -> Space:
        """Return the space of this name, building it with a job for every memory when it is new."""
        from zapomni.store.sqlite import spaces

        wanted = spaces.Name(provider, model, dimension, preparation)
        with self._db.reading() as db:
            found = spaces.find(db, MEMORIES, wanted)
        if found is not None:
            return found
        with self._db.writing() as db:
            return spaces.find(db, MEMORIES, wanted) or spaces.build(db, MEMORIES, wanted, mean)

    def activate(self, space_no: int) -> None:
        """Make a whole space the active one, retire the others and drop their vectors."""
        from zapomni.store.sqlite import spaces

        with self._db.writing() as db:
            spaces.activate(db, MEMORIES, space_no)

    def embed_jobs(self, space_no: int, limit: int, now: datetime, *, retry: bool = False) -> list[EmbedJob[Memory]]:
        """Return waiting jobs, oldest first; those that failed wait for their time unless `retry`."""
        from zapomni.store.sqlite import queue

        with self._db.reading() as db:
            return queue.jobs(db, space_no, limit, None if retry else stamp(now))

    def known_vectors(self, space_no: int, digests: Sequence[bytes]) -> set[bytes]:
        """Return which of these text digests have a vector in the space already."""
        from zapomni.store.sqlite import queue

        with self._db.reading() as db:
            return queue.known(db, MEMORIES, space_no, digests)

    def save_vectors(
        self, space_no: int, vectors: Mapping[bytes, Vector], pieces: Sequence[tuple[Memory, Sequence[bytes]]]
    ) -> None:
        """Keep vectors by text digest and tie memories to theirs; jobs of memories that changed since stay."""
        from zapomni.store.sqlite import queue, spaces

        with self._db.writing() as db:
            queue.save(db, space_no, vectors, pieces)
            spaces.renew_mean(db, MEMORIES, space_no)

    def postpone(self, job: EmbedJob[Memory], error: str, until: datetime) -> None:
        """Record a failed try and when to try again."""
        from zapomni.store.sqlite import queue

        with self._db.writing() as db:
            queue.postpone(db, MEMORIES, queue.memory_no(db, job.key), job, error, stamp(until))

    def backlog(self, space_no: int) -> Backlog:
        """Count what waits in a space."""
        from zapomni.store.sqlite import queue

        with self._db.reading() as db:
            return queue.backlog(db, MEMORIES, space_no)

    # --- the whole store -------------------------------------------------------------------------------
    def generation(self) -> int:
        """Return a number that changes whenever any process has written; counted readings do not change it."""
        with self._db.reading() as db:
            return read.generation(db)

    def worker_lock(self, name: str) -> AbstractContextManager[bool]:
        """Try to become the one process that does this background work; False when another one is."""
        from zapomni.store.sqlite.locks import worker_lock

        return worker_lock(self._db.path, name)

    def backup(self, target: Path) -> None:
        """Write a whole copy of the store, taken online, that appears under `target` only when complete."""
        from zapomni.store.sqlite import backup

        with translated(target):
            backup.copy(self._db.mine(), target)

    def check(self) -> list[Check]:
        """Look at file, permissions, integrity and each derived index."""
        from zapomni.store.sqlite import health

        with self._db.reading() as db:
            return health.check(db, self._db.path)

    def rebuild(self) -> None:
        """Build every derived index anew from the memories."""
        from zapomni.store.sqlite import health

        with self._db.writing() as db:
            health.rebuild(db)

    def close(self) -> None:
        """Release every connection; a second call does nothing."""
        self._db.close()

    @property
    def _vectors(self) -> Vectors:
        from zapomni.store.sqlite.vectors import Vectors

        return self._db.keep(Vectors)

    def _condition(self, where: Filter) -> Condition:
        return condition(where, self._clock())
