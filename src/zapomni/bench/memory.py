"""How much memory a stdio server holds after a hundred hybrid recalls, and what a memory costs on disk."""

from __future__ import annotations

import random
import sys
import tempfile
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.app import Zapomni
from zapomni.bench.latency import made_up_questions, made_up_texts
from zapomni.bench.server import served
from zapomni.clock import system_clock
from zapomni.config import load
from zapomni.errors import Unavailable
from zapomni.model import Actor, Draft, Origin
from zapomni.services.embedding import passages, text_digest
from zapomni.services.remember import remember_many

if TYPE_CHECKING:
    from zapomni.model import Vector

RECALLS: Final = 100
_STATUS: Final = "/proc/{}/status"


class Footprint(Struct, frozen=True, kw_only=True):
    """What a server of so many memories holds (MB resident) and what one memory takes on disk (bytes)."""

    memories: int
    resident_mb: float
    text_bytes: float
    words_bytes: float
    history_bytes: float
    vector_bytes: float


def run(size: int) -> Footprint:
    """Fill a store with `size` memories and made-up vectors of the bundled model, then ask its server.

    Raises `Unavailable` where the system does not tell a process's memory (`/proc`).
    """
    if not Path(_STATUS.format("self")).exists():
        raise Unavailable("this system does not tell how much memory a process holds", remedy="Run it on Linux")
    texts = made_up_texts(size)
    with tempfile.TemporaryDirectory(prefix="zapomni-bench-") as home:
        sizes = fill(Path(home), texts)
        resident = _serve(home, made_up_questions(texts))
    return Footprint(
        memories=size,
        resident_mb=resident,
        text_bytes=sizes["memories"] / size,
        words_bytes=sizes["words"] / size,
        history_bytes=sizes["history"] / size,
        vector_bytes=sizes["vectors"] / size,
    )


def fill(home: Path, texts: list[str]) -> dict[str, int]:
    """Store texts with made-up vectors of the bundled model and return the bytes of the store's parts."""
    pick = random.Random(3)  # noqa: S311 - a benchmark, and it must repeat
    with Zapomni(load({"home": home})) as app:
        for _ in remember_many(
            app.context, [Draft(content=text) for text in texts], actor=Actor(name="bench", origin=Origin.IMPORT)
        ):
            pass
        wanted = app.embedding.wanted
        assert wanted is not None
        width = len(wanted.prior_mean() or ())
        space = app.store.open_space(wanted.provider, wanted.model, width, wanted.preparation, wanted.prior_mean())
        while jobs := app.store.embed_jobs(space.no, 1_000, system_clock()):
            texts_of = [(job.item, passages(job.item, wanted.piece)) for job in jobs]
            pieces = [(memory, [text_digest(text) for text in parts]) for memory, parts in texts_of]
            made = {mark: _direction(pick, width) for _, marks in pieces for mark in marks}
            app.store.save_vectors(space.no, made, pieces)
        return dict(app.stats().bytes)


def _direction(pick: random.Random, width: int) -> Vector:
    values = [pick.gauss(0, 1) for _ in range(width)]
    length = sum(value * value for value in values) ** 0.5
    return array("f", [value / length for value in values])


def _serve(home: str, questions: list[str]) -> float:
    """Ask a server over its pipe and return the megabytes that it holds at the end."""
    command = [sys.executable, "-m", "zapomni", "--home", home, "serve"]
    with served(command) as server:
        server.greet()
        for number in range(RECALLS):
            server.recall(questions[number % len(questions)])
        status = Path(_STATUS.format(server.pid)).read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
