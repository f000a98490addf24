"""What is asked of the memory and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zapomni.model.filter import Filter
from zapomni.model.kinds import By, Mode, SpaceState

if TYPE_CHECKING:
    from zapomni.model.document import DocumentHit
    from zapomni.model.memory import Memory, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """One embedding generation; vectors of two spaces are never compared.

    `no` is the store's number of the space. `preparation` counts versions of how text is cut and prefixed.
    `mean` is the centre subtracted from both vectors before the cosine; empty means none. `russian` is the
    share of Russian among the texts that the mean is of.
    """

    no: int
    provider: str
    model: str
    dimension: int
    preparation: int
    state: SpaceState
    mean: tuple[float, ...] = ()
    russian: float = 0.5

    @property
    def label(self) -> str:
        """The space as people read it."""
        return f"{self.provider}:{self.model} ({self.dimension}d)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked: text of at most `QUERY_LIMIT` characters, who may be seen, how many, by which mode.

    `budget` is in tokens, None for no packing. `strict` turns a missing vector leg into an error. `by` says what of a
    memory is looked at: all of it, or its title and description alone.
    """

    text: str
    where: Filter = field(default_factory=Filter)
    limit: int = 10
    mode: Mode = Mode.HYBRID
    by: By = By.TEXT
    strict: bool = False
    budget: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a hit's score: its name, its value and a sentence on where it comes from."""

    name: str
    value: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The answer to a query.

    `mode` is the mode that really answered and `reason` says why it is not the one asked for.
    `waiting` counts memories whose vector is still to come. `left_out` names hits that the budget
    had no room for. `documents` are those that were asked for beside the memories.
    """

    hits: tuple[Hit, ...]
    mode: Mode
    scopes: tuple[Scope, ...]
    reason: str | None = None
    waiting: int = 0
    left_out: tuple[str, ...] = ()
    documents: tuple[DocumentHit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing: the total of all pages and the cursor of the next one, None at the end."""

    memories: tuple[Memory, ...]
    total: int
    next: str | None = None
