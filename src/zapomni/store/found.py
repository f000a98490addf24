"""What the words of a question find in a store: a part of its contract that every recall needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

Thread = tuple[int, str]
"""One ordered source inside one scope: the scope's number and the source."""


class LexicalHit(Struct, frozen=True):
    """A memory that holds some of the words: its row, the tokens it is indexed by, and its place.

    `words` are the stems of its short fields and its content in their order, `exact` the forms that differ
    from their stem; both as `text.words` writes them. `thread` and `position` are None outside an order.
    """

    no: int
    words: str
    exact: str
    thread: Thread | None
    position: int | None


class Lexical(Struct, frozen=True, kw_only=True):
    """The answer of the words: hits by BM25, best first, and what tells how rare each word is.

    `total` memories are indexed, `holding` of them hold each stem, or form that may be one. `near` names the stem that
    stands for one which no memory holds.
    """

    hits: tuple[LexicalHit, ...] = ()
    total: int = 0
    holding: Mapping[str, int] = field(default_factory=dict)
    near: Mapping[str, str] = field(default_factory=dict)


VISIBLE_MOST: Final = 1_000
"""How far a small scope is counted: in a larger one its own rarities say what the whole store's say."""


class Place(Struct, frozen=True):
    """Where a memory stands in its ordered source, and its length in characters."""

    no: int
    thread: Thread
    position: int
    length: int


class Merit(Struct, frozen=True):
    """What a memory is ranked by beside its relevance."""

    id: str
    importance: float
    created_at: datetime
