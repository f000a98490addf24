"""What a store must do; `parts` names the one that there is.

A store keeps memories with their history and answers which of them fit. It decides nothing: what may be
written, and what is shown first, is settled above it. `no` is the store's own row number of a memory:
small, stable while the memory exists, never shown to people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from zapomni.store.jobs import Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from zapomni.model import Actor, Filter, Link, Memory, Page, Rejection, Revision, Run, Scope, Space, Vector, Verb
    from zapomni.store.branches import Branches, BranchWrites
    from zapomni.store.calls import Calls
    from zapomni.store.descriptions import Descriptions
    from zapomni.store.documents import Documents
    from zapomni.store.found import Lexical, Merit, Place
    from zapomni.store.jobs import Backlog, EmbedJob
    from zapomni.store.lessons import Lessons, LessonWrites
    from zapomni.store.mirrors import Mirrors, MirrorWrites
    from zapomni.store.misses import Misses, MissWrites
    from zapomni.store.proposals import Proposals, ProposalWrites
    from zapomni.store.readings import Readings, ReadingWrites
    from zapomni.store.sessions import Sessions
    from zapomni.text.indexed import Indexed
    from zapomni.text.words import QueryWord


class Stats(Struct, frozen=True, kw_only=True):
    """Counts of what a filter lets through, and the size of the parts of the store in bytes."""

    memories: int
    deleted: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    scopes: Mapping[str, int] = field(default_factory=dict)
    trusts: Mapping[str, int] = field(default_factory=dict)
    tags: Mapping[str, int] = field(default_factory=dict)
    bytes: Mapping[str, int] = field(default_factory=dict)


class Check(Struct, frozen=True, kw_only=True):
    """One thing that a health check looked at: its name, whether it holds, what was seen, what mends it."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


class Tx(Protocol):
    """The writes of one transaction; all of them are kept or none."""

    def put(
        self,
        before: Memory | None,
        after: Memory | None,
        *,
        verb: Verb,
        actor: Actor,
        at: datetime,
        run: str | None = None,
        undoes: int | None = None,
        indexed: Indexed | None = None,
    ) -> int:
        """Write one revision with everything that follows from it and return its number.

        `before=None` adds `after`; `after=None` erases `before`: its row, words, vectors and the text of its history.
        Otherwise the row, its tags, words, vectors and embed jobs are brought to `after`. `indexed` is what an added
        memory is found by, where that was worked out before the transaction.
        Raises `Conflict` when the row is no longer at `before.version`.
        """

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory as this transaction sees it, deleted ones too."""

    def find_digest(self, scope: Scope, digest: bytes) -> Memory | None:
        """Return the undeleted memory of the scope whose content has this digest (`text.fold.digest`)."""

    def find_key(self, scope: Scope, key: str) -> Memory | None:
        """Return the memory of the scope stored under this idempotency key, deleted ones too."""

    def rejection(self, scope: Scope, digest: bytes) -> Rejection | None:
        """Return the refusal that stands against this content in this scope."""

    def rejected_by(self, rejection: Rejection) -> str | None:
        """Return the id of the memory whose deletion refused this content, None where it is there no more.

        It looks through the whole scope.
        """

    def reject(self, rejection: Rejection) -> None:
        """Remember a refused value; a second time changes nothing."""

    def lift_rejection(self, scope: Scope, digest: bytes) -> None:
        """Forget that a value was refused; one that was not is passed over."""

    def meanwhile(self, work: Callable[[], None]) -> None:
        """Have work begun when all that is left to do is indexing and the commit, which need no interpreter.

        It is called once, or not at all when the transaction is taken back; it must not wait, and not touch the store.
        """

    def link(self, links: Iterable[Link]) -> None:
        """Add links; those that exist already are left as they are."""

    def unlink(self, links: Iterable[Link]) -> None:
        """Remove links; those that do not exist are passed over."""

    @property
    def readings(self) -> ReadingWrites:
        """The writes of the reading memory in this transaction."""

    @property
    def proposals(self) -> ProposalWrites:
        """The writes of the review inbox in this transaction."""

    @property
    def lessons(self) -> LessonWrites:
        """The writes of lessons in this transaction."""

    @property
    def misses(self) -> MissWrites:
        """The writes of misses in this transaction."""

    @property
    def mirrors(self) -> MirrorWrites:
        """The writes of mirrored folders in this transaction."""

    @property
    def branches(self) -> BranchWrites:
        """Branches of the memory in this transaction."""

    def start_run(self, run: Run) -> None:
        """Record that a batch of changes begins."""

    def finish_run(self, run_id: str, at: datetime, detail: Mapping[str, object]) -> None:
        """Record that a batch of changes ended and what it came to."""

    def register_scope(self, scope: Scope, identity: str | None) -> None:
        """Make a scope known; `identity` ties a project to its repository (remote or common directory)."""

    def reserve_scope(self, scope: Scope, identity: str) -> None:
        """Keep the name of a scope for a repository; it becomes known when something is first written to it."""


class Corpus(Protocol[Item]):
    """Things that are searched by meaning, with the spaces of their vectors and the queue of those still to come."""

    def size(self) -> int:
        """Return how many items there are to be searched."""

    def spaces(self) -> list[Space]:
        """Return every space that is not retired, the active one first."""

    def open_space(self, provider: str, model: str, dimension: int, preparation: int, mean: Vector | None) -> Space:
        """Return the space of this name, building it with a job for every item when it is new.

        The very first space is active at once.
        """

    def activate(self, space_no: int) -> None:
        """Make a whole space the active one; retire the others and drop their vectors."""

    def embed_jobs(self, space_no: int, limit: int, now: datetime, *, retry: bool = False) -> list[EmbedJob[Item]]:
        """Return waiting jobs, oldest first; those that failed wait for their time unless `retry`."""

    def known_vectors(self, space_no: int, digests: Sequence[bytes]) -> set[bytes]:
        """Return which of these text digests have a vector in the space already."""

    def save_vectors(
        self, space_no: int, vectors: Mapping[bytes, Vector], pieces: Sequence[tuple[Item, Sequence[bytes]]]
    ) -> None:
        """Keep vectors by text digest and tie items to theirs; jobs of items that changed since stay."""

    def postpone(self, job: EmbedJob[Item], error: str, until: datetime) -> None:
        """Record a failed try and when to try again."""

    def backlog(self, space_no: int) -> Backlog:
        """Count what waits in a space."""

    def worker_lock(self, name: str) -> AbstractContextManager[bool]:
        """Try to become the one process that does this background work; False when another one is."""


class Store(Corpus["Memory"], Protocol):
    """Memories, their history, their words and their vectors, shared by any number of processes.

    Every read of memories takes a `Filter` and applies it before any limit. Methods may be called from any
    thread. Raises `StoreBusy` when another process holds the store longer than `store.busy_timeout_ms`, `StoreDamaged`
    when the file is not whole, `Unavailable` when the disk is full or the file read-only.
    """

    def write(self) -> AbstractContextManager[Tx]:
        """Open a write transaction; leaving it by an error takes everything back."""

    def get(self, ids: Sequence[str], where: Filter) -> list[Memory]:
        """Return the memories of these ids that the filter lets through, in the order asked."""

    def match_id(self, prefix: str, where: Filter, limit: int = 10) -> list[str]:
        """Return the ids that begin with `prefix`; an exact id alone when there is one."""

    def page(self, where: Filter, limit: int, cursor: str | None = None) -> Page:
        """Return one page, newest first, each memory exactly once over all pages whatever their times.

        Raises `InvalidInput` for a cursor that no page of this store gave.
        """

    def scopes(self) -> list[Scope]:
        """Return every known scope."""

    def scope_identities(self) -> dict[Scope, str | None]:
        """Return every known or reserved scope with the repository identity it is tied to."""

    def links(self, memory_id: str) -> list[Link]:
        """Return the links from and to a memory."""

    def history(self, memory_id: str) -> list[Revision]:
        """Return a memory's revisions, oldest first."""

    def run(self, run_id: str) -> tuple[Run, list[Revision]] | None:
        """Return a run with its revisions, oldest first."""

    def runs(self, limit: int = 20) -> list[Run]:
        """Return the latest runs, newest first."""

    def revision(self, seq: int) -> Revision | None:
        """Return one revision."""

    def latest_revision(self, memory_id: str) -> Revision | None:
        """Return a memory's newest revision."""

    def stats(self, where: Filter) -> Stats:
        """Count what the filter lets through and measure the parts of the store."""

    def topics(self, where: Filter) -> dict[str, int]:
        """Count what the filter lets through at each topic path, in the order of the paths."""

    def touch(self, ids: Sequence[str], at: datetime, asked: Mapping[Scope, int] | None = None) -> None:
        """Count these targeted readings, and the recalls that saw each scope.

        No revision is written and a busy store is passed over.
        """

    @property
    def readings(self) -> Readings:
        """What the store holds for the reading memory."""

    @property
    def branches(self) -> Branches:
        """What the store holds of branches of the memory."""

    @property
    def documents(self) -> Documents:
        """What the store holds of documents, beside the memories."""

    @property
    def proposals(self) -> Proposals:
        """What waits for a person in the review inbox, and what one has decided."""

    @property
    def lessons(self) -> Lessons:
        """Which memories are rules that were raised, and who has acknowledged what."""

    @property
    def misses(self) -> Misses:
        """Questions that did not find their memory, and how many questions there were."""

    @property
    def descriptions(self) -> Descriptions:
        """The vectors of descriptions alone."""

    @property
    def mirrors(self) -> Mirrors:
        """What the store holds of mirrored folders."""

    @property
    def sessions(self) -> Sessions:
        """What the store holds for the sessions of agents."""

    @property
    def calls(self) -> Calls:
        """The calls of language models, with what they cost."""

    # --- the read path ---------------------------------------------------------------------------------
    def one_state(self) -> AbstractContextManager[None]:
        """Have every reading of this thread inside see the same state of the store."""

    def lexical(self, words: Sequence[QueryWord], where: Filter, limit: int) -> Lexical:
        """Return the memories that hold some of the words, best first by BM25."""

    def nearest(
        self, space: Space, query: Vector, where: Filter, limit: int, also: Sequence[int] = ()
    ) -> list[tuple[int, float]]:
        """Return the rows nearest to a unit query vector with their mean-centred cosine (-1 to 1), best first.

        A memory of several pieces counts with its best one. `also` adds rows whose cosine is wanted however
        far they lie. Every vector of the space is compared: the answer is exact up to 100,000 vectors.
        """

    def visible(self, where: Filter) -> int:
        """Return how many memories the filter lets through, counted no further than `VISIBLE_MOST`."""

    def places(self, nos: Sequence[int], where: Filter, reach: int) -> list[Place]:
        """Return the places of these memories and of those at most `reach` away in their ordered sources."""

    def merits(self, nos: Sequence[int]) -> dict[int, Merit]:
        """Return what these rows are ranked by."""

    def fetch(self, nos: Sequence[int]) -> dict[int, Memory]:
        """Return the memories of these rows."""

    # --- the whole store -------------------------------------------------------------------------------
    def generation(self) -> int:
        """Return a number that changes whenever any process has written."""

    def backup(self, target: Path) -> None:
        """Write a whole copy of the store, taken online, that appears under `target` only when complete."""

    def check(self) -> list[Check]:
        """Look at file, permissions, integrity and each derived index."""

    def rebuild(self) -> None:
        """Build every derived index anew from the memories."""

    def close(self) -> None:
        """Release every connection; a second call does nothing."""
