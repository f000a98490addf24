"""What a store must do for the sessions of agents: what they begin with, and what they were shown already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from zapomni.model import Filter, Memory


AWAY: Final = "erased:"
"""Begins a mark that keeps a text, by its digest, from being captured again; its session is a source of memories."""


class Share(Struct, frozen=True):
    """The first memories of one sort, and how many there are of it."""

    memories: tuple[Memory, ...]
    total: int


class Opening(Struct, frozen=True):
    """What a session begins with.

    `captured` are the latest memories of origin session, `newest` the latest of all others. `lessons` tells that there
    may be some for somebody. `kinds` counts all that may be seen, `topics` the tags of the latest `TOPICS_OF` of them,
    most frequent first.
    """

    pinned: Share
    project: Share
    working: Share
    captured: Share
    newest: Share
    lessons: bool
    kinds: Mapping[str, int]
    topics: Mapping[str, int]


class Sessions(Protocol):
    """The sessions of one store; methods may be called from any thread. Raises what `Store` raises."""

    def opening(self, where: Filter, most: int) -> Opening:
        """Return what a session begins with, at most `most` memories of each sort: one state of the store."""

    def marks(self, session: str) -> dict[str, datetime]:
        """Return the marks of a session with the time at which each was made last."""

    def mark(self, session: str, marks: Iterable[str], at: datetime) -> None:
        """Make marks, or make them anew with this time."""

    def unmark(self, session: str, *, keep: Iterable[str] = ()) -> None:
        """Take away the marks of a session but those to keep."""

    def forget(self, before: datetime) -> None:
        """Take away the marks of every session that are older, but those that begin with `AWAY`."""

    def of_source(self, source: str, where: Filter) -> list[Memory]:
        """Return the memories of a source, oldest first."""
