"""What a store must do for lessons: which memories were raised to rules, and who has acknowledged what."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from zapomni.model import Scope


class Rule(NamedTuple):
    """A memory that was raised into a wider scope: its id, the scope that it came from, and when."""

    memory_id: str
    raised_from: Scope
    at: datetime


class LessonWrites(Protocol):
    """The writes of lessons inside an open transaction (`Tx.lessons`)."""

    def add_rule(self, rule: Rule) -> None:
        """Say that a memory is a rule; a second time changes nothing."""

    def acknowledge(self, reader: Scope, items: Iterable[str], at: datetime) -> None:
        """Keep that a reader has taken note of rules or rejected proposals, by their ids; once is enough."""


class Lessons(Protocol):
    """The lessons of one store; methods may be called from any thread. Raises what `Store` raises."""

    def rules(self, scopes: Sequence[Scope], reader: Scope) -> list[Rule]:
        """Return the rules of some scopes that a reader has neither acknowledged nor raised itself, oldest first."""

    def acknowledged(self, reader: Scope, items: Sequence[str]) -> set[str]:
        """Return which of these ids a reader has acknowledged."""

    def acknowledged_from(self, reader: Scope, prefix: str) -> list[str]:
        """Return the ids that begin with `prefix` and that a reader has acknowledged; an exact id alone."""
