"""What a store must do for the reading memory: texts that a model read, what waits for one, what was consolidated."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from zapomni.model import Memory, Scope


class Reading(Struct, frozen=True, kw_only=True):
    """A text that was ingested, kept whole: where it came from, its hash, when and in which run.

    `path` is that of a file under its source's root, None for a text that was given.
    """

    id: str
    scope: Scope
    source: str
    text: str
    sha256: str
    at: datetime
    path: str | None = None
    run: str | None = None


class Span(NamedTuple):
    """Where in a reading a memory stands, in characters."""

    reading_id: str
    start: int
    end: int


class EnrichJob(NamedTuple):
    """A memory that was stored as it came and waits for a model, and how often that was tried."""

    memory: Memory
    attempts: int
    error: str | None


class ReadingWrites(Protocol):
    """The writes of the reading memory inside an open transaction (`Tx.readings`)."""

    def keep(self, reading: Reading) -> None:
        """Keep a text."""

    def drop(self, reading_id: str) -> None:
        """Let go of a text with the spans in it; the memories stay."""

    def tie(self, memory_id: str, span: Span) -> None:
        """Say where in a reading a memory stands."""

    def await_enrichment(self, memory_id: str) -> None:
        """Have a model asked about a memory later; asked for twice it waits once."""

    def enriched(self, memory_id: str) -> None:
        """Take a memory off the queue of those that wait for a model."""

    def postpone(self, memory_id: str, error: str, until: datetime) -> None:
        """Record a failed try and when to try again."""

    def mark_consolidated(self, memory_ids: Iterable[str], run: str, at: datetime) -> None:
        """Say that a run has looked at these memories."""

    def unmark_consolidated(self, *, run: str | None = None, memory_ids: Sequence[str] = ()) -> None:
        """Let memories wait for the next consolidation again: all of a run, or these."""


class Readings(Protocol):
    """The readings and queues of one store; methods may be called from any thread. Raises what `Store` raises."""

    def reading(self, reading_id: str) -> Reading | None:
        """Return one text."""

    def readings_of(self, scope: Scope, source: str) -> list[Reading]:
        """Return the texts of a source, oldest first."""

    def spans(self, memory_id: str) -> list[Span]:
        """Return where a memory stands in what was read."""

    def memories_of(self, reading_id: str) -> list[str]:
        """Return the ids of the undeleted memories that stand in a reading."""

    def enrich_jobs(self, limit: int, now: datetime) -> list[EnrichJob]:
        """Return what waits for a model and is due, oldest first."""

    def enrich_waiting(self) -> int:
        """Count what waits for a model."""

    def unread(self, scope: Scope, limit: int) -> list[Memory]:
        """Return what waits for a model in a scope, due or not, oldest first."""

    def unconsolidated(self, scope: Scope, limit: int) -> list[Memory]:
        """Return the believed, undeleted memories of a scope that no consolidation has looked at, oldest first.

        Insights are none of them: what was concluded is not concluded from again.
        """

    def unconsolidated_counts(self) -> dict[Scope, int]:
        """Return how many memories wait for a consolidation, by scope; those without any are left out."""
