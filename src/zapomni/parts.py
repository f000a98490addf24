"""The composition root: what a memory is made of, each part built from the settings at its first use.

Only this module names adapters.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Final, Self

from msgspec.structs import replace

from zapomni.clock import LocalZone, system_clock
from zapomni.ids import random_id
from zapomni.model import USER_SCOPE, Actor, Origin
from zapomni.record import parse_scope
from zapomni.services.context import Context, Place
from zapomni.services.place import find_project, on_branch, place_of, scope_of
from zapomni.services.touches import Touches

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from zapomni.clock import Clock
    from zapomni.documents import DocumentIndex
    from zapomni.embed.base import Embedder
    from zapomni.ids import IdFactory
    from zapomni.llm.base import Llm
    from zapomni.model import Memory, Scope
    from zapomni.reading import ReadingMemory
    from zapomni.review import ReviewDesk
    from zapomni.services.background import Background
    from zapomni.services.child import Child
    from zapomni.services.embedding import Embedding
    from zapomni.services.worker import Worker
    from zapomni.sessions import Sessions
    from zapomni.settings import Config
    from zapomni.store.base import Store
    from zapomni.store.sqlite.file import SqliteFile
    from zapomni.vaults import Vaults
    from zapomni.versions import Versions

LIBRARY: Final = Actor(name="library", origin=Origin.AGENT)


class Parts:
    """The parts of one memory and the work in its background; close it, or use it in a `with` statement."""

    def __init__(
        self,
        config: Config,
        *,
        folder: Path | None = None,
        actor: Actor = LIBRARY,
        clock: Clock = system_clock,
        new_id: IdFactory = random_id,
        embedder: Embedder | None = None,
        llm: Llm | None = None,
    ) -> None:
        """Build the parts; nothing is loaded or opened before it is needed.

        `folder` is where the caller works: its repository is the default scope. None means no place, so
        that the default is `user`. `embedder` and `llm` replace those that the settings name.
        """
        self.config = config
        self.actor = actor
        self.zone = LocalZone()
        self._folder = folder
        self._clock = clock
        self._new_id = new_id
        self._lock = RLock()
        self._store: Store | None = None
        self._embedder: Embedder | None = embedder
        self._embedding: Embedding[Memory] | None = None
        self._documents: DocumentIndex | None = None
        self._llm = llm
        self._reading: ReadingMemory | None = None
        self._review: ReviewDesk | None = None
        self._vaults: Vaults | None = None
        self._versions: Versions | None = None
        self._sessions: Sessions | None = None
        self._context: Context | None = None
        self._worker: Worker | None = None
        self._threads: list[Background] = []
        self._children: list[Child] = []

    @property
    def store(self) -> Store:
        """The store that the settings name."""
        with self._lock:
            if self._store is None:
                from zapomni.store.sqlite import open_sqlite

                busy = self.config.store.busy_timeout_ms
                self._store = open_sqlite(self.config.store_path, busy_timeout_ms=busy, clock=self._clock)
            return self._store

    @property
    def store_file(self) -> SqliteFile:
        """The store's file as one thing."""
        from zapomni.store.sqlite.file import SqliteFile

        return SqliteFile(self.config.store_path, self.config.store.busy_timeout_ms, self._clock)

    @property
    def embedding(self) -> Embedding[Memory]:
        """The vectors of the store; no model is loaded before the first text."""
        with self._lock:
            if self._embedding is None:
                from zapomni.services.embedding import Embedding, passages

                self._embedding = Embedding(self.store, passages, self._wanted(), self._embedder_for, self._clock)
            return self._embedding

    @property
    def documents(self) -> DocumentIndex:
        """The files that are attached beside the memories, with verbs of their own."""
        with self._lock:
            if self._documents is None:
                from zapomni.documents import DocumentIndex

                self._documents = DocumentIndex(
                    self._behind,
                    self.config.documents,
                    self.config.home,
                    named_in=self.config.origins.get("documents.folders", "default"),
                    wanted=self._wanted(),
                    embedder_for=self._embedder_for,
                    clock=self._clock,
                )
            return self._documents

    @property
    def reading(self) -> ReadingMemory:
        """The verbs for which a language model may be asked."""
        with self._lock:
            if self._reading is None:
                from zapomni.reading import ReadingMemory

                self._reading = ReadingMemory(
                    self.context,
                    self.embedding,
                    self.config,
                    actor=self.actor,
                    clock=self._clock,
                    zone=self.zone,
                    llm=self._llm,
                )
            return self._reading

    @property
    def review(self) -> ReviewDesk:
        """The verbs by which a person decides what is proposed."""
        with self._lock:
            if self._review is None:
                from zapomni.review import ReviewDesk

                llm = self.reading.llm
                self._review = ReviewDesk(self._behind, self.embedding, lambda: llm(None), actor=self.actor)
            return self._review

    @property
    def vaults(self) -> Vaults:
        """The folders that are kept in step with the memories of a scope."""
        with self._lock:
            if self._vaults is None:
                from zapomni.vaults import Vaults

                self._vaults = Vaults(self._behind, self.config.index, actor=self.actor, zone=self.zone)
            return self._vaults

    @property
    def versions(self) -> Versions:
        """The verbs that look at the past."""
        with self._lock:
            if self._versions is None:
                from zapomni.versions import Versions

                self._versions = Versions(self.context, actor=self.actor, policy=self.config.merge_policy)
            return self._versions

    @property
    def sessions(self) -> Sessions:
        """What the hooks of agents do with the memory."""
        with self._lock:
            if self._sessions is None:
                from zapomni.sessions import Sessions

                self._sessions = Sessions(
                    self.context,
                    actor=self.actor,
                    clock=self._clock,
                    model=lambda: (self.reading.llm(), self.reading.terms),
                )
            return self._sessions

    @property
    def context(self) -> Context:
        """What the verbs are handed."""
        with self._lock:
            if self._context is None:
                self._context = Context(
                    store=self.store,
                    clock=self._clock,
                    new_id=self._new_id,
                    touches=Touches(self.store),
                    place=self._place(),
                )
            return self._context

    @property
    def _behind(self) -> Context:
        """What verbs are handed that work on the main line, whatever branch is set."""
        return replace(self.context, place=self._main_line()) if self.config.branch else self.context

    def _wanted(self) -> Embedder | None:
        from zapomni.embed.registry import make_embedder

        if self._embedder is None:
            self._embedder = make_embedder(self.config.embedder, self._clock)
        return self._embedder

    def _embedder_for(self, provider: str, model: str) -> Embedder | None:
        """Return the embedder of an older space; its provider is asked where the settings point for it."""
        from zapomni.embed.registry import make_embedder

        settings = self.config.embedder
        if provider not in (settings.provider, "bundled"):
            return None
        return make_embedder(replace(settings, provider=provider, model=model, dimension=None), self._clock)

    def _place(self) -> Place:
        branch = self.config.branch
        if not branch:
            return self._main_line()
        known = [one.name for one in self.store.branches.all()]
        if branch not in known:
            from zapomni.services.branching.fork import no_branch

            raise no_branch(branch, known)
        return on_branch(self._main_line(), branch)

    def _main_line(self) -> Place:
        agent = parse_scope(f"agent:{self.config.agent}") if self.config.agent else None
        if self.config.scope:
            return place_of(parse_scope(self.config.scope), self._teams(), agent)
        project = find_project(self._folder) if self._folder is not None else None
        if project is None:
            own = (agent,) if agent is not None else ()
            return Place(read=(*own, *self._teams(), USER_SCOPE), agent=agent)
        return place_of(scope_of(project, self.store), self._teams(), agent)

    def _teams(self) -> tuple[Scope, ...]:
        return tuple(parse_scope(f"team:{name}") for name in self.config.teams)

    # --- the work in the background ------------------------------------------------------------------------
    def start_worker(self) -> None:
        """Begin the work of processes that stay; a second call does nothing.

        Vectors for what waits, an eye on what is attached, and, where a model is set, reading and consolidating.
        """
        if self._threads:
            return
        if self.embedding.wanted is not None:
            self._threads.append(self._embed_worker())
        if self.config.documents.watch:
            self._threads += [self._watcher(), self._reader()]
        if self.config.llm.model:
            self._threads.append(self._consolidator())
        for thread in self._threads:
            thread.start()

    def _embed_worker(self) -> Worker:
        from zapomni.services.worker import Worker

        queues = (self.embedding, self.documents.embedding)
        self._worker = Worker(queues, self.context.touches, self._child("reembed").run)
        return self._worker

    def _watcher(self) -> Background:
        from zapomni.services.documents.watch import Watcher
        from zapomni.services.mirror.pulse import Pulse

        scan = self._child("source", "scan", "--scope", "all").run
        return Watcher(self.store.documents, scan, self.config.documents.debounce_s, Pulse(self.store))

    def _reader(self) -> Background:
        from zapomni.services.reading.ingest_watch import IngestWatcher

        return IngestWatcher(
            self.context,
            self._child("source", "scan", "--scope", "all").run,
            enrich=self._child("ingest", "--enrich").run if self.config.llm.model else None,
            quick_s=self.config.ingest.scan_s,
            full_s=self.config.ingest.full_scan_s,
        )

    def _consolidator(self) -> Background:
        from zapomni.services.reading.consolidator import Consolidator

        consolidate = self._child("consolidate", "--scope", "all").run
        return Consolidator(self.store, self.config.consolidate, self._clock, consolidate)

    def _child(self, *command: str) -> Child:
        from zapomni.services.child import Child

        child = Child(self.config.home, *command)
        self._children.append(child)
        return child

    def wake(self) -> None:
        """Have the worker look at what was written."""
        if self._worker is not None:
            self._worker.wake()

    def close(self) -> None:
        """Stop the background work and release everything; a second call does nothing."""
        for child in self._children:
            child.stop()
        for thread in self._threads:
            thread.stop()
        if self._context is not None:
            self._context.touches.flush()
        if self._embedding is not None:
            self._embedding.close()
        if self._store is not None:
            self._store.close()
        self._worker = self._context = self._store = None
        self._embedding = self._documents = self._reading = self._review = None
        self._vaults = self._versions = self._sessions = None
        self._children.clear()
        self._threads.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
