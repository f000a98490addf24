"""How long a warm recall takes beside its two bare parts, and a bulk import beside bare inserts.

Everything is measured in one run on the same texts and vectors, so that the ratios mean something on any
machine: one bare FTS5 query plus one bare numpy scan is the price that no search of this kind can avoid.
"""

from __future__ import annotations

import random
import tempfile
import time
from array import array
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.app import Zapomni
from zapomni.bench.bare import BareStore
from zapomni.config import load
from zapomni.model import Actor, Draft, Mode, Origin
from zapomni.search.retrieve import retrieve
from zapomni.services.remember import remember_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zapomni.embed.base import Task
    from zapomni.errors import EmbedderError
    from zapomni.model import Space, Vector

WIDTH: Final = 384
WORDS: Final = 40
"""Words of one made-up memory, about 250 characters."""
QUESTIONS: Final = 60
_VOCABULARY: Final = 20_000
_SYLLABLES: Final = ("ka", "ro", "mi", "ten", "sul", "vor", "eda", "ло", "ви", "тран", "кос", "рен", "ма", "бел")


class Row(Struct, frozen=True, kw_only=True):
    """The figures of one size; times in milliseconds, rates a second, sizes in bytes a memory."""

    memories: int
    recall_ms: float
    recall_p95_ms: float
    bare_words_ms: float
    bare_scan_ms: float
    recall_ratio: float
    import_rate: float
    bare_import_rate: float
    import_ratio: float
    first_recall_ms: float
    text_bytes: float
    vector_bytes: float


class RandomEmbedder:
    """Gives each text a random direction: the shape and size of real vectors without their price."""

    provider, model, preparation, local, piece = "random", f"random-{WIDTH}", 1, True, 2_000

    def __init__(self) -> None:
        import numpy as np

        self._pick = np.random.default_rng(0)

    def embed(self, texts: Sequence[str], task: Task) -> list[Vector | EmbedderError]:
        """Return one random unit vector a text."""
        del task
        import numpy as np

        rows = self._pick.standard_normal((len(texts), WIDTH), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return [array("f", row.tobytes()) for row in rows]

    def prior_mean(self) -> None:
        """Have no mean of its own."""

    def close(self) -> None:
        """Hold nothing."""


def run(sizes: Sequence[int], progress: Callable[[str, int, int], None]) -> list[Row]:
    """Measure each size in a fresh store under the machine's temporary folder."""
    return [_measure(size, progress) for size in sizes]


def made_up_texts(count: int) -> list[str]:
    """Return texts of made-up words whose frequencies follow Zipf's law, the same ones every time."""
    pick = random.Random(7)  # noqa: S311 - a benchmark, and it must repeat
    words = list(dict.fromkeys("".join(pick.choices(_SYLLABLES, k=pick.randint(2, 4))) for _ in range(_VOCABULARY)))
    weights = [1 / (rank + 10) for rank in range(len(words))]
    return [" ".join(pick.choices(words, weights, k=WORDS)) for _ in range(count)]


def _measure(size: int, progress: Callable[[str, int, int], None]) -> Row:
    texts = made_up_texts(size)
    questions = made_up_questions(texts)
    with tempfile.TemporaryDirectory(prefix="zapomni-bench-") as folder:
        config = load({"home": folder})
        with Zapomni(config, embedder=RandomEmbedder()) as app:
            progress("importing", 0, size)
            import_seconds = _timed(lambda: _store(app, texts))
            app.embedding.drain(progress=lambda done, total: progress("vectors", done, total))
            asks = _recalls(app, questions)
            sizes = app.stats().bytes
            bare = BareStore(config.store_path, Path(folder) / "bare.db", WIDTH)
            return _row(size, import_seconds, asks, bare, questions, sizes)


def made_up_questions(texts: Sequence[str]) -> list[str]:
    """Return questions of six words that some text holds."""
    pick = random.Random(11)  # noqa: S311 - a benchmark, and it must repeat
    return [" ".join(pick.sample(pick.choice(texts).split(), 6)) for _ in range(QUESTIONS)]


def _store(app: Zapomni, texts: Sequence[str]) -> None:
    drafts = [Draft(content=text) for text in texts]
    for _ in remember_many(app.context, drafts, actor=Actor(name="bench", origin=Origin.IMPORT)):
        pass


def _recalls(app: Zapomni, questions: Sequence[str]) -> list[float]:
    """Return the milliseconds of each recall but for the embedding of its question; the first one is cold."""
    embedder = app.embedding.wanted
    space = app.embedding.active()
    assert embedder is not None
    assert space is not None
    times = []
    for question in questions:
        (vector,) = embedder.embed([question], "query")
        assert isinstance(vector, array)
        times.append(1e3 * _timed(lambda q=question, v=vector: _ask(app, q, space, v)))  # type: ignore[misc]
    return times


def _ask(app: Zapomni, question: str, space: Space, vector: Vector) -> None:
    from zapomni.model import Query

    query = Query(text=question, where=app.filter((), {}), mode=Mode.HYBRID)
    retrieve(app.store, query, space, vector)


def _row(
    size: int,
    import_seconds: float,
    asks: Sequence[float],
    bare: BareStore,
    questions: Sequence[str],
    sizes: Mapping[str, int],
) -> Row:
    warm = sorted(asks[2:])
    words = median(1e3 * _timed(lambda q=q: bare.words(q)) for q in questions)  # type: ignore[misc]
    scan = median(1e3 * _timed(bare.scan) for _ in questions)
    return Row(
        memories=size,
        recall_ms=median(warm),
        recall_p95_ms=warm[int(len(warm) * 0.95)],
        bare_words_ms=words,
        bare_scan_ms=scan,
        recall_ratio=median(warm) / (words + scan),
        import_rate=size / import_seconds,
        bare_import_rate=size / bare.seconds,
        import_ratio=import_seconds / bare.seconds,
        first_recall_ms=asks[0],
        text_bytes=sizes["memories"] / size,
        vector_bytes=sizes["vectors"] / size,
    )


def _timed(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start
