"""What indexing costs those who ask meanwhile: the recalls of a server at rest, then while it indexes a folder."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.app import Zapomni
from zapomni.bench.latency import made_up_questions, made_up_texts
from zapomni.bench.memory import fill
from zapomni.bench.server import served
from zapomni.config import load

if TYPE_CHECKING:
    from collections.abc import Iterator

RECALLS: Final = 300
FIRST: Final = 20
"""Recalls that are not counted: they load what the later ones find loaded."""
MEMORIES: Final = 2_000


class Beside(Struct, frozen=True, kw_only=True):
    """The 95th percentile of recalls over a server's pipe in milliseconds, at rest and while it indexes."""

    files: int
    idle_p95_ms: float
    scanning_p95_ms: float
    ratio: float
    chunks_meanwhile: int


def run(folder: Path) -> Beside:
    """Ask a server of 2,000 memories, attach a copy of the folder, and ask it again while its children index that."""
    texts = made_up_texts(MEMORIES)
    with tempfile.TemporaryDirectory(prefix="zapomni-bench-") as work:
        home, tree = Path(work, "home"), Path(work, "tree")
        shutil.copytree(folder, tree)
        fill(home, texts)
        questions = made_up_questions(texts)
        idle = _p95(_recalls(home, questions))
        with Zapomni(load({"home": home})) as app:
            app.documents.add(tree)
        busy = _p95(_recalls(home, questions))
        with Zapomni(load({"home": home})) as app:
            (status,) = app.documents.status()
    files = sum(1 for file in folder.rglob("*") if file.is_file())
    return Beside(
        files=files, idle_p95_ms=idle, scanning_p95_ms=busy, ratio=busy / idle, chunks_meanwhile=status.chunks
    )


def _recalls(home: Path, questions: list[str]) -> Iterator[float]:
    """Yield the milliseconds of each recall; a server that has something attached begins to index it at its start."""
    command = [sys.executable, "-m", "zapomni", "--home", str(home), "serve"]
    with served(command) as server:
        server.greet()
        for number in range(RECALLS + FIRST):
            start = perf_counter()
            server.recall(questions[number % len(questions)])
            if number >= FIRST:
                yield 1000 * (perf_counter() - start)


def _p95(times: Iterator[float]) -> float:
    ordered = sorted(times)
    return ordered[int(0.95 * len(ordered))]
