"""Enriching: texts that were stored as they came, because no model answered, become the facts that they hold."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from zapomni.errors import Unavailable
from zapomni.model import Actor, Draft, Run
from zapomni.services.reading.facts import UNSET, extract, forecast
from zapomni.services.reading.ingest import admit_all, dated, entries_of, tie, waiting_facts
from zapomni.services.reading.retire import INGEST, is_ingest, retire
from zapomni.services.remember import read_back

if TYPE_CHECKING:
    from zapomni.llm.base import LlmFor, Usage
    from zapomni.model import Memory, Outcome
    from zapomni.services.context import Context
    from zapomni.services.reading.facts import Extracted, Terms
    from zapomni.services.reading.ingest import Kept
    from zapomni.store.base import Tx
    from zapomni.store.readings import EnrichJob, Reading, Span

VERB: Final = "enrich"
"""By which the runs of enriching are known."""
BATCH: Final = 50
"""Memories of one call, unless it is told otherwise: a server looks again soon."""
SHORTEST_WAIT: Final = timedelta(minutes=5)
LONGEST_WAIT: Final = timedelta(days=1)
"""How long a text waits after a first failed try, doubled with each further one, and at most."""
PATIENCE: Final = 3
"""Failures in a row after which the rest waits for another time: the model is away, not the text bad."""


class Read(NamedTuple):
    """A memory that a model has read now: the run that undoes it, and what it became."""

    memory_id: str
    run: str
    outcomes: tuple[Outcome, ...]


class Enriched(Struct, frozen=True, kw_only=True):
    """What working the queue off came to.

    `kept` are memories that stay as they are: the model found nothing more in them, or somebody edited or deleted
    them since. `failed` names those that wait on, with the reason; `waiting` counts what waits now, `reason` says
    why it was not gone on with.
    """

    read: tuple[Read, ...] = ()
    kept: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    waiting: int = 0
    reason: str | None = None


def enrich_waiting(context: Context, llm_for: LlmFor, *, terms: Terms, limit: int = BATCH) -> Enriched:
    """Have a model read what waits and is due, oldest first; each memory is one run, and replaced all at once.

    `llm_for` gives the model for the calls of a run. Raises `Unavailable` while another process does this.
    """
    with context.store.worker_lock("enrich") as mine:
        if not mine:
            raise Unavailable("another process is enriching", remedy="Wait for it, or try again later")
        return _Work(context, llm_for, terms).done(limit)


def foresee_enriching(context: Context, *, terms: Terms, limit: int = BATCH) -> list[Usage]:
    """Return about what each call of `enrich_waiting` would use now; nobody is asked and nothing is changed."""
    used: list[Usage] = []
    for job in context.store.readings.enrich_jobs(limit, context.clock()):
        memory = job.memory
        at = memory.observed_at or memory.created_at
        used += forecast(memory.content, None, source=memory.source or "", at=at, terms=terms)
    return used


class _Work:
    """One working off as it goes on."""

    def __init__(self, context: Context, llm_for: LlmFor, terms: Terms) -> None:
        self._context = context
        self._llm_for = llm_for
        self._terms = terms
        self._read: list[Read] = []
        self._kept: list[str] = []
        self._failed: list[tuple[str, str]] = []
        self._in_row = 0

    def done(self, limit: int) -> Enriched:
        reason = None
        for job in self._context.store.readings.enrich_jobs(limit, self._context.clock()):
            reason = self._one(job)
            if reason is not None:
                break
        return Enriched(
            read=tuple(self._read),
            kept=tuple(self._kept),
            failed=tuple(self._failed),
            waiting=self._context.store.readings.enrich_waiting(),
            reason=reason,
        )

    def _one(self, job: EnrichJob) -> str | None:
        """Have one memory read; return why to go no further."""
        run, memory = self._context.new_id(), job.memory
        llm = self._llm_for(run)
        if llm is None:
            return UNSET
        text = memory.content
        at = memory.observed_at or memory.created_at
        found = extract(llm, text, source=memory.source or "", at=at, terms=self._terms, purpose="enrich")
        if found.facts or not found.failed:
            self._in_row = 0
            self._replace(memory, found, run)
            return None
        reason = found.reason or ""
        if found.hopeless:
            return reason
        self._postpone(job, reason)
        self._in_row += 1
        return reason if self._in_row == PATIENCE else None

    def _postpone(self, job: EnrichJob, reason: str) -> None:
        wait = min(SHORTEST_WAIT * 2 ** min(job.attempts, 20), LONGEST_WAIT)
        with self._context.store.write() as tx:
            tx.readings.postpone(job.memory.id, reason, self._context.clock() + wait)
        self._failed.append((job.memory.id, reason))

    def _replace(self, memory: Memory, found: Extracted, run: str) -> None:
        actor = Actor(name=f"{INGEST}:enrich", origin=memory.origin)
        outcomes = replace_text(self._context, memory, found, actor=actor, run=run)
        if outcomes:
            self._read.append(Read(memory.id, run, outcomes))
        else:
            self._kept.append(memory.id)


def replace_text(
    context: Context, memory: Memory, found: Extracted, *, actor: Actor, run: str, begun: bool = False
) -> tuple[Outcome, ...]:
    """Put what was found in the place of a memory that waits, all at once, and what was not read yet on the queue.

    A memory that was changed since, or in which nothing was found, stays as it is and waits no more: that is an empty
    answer. A run that has `begun` is recorded already.
    """
    template = Draft(content="", title=memory.title, source=memory.source, observed_at=memory.observed_at)
    facts, _ = entries_of(context, dated(found.facts, memory.observed_at), memory.scope, actor, run)
    waiting, _ = entries_of(context, waiting_facts(memory.content, found, template), memory.scope, actor, run)
    with context.store.write() as tx:
        tx.readings.enriched(memory.id)
        if not facts or not _is_as_it_was(context, tx, memory):
            return ()
        if not begun:
            tx.start_run(Run(id=run, verb=VERB, actor=actor.name, started_at=context.clock()))
        places = _places(context, memory)
        retire(context, tx, [tx.get(memory.id) or memory], actor=actor, run=run)
        kept: list[Kept] = admit_all(context, tx, facts) + admit_all(context, tx, waiting, waits=True)
        for reading, span in places:
            tie(tx, reading, kept, by=span.start)
        tx.finish_run(run, context.clock(), {"of": memory.id, "memories": len(kept)})
    return tuple(read_back(context, one.outcome) for one in kept)


def _is_as_it_was(context: Context, tx: Tx, memory: Memory) -> bool:
    now = tx.get(memory.id)
    latest = context.store.latest_revision(memory.id)
    same = now is not None and now.version == memory.version and now.deleted_at is None
    return same and latest is not None and is_ingest(latest.actor)


def _places(context: Context, memory: Memory) -> list[tuple[Reading, Span]]:
    readings = context.store.readings
    found = [(readings.reading(span.reading_id), span) for span in readings.spans(memory.id)]
    return [(reading, span) for reading, span in found if reading is not None]
