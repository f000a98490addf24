"""Vectors beside what is searched: which space is in use, the vector of a question, and working off the queue."""

from __future__ import annotations

from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final, Generic, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zapomni.digests import digest16
from zapomni.errors import EmbedderError
from zapomni.model import SpaceState
from zapomni.store.jobs import Backlog, Item

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.clock import Clock
    from zapomni.embed.base import Embedder
    from zapomni.model import Memory, Space, Vector
    from zapomni.store.base import Corpus
    from zapomni.store.jobs import EmbedJob

    EmbedderFor = Callable[[str, str], Embedder | None]
    """Gives the embedder of a provider and model that a stored space names, or None when it cannot be had."""

BATCH: Final = 128
"""Memories a round: enough for length-sorted batches, few enough that a kill loses seconds of work."""
ELSEWHERE: Final = "another process is working on it"
_RETRY_AFTER: Final = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=24))


class Asked(Struct, frozen=True, kw_only=True):
    """The vector of a question and the space it belongs to, or the reason why there is none."""

    space: Space | None = None
    vector: Vector | None = None
    reason: str | None = None


class Failure(NamedTuple):
    """A memory or chunk that got no vector in this round, and why."""

    id: str
    reason: str


class Drained(Struct, frozen=True, kw_only=True):
    """What a round over the queue came to; `reason` says why it stopped early.

    `left` counts what still waits, those that failed in this round too.
    """

    done: int = 0
    failures: tuple[Failure, ...] = ()
    left: int = 0
    space: Space | None = None
    reason: str | None = None


class Embedding(Generic[Item]):
    """The vectors of one corpus under one wanted embedder; safe to share between threads.

    `texts_of` gives the texts whose vectors stand for an item, each at most so many characters.
    """

    trouble: str | None = None
    """Why the background work gets nowhere, as its worker saw it last."""

    def __init__(
        self,
        corpus: Corpus[Item],
        texts_of: Callable[[Item, int], list[str]],
        wanted: Embedder | None,
        embedder_for: EmbedderFor,
        clock: Clock,
    ) -> None:
        self._corpus = corpus
        self._texts_of = texts_of
        self._wanted = wanted
        self._embedder_for = embedder_for
        self._clock = clock
        self._older: dict[str, Embedder | None] = {}
        self._lock = Lock()

    @property
    def wanted(self) -> Embedder | None:
        """The embedder that the settings name, None when vectors are switched off."""
        return self._wanted

    def active(self) -> Space | None:
        """Return the space that answers questions now."""
        return next((space for space in self._corpus.spaces() if space.state is SpaceState.ACTIVE), None)

    def target(self) -> Space | None:
        """Return the space that new vectors go to: the wanted model's, None before its first vector."""
        return next((space for space in self._corpus.spaces() if self._is_wanted(space)), None)

    def ask(self, text: str) -> Asked:
        """Return the vector of a question in the active space; never raises for a provider that fails."""
        if self._wanted is None:
            return Asked(reason="semantic search is switched off (embedder.provider = none)")
        space = self.active()
        if space is None:
            return Asked(reason="nothing has a vector yet")
        embedder = self._embedder_of(space)
        if embedder is None:
            return Asked(reason=f"the vectors are of {space.label}, which is not available; run `zapomni reembed`")
        try:
            (vector,) = embedder.embed([text], "query")
        except EmbedderError as error:
            return Asked(reason=error.message)
        if isinstance(vector, EmbedderError):
            return Asked(reason=vector.message)
        if len(vector) != space.dimension:
            return Asked(reason=f"{space.label} now answers with {len(vector)} numbers; run `zapomni reembed`")
        return Asked(space=space, vector=vector)

    def passages(self, space: Space, texts: Sequence[str]) -> list[Vector | None]:
        """Return the vectors of short texts in a space that answers questions; None for one that the provider refuses.

        Raises `EmbedderError` when the provider fails.
        """
        embedder = self._embedder_of(space)
        if embedder is None:
            raise EmbedderError(f"{space.label} is not available", remedy="Run `zapomni reembed`")
        made = embedder.embed(list(texts), "passage")
        return [None if isinstance(one, EmbedderError) or len(one) != space.dimension else one for one in made]

    def drain(
        self,
        *,
        limit: int | None = None,
        retry: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Drained:
        """Work off the queue of the wanted space, at most `limit` memories, and activate it when it is whole.

        One process at a time does this work; another one is told so by `reason`. A memory whose text the
        provider refuses waits for its next try and does not stop the others. Killed half-way, it loses at
        most one batch of work.
        """
        embedder = self._wanted
        if embedder is None:
            return Drained(reason="semantic search is switched off (embedder.provider = none)")
        with self._corpus.worker_lock("embed") as mine:
            if not mine:
                return Drained(left=self.backlog().waiting, reason=ELSEWHERE)
            try:
                space = self.target() or self._found(embedder)
            except EmbedderError as error:
                return Drained(left=self.backlog().waiting, reason=error.message)
            return self._work(embedder, space, limit=limit, retry=retry, progress=progress)

    def backlog(self) -> Backlog:
        """Count the memories that wait for a vector of the wanted space: all of them before its first one."""
        if self._wanted is None:
            return Backlog()
        space = self.target()
        if space is None:
            return Backlog(waiting=self._corpus.size(), error=self.trouble)
        found = self._corpus.backlog(space.no)
        return replace(found, error=found.error or self.trouble)

    def close(self) -> None:
        """Release the embedders."""
        for embedder in (self._wanted, *self._older.values()):
            if embedder is not None:
                embedder.close()

    def _is_wanted(self, space: Space) -> bool:
        wanted = self._wanted
        return wanted is not None and (space.provider, space.model, space.preparation) == (
            wanted.provider,
            wanted.model,
            wanted.preparation,
        )

    def _embedder_of(self, space: Space) -> Embedder | None:
        if self._is_wanted(space):
            return self._wanted
        with self._lock:
            if space.label not in self._older:
                self._older[space.label] = self._embedder_for(space.provider, space.model)
            return self._older[space.label]

    def _found(self, embedder: Embedder) -> Space:
        """Open the wanted space; one probe text tells its width."""
        (probe,) = embedder.embed(["zapomni"], "passage")
        if isinstance(probe, EmbedderError):
            raise probe
        return self._corpus.open_space(
            embedder.provider, embedder.model, len(probe), embedder.preparation, embedder.prior_mean()
        )

    def _work(
        self,
        embedder: Embedder,
        space: Space,
        *,
        limit: int | None,
        retry: bool,
        progress: Callable[[int, int], None] | None,
    ) -> Drained:
        done = 0
        failures: list[Failure] = []
        total = self._corpus.backlog(space.no).waiting
        reason: str | None = None
        seen: set[tuple[str, int]] = set()
        while limit is None or done + len(failures) < limit:
            size = BATCH if limit is None else min(BATCH, limit - done - len(failures))
            jobs = [
                job
                for job in self._corpus.embed_jobs(space.no, size + len(failures), self._clock(), retry=retry)
                if (job.key, job.version) not in seen
            ][:size]
            if not jobs:
                break
            seen |= {(job.key, job.version) for job in jobs}
            try:
                failed = self._embed_jobs(embedder, space, jobs)
            except EmbedderError as error:
                reason = error.message
                self._corpus.postpone(jobs[0], reason, self._clock())  # so that others can be told why it waits
                break
            done += len(jobs) - len(failed)
            failures += failed
            if progress is not None:
                progress(done + len(failures), total)
        left = self._corpus.backlog(space.no).waiting
        if space.state is SpaceState.BUILDING and left == 0:
            self._corpus.activate(space.no)
        return Drained(done=done, failures=tuple(failures), left=left, space=self.target(), reason=reason)

    def _embed_jobs(self, embedder: Embedder, space: Space, jobs: Sequence[EmbedJob[Item]]) -> list[Failure]:
        """Embed what these items say, keep what came back, postpone what failed; return that."""
        texts = {job.key: self._texts_of(job.item, embedder.piece) for job in jobs}
        by_digest = {text_digest(text): text for parts in texts.values() for text in parts}
        known = self._corpus.known_vectors(space.no, list(by_digest))
        missing = [mark for mark in by_digest if mark not in known]
        answers = embedder.embed([by_digest[mark] for mark in missing], "passage") if missing else []
        good: dict[bytes, Vector] = {}
        bad: dict[bytes, str] = {}
        for mark, answer in zip(missing, answers, strict=True):
            if isinstance(answer, EmbedderError):
                bad[mark] = answer.message
            elif len(answer) != space.dimension:
                bad[mark] = f"{len(answer)} numbers came back instead of {space.dimension}"
            else:
                good[mark] = answer
        whole = [job for job in jobs if not any(text_digest(text) in bad for text in texts[job.key])]
        self._corpus.save_vectors(
            space.no, good, [(job.item, [text_digest(text) for text in texts[job.key]]) for job in whole]
        )
        keys = {job.key for job in whole}
        failures = []
        for job in jobs:
            if job.key not in keys:
                why = next(bad[text_digest(text)] for text in texts[job.key] if text_digest(text) in bad)
                wait = _RETRY_AFTER[min(job.attempts, len(_RETRY_AFTER) - 1)]
                self._corpus.postpone(job, why, self._clock() + wait)
                failures.append(Failure(job.key, why))
        return failures


def passages(memory: Memory, size: int) -> list[str]:
    """Return the texts whose vectors stand for a memory: its heading with each piece of its content."""
    from zapomni.text.pieces import headed_pieces  # a recall makes one vector, of a question that is never cut

    heading = "\n".join(part for part in (memory.title, memory.description) if part)
    return headed_pieces(heading, memory.content, size)


def text_digest(text: str) -> bytes:
    """Return the key under which the vector of a text is kept."""
    return digest16(text.encode("utf-8", "surrogatepass"))
