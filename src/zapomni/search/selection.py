"""What a model reads for a question: everything where it fits, else what is relevant, important and recent.

The three have shares of the room, so that no number of recent memories pushes out an old important one. Dates and
names of the question come first and shut nothing out. The same store and question always give the same selection.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zapomni.search.constants import (
    IMPORTANT_STEPS,
    NAMING_CUT,
    NARROWED_CUT,
    NARROWED_SHARE,
    READ_SHARES,
    READ_SHARES_NEWEST,
    RELEVANT_CUT,
)
from zapomni.search.retrieve import retrieve
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from zapomni.model import Filter, Memory, Query, Space, Vector
    from zapomni.store.base import Store
    from zapomni.text.asked import Asked

_PAGE: Final = 200


class Selection(Struct, frozen=True, kw_only=True):
    """The memories to be read, oldest first, of how many, in how many tokens.

    `narrowed` is the filter that the question's own dates and names came to; None where they found nothing.
    """

    memories: tuple[Memory, ...] = ()
    total: int = 0
    tokens: int = 0
    narrowed: Filter | None = None


def known_names(store: Store, question: str, where: Filter) -> list[str]:
    """Return the entities of memories that hold a word of the question, in any of its forms."""
    names: set[str] = set()
    for word in query_words(question):
        hits = store.lexical((word,), where, NAMING_CUT).hits
        names.update(*(memory.entities for memory in store.fetch([hit.no for hit in hits]).values()))
    return sorted(names)


def select(
    store: Store,
    query: Query,
    asked: Asked,
    *,
    space: Space | None,
    vector: Vector | None,
    budget: int,
    cost: Callable[[Memory], int],
) -> Selection:
    """Return what is read for a question inside a budget of tokens; `cost` is what a memory takes of it."""
    lanes = _Lanes(store, query, space, vector)
    total = store.page(query.where, 1).total
    basket = _Basket(budget, cost)
    narrowed = _narrowed(store, query.where, asked)
    if not basket.take_all(lanes.newest(query.where, total)):
        shares = READ_SHARES_NEWEST if asked.newest else READ_SHARES
        if narrowed is None:
            basket.fill(lanes, query.where, shares, budget)
        else:
            basket.fill(lanes, narrowed, shares, int(budget * NARROWED_SHARE))
            basket.take(lanes.relevant(query.where), budget)
    kept = sorted(basket.kept.values(), key=lambda memory: (moment(memory), memory.id))
    return Selection(memories=tuple(kept), total=total, tokens=basket.tokens, narrowed=narrowed)


def moment(memory: Memory) -> datetime:
    """Return the time that a memory is of: when it happened, else when it was stored."""
    return memory.observed_at or memory.created_at


def _narrowed(store: Store, where: Filter, asked: Asked) -> Filter | None:
    """Return the first of both, dates alone and names alone that lets something through; a given filter stays."""
    bounds: dict[str, datetime | None] = {}
    if where.since is None and where.until is None:
        bounds = {name: at for name in ("since", "until") if (at := getattr(asked, name)) is not None}
    names = {"entities": asked.entities} if asked.entities and not where.entities else {}
    for fields in ({**bounds, **names}, bounds, names):
        if fields and store.page(narrowed := replace(where, **fields), 1).total:
            return narrowed
    return None


class _Lanes:
    """The three orders in which memories of a filter are taken."""

    def __init__(self, store: Store, query: Query, space: Space | None, vector: Vector | None) -> None:
        self._store = store
        self._query = query
        self._leg = space, vector

    def relevant(self, where: Filter) -> Iterator[Memory]:
        """Yield what answers the question, best first; importance counts in the score."""
        query = replace(self._query, where=where, limit=RELEVANT_CUT)
        yield from (hit.memory for hit in retrieve(self._store, query, *self._leg).hits)

    def important(self, where: Filter) -> Iterator[Memory]:
        """Yield what is marked as important, the most important first."""
        for step in IMPORTANT_STEPS:
            if where.importance_from is None or step > where.importance_from:
                yield from self.newest(replace(where, importance_from=step), _PAGE)

    def recent(self, where: Filter) -> Iterator[Memory]:
        """Yield the newest first, by the time that a memory is of."""
        yield from sorted(self.newest(where, NARROWED_CUT), key=lambda memory: (-moment(memory).timestamp(), memory.id))

    def newest(self, where: Filter, most: int) -> Iterator[Memory]:
        """Yield the latest stored first, whole pages until there are so many."""
        cursor = None
        for _ in range(0, most, _PAGE):
            page = self._store.page(where, _PAGE, cursor)
            yield from page.memories
            cursor = page.next
            if cursor is None:
                return


class _Basket:
    """Memories inside a budget; one that is too large for what remains is passed over."""

    def __init__(self, budget: int, cost: Callable[[Memory], int]) -> None:
        self._budget = budget
        self._cost = cost
        self.kept: dict[str, Memory] = {}
        self.tokens = 0

    def take(self, memories: Iterable[Memory], room: int) -> None:
        """Take memories in their order until so many tokens more are used, or the whole budget is."""
        end = min(self.tokens + room, self._budget)
        for memory in memories:
            if memory.id in self.kept:
                continue
            price = self._cost(memory)
            if self.tokens + price <= end:
                self.kept[memory.id] = memory
                self.tokens += price

    def take_all(self, memories: Iterable[Memory]) -> bool:
        """Take every memory, or none where they do not fit."""
        found, tokens = {}, 0
        for memory in memories:
            found[memory.id] = memory
            tokens += self._cost(memory)
            if tokens > self._budget:
                return False
        self.kept, self.tokens = found, tokens
        return True

    def fill(self, lanes: _Lanes, where: Filter, shares: Mapping[str, float], room: int) -> None:
        """Take from each lane its share of the room, then from all in their order what is left of it."""
        end = self.tokens + room
        order = {name: list(getattr(lanes, name)(where)) for name in shares}
        for name, share in shares.items():
            self.take(order[name], int(room * share))
        self.take(chain.from_iterable(order.values()), end - self.tokens)
