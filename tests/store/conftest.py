"""Stores and memories for the tests of the store room; no wall clock, no sleeps."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from array import array
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zapomni.model import USER_SCOPE, Actor, Filter, Kind, Memory, Scope, ScopeKind, Trust, Verb
from zapomni.store.sqlite import open_sqlite
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.model import Space
    from zapomni.store.sqlite import SqliteStore
    from zapomni.store.sqlite.write import SqliteTx

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ACTOR = Actor(name="test")
OTHER = Scope(kind=ScopeKind.PROJECT, name="other")
EVERYTHING = Filter(expired=True, deleted=True, trusts=tuple(Trust))


class _Undone(Exception):
    """Takes a transaction back."""


@dataclass
class Bench:
    """A store with the few words that tests speak of it in."""

    store: SqliteStore
    path: Path
    now: datetime = NOW
    user: Scope = USER_SCOPE
    other: Scope = OTHER
    everything: Filter = EVERYTHING
    actor: Actor = ACTOR

    def memory(self, memory_id: str, content: str = "", **fields: Any) -> Memory:
        usual = {"kind": Kind.SEMANTIC, "scope": USER_SCOPE, "created_at": self.now, "updated_at": self.now}
        return Memory(**{"id": memory_id, "content": content or f"text of {memory_id}", **usual, **fields})

    def put(self, before: Memory | None, after: Memory | None, verb: Verb = Verb.UPDATE) -> int:
        with self.store.write() as tx:
            return tx.put(before, after, verb=verb, actor=ACTOR, at=self.now)

    def add(self, *memories: Memory) -> None:
        with self.store.write() as tx:
            for memory in memories:
                tx.put(None, memory, verb=Verb.CREATE, actor=ACTOR, at=self.now)

    @contextmanager
    def undone(self) -> Iterator[SqliteTx]:
        """A transaction that is taken back at its end."""
        with suppress(_Undone), self.store.write() as tx:
            yield tx
            raise _Undone

    def get(self, memory_id: str) -> Memory | None:
        return next(iter(self.store.get([memory_id], self.everything)), None)

    def ids(self, where: Filter = Filter()) -> list[str]:  # noqa: B008 - frozen
        return [memory.id for memory in self.store.page(where, 1000).memories]

    def found(self, text: str, where: Filter = Filter()) -> list[str]:  # noqa: B008 - frozen
        hits = self.store.lexical(query_words(text), where, 100).hits
        memories = self.store.fetch([hit.no for hit in hits])
        return [memories[hit.no].id for hit in hits]

    def later(self, **delta: float) -> datetime:
        return self.now + timedelta(**delta)

    def unwell(self) -> list[str]:
        return [f"{check.name}: {check.detail}" for check in self.store.check() if not check.ok]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    path = tmp_path / "home" / "memories.db"
    bench = Bench(store=open_sqlite(path, clock=lambda: NOW), path=path)
    yield bench
    bench.store.close()


@dataclass
class Vectors:
    """Vectors of one space for every memory that waits for them."""

    bench: Bench
    dimension: int = 16
    seed: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.by_id: dict[str, list[array[float]]] = {}

    def one(self) -> array[float]:
        # All of them lean to one side, as those of real models do.
        raw = [self.random.gauss(0.8 if at == 0 else 0.0, 0.3) for at in range(self.dimension)]
        length = hypot(*raw)
        return array("f", [value / length for value in raw])

    def space(self, model: str = "m", *, mean: bool = True) -> Space:
        prior = array("f", [0.7] + [0.0] * (self.dimension - 1)) if mean else None
        return self.bench.store.open_space("p", model, self.dimension, 1, prior)

    def embed(self, space: Space, pieces: int = 1) -> int:
        jobs = self.bench.store.embed_jobs(space.no, 100_000, self.bench.now)
        vectors: dict[bytes, array[float]] = {}
        tied = []
        for job in jobs:
            marks = [f"{job.key} {job.item.content} {at}".encode() for at in range(pieces)]
            made = [self.one() for _ in marks]
            self.by_id[job.key] = made
            vectors |= dict(zip(marks, made, strict=True))
            tied.append((job.item, marks))
        self.bench.store.save_vectors(space.no, vectors, tied)
        return len(jobs)


@pytest.fixture
def vectors(bench: Bench) -> Vectors:
    return Vectors(bench)


@pytest.fixture
def python() -> Any:
    """Start another process on the package as it lies here."""

    def start(code: str, *arguments: object) -> subprocess.Popen[str]:
        ambient = os.environ  # noqa: TID251 - a process starts from the environment of its test
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            env={**ambient, "PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start
