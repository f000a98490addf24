"""What is asked of the memory, and what was found."""

from __future__ import annotations

from msgspec import Struct, field

from zapomni.model.filter import Filter
from zapomni.model.kinds import By, Mode
from zapomni.model.memory import Memory


class Query(Struct, frozen=True, kw_only=True):
    """What is asked: text of at most `QUERY_LIMIT` characters, who may be seen, how many, by which mode.

    `budget` is in tokens, None for no packing. `strict` turns a missing vector leg into an error. `by` says what of a
    memory is looked at: all of it, or its title and description alone. `explain` has an empty answer say why it is.
    """

    text: str
    where: Filter = field(default_factory=Filter)
    limit: int = 10
    mode: Mode = Mode.HYBRID
    by: By = By.TEXT
    strict: bool = False
    budget: int | None = None
    explain: bool = False


class Part(Struct, frozen=True, kw_only=True):
    """One part of a hit's score: its name, its value and a sentence on where it comes from."""

    name: str
    value: float
    why: str


class Hit(Struct, frozen=True, kw_only=True):
    """A memory that was found, its score (finite, higher is better) and every part of that score."""

    memory: Memory
    score: float
    parts: tuple[Part, ...] = ()

    @property
    def shown(self) -> str:
        """What is shown of it: title, description and content."""
        return "\n".join(filter(None, (self.memory.title, self.memory.description, self.memory.content)))

    @property
    def handle(self) -> str:
        """By what it can be asked for whole."""
        return self.memory.id
