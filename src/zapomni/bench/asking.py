"""What a model would be given to read: measured on selection alone, no model is asked and no vectors are made.

Beside it stands the plain way: the most recent memories, as many as the same budget holds.
"""

from __future__ import annotations

import random
import tempfile
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from statistics import mean
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.app import Zapomni
from zapomni.bench.ask_world import DAYS, FACTS, NOW, notes, questions
from zapomni.config import load
from zapomni.model import Actor, Draft, Filter, Origin, Query
from zapomni.search.selection import moment
from zapomni.services.reading.ask import supplied
from zapomni.services.reading.ask_prompt import quoted
from zapomni.services.remember import remember_many
from zapomni.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.bench.ask_world import Note
    from zapomni.model import Memory

    Progress = Callable[[str, int, int], None]

STORES: Final = 10
"""Sets of notes; the planted facts are shared out over them."""
PLANTED: Final = 0.9
"""Importance of a planted fact; that of the notes is at most .7."""
_ACTOR: Final = Actor(name="bench", origin=Origin.USER)


class Share(Struct, frozen=True, kw_only=True):
    """The mean share of the needed memories that were supplied, in so many questions, beside the most recent ones."""

    what: str
    questions: int
    supplied: float
    recent: float


class Report(Struct, frozen=True, kw_only=True):
    """In how many runs a planted fact was supplied, and the shares for questions about dates and names."""

    memories: int
    room: int
    runs: int
    planted: int
    planted_recent: int
    shares: tuple[Share, ...]


class _World:
    """A store of notes at a clock that is set, with the budget that holds `room` of them."""

    def __init__(self, app: Zapomni, clock: list[datetime], made: Sequence[Note], room: int) -> None:
        self.app = app
        self.clock = clock
        self.ids = dict(zip((note.draft.content for note in made), self._store(made), strict=True))
        prices = [estimate_tokens(quoted(memory, UTC)) for memory in self._all()]
        self.budget = round(room * mean(prices))

    def _store(self, made: Sequence[Note]) -> list[str]:
        ids = []
        for note in made:
            self.clock[0] = note.stored
            ids += [outcome.id for outcome in remember_many(self.app.context, [note.draft], actor=_ACTOR)]
        self.clock[0] = NOW
        return ids

    def plant(self, text: str, at: datetime) -> str:
        self.clock[0] = at
        (outcome,) = remember_many(self.app.context, [Draft(content=text, importance=PLANTED)], actor=_ACTOR)
        self.clock[0] = NOW
        return outcome.id

    def read(self, question: str) -> set[str]:
        """Return the ids of what would be read for a question."""
        query = Query(text=question, where=self.app.filter((), {}), budget=self.budget)
        return {one.id for one in supplied(self.app.context, self.app.embedding, query, zone=UTC).memories}

    def recent(self) -> set[str]:
        """Return the ids of the memories of the most recent times that the budget holds."""
        kept, room = set(), self.budget
        for memory in sorted(self._all(), key=moment, reverse=True):
            room -= estimate_tokens(quoted(memory, UTC))
            if room < 0:
                break
            kept.add(memory.id)
        return kept

    def _all(self) -> list[Memory]:
        found: list[Memory] = []
        cursor = None
        while True:
            page = self.app.store.page(Filter(), 1_000, cursor)
            found += page.memories
            cursor = page.next
            if cursor is None:
                return found


def run(size: int, room: int, runs: int, progress: Progress) -> Report:
    """Plant `runs` facts among `size` notes with room for `room` of them, then ask the questions of one store."""
    hits = plain = 0
    shares: tuple[Share, ...] = ()
    for seed in range(min(STORES, runs)):
        clock = [NOW]
        with (
            tempfile.TemporaryDirectory(prefix="zapomni-bench-") as home,
            Zapomni(load({"home": home, "embedder.provider": "none"}), clock=lambda now=clock: now[0]) as app,  # type: ignore[misc]
        ):
            made = notes(seed, size)
            world = _World(app, clock, made, room)
            for number in range(seed, runs, STORES):
                supplied_, recent = _planted(world, number)
                hits, plain = hits + supplied_, plain + recent
                progress("planted", number, runs)
            if seed == 0:
                shares = _shares(world, made, progress)
    return Report(memories=size, room=room, runs=runs, planted=hits, planted_recent=plain, shares=shares)


def _planted(world: _World, number: int) -> tuple[bool, bool]:
    """Tell whether a fact of some age is supplied for its question, and whether it is among the most recent."""
    text, question = FACTS[number % len(FACTS)]
    pick = random.Random(number)  # noqa: S311 - a benchmark, and it must repeat
    one = world.plant(text, NOW - timedelta(days=pick.uniform(0, DAYS)))
    try:
        return one in world.read(question), one in world.recent()
    finally:
        world.app.delete(one, erase=True)


def _shares(world: _World, made: Sequence[Note], progress: Progress) -> tuple[Share, ...]:
    rows: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    recent = world.recent()
    asked = [(one, [world.ids[note.draft.content] for note in one.needed(made)]) for one in questions(1)]
    for done, (question, needed) in enumerate(asked):
        if needed:
            read = world.read(question.text)
            shares = _share(needed, read), _share(needed, recent)
            for what in (
                f"{question.half}",
                f"{question.half}, {question.language}",
                f"{question.half}, {question.sort}",
            ):
                rows[what].append(shares)
        progress("asking", done, len(asked))
    return tuple(
        Share(what=what, questions=len(found), supplied=mean(s for s, _ in found), recent=mean(r for _, r in found))
        for what, found in sorted(rows.items())
    )


def _share(needed: Sequence[str], given: set[str]) -> float:
    return sum(one in given for one in needed) / len(needed)
