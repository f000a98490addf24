"""How fast the embed queue is worked off, beside each engine alone on the same texts."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.embed.bundled import BundledEmbedder
from zapomni.model import Actor, Draft, Origin
from zapomni.services.remember import remember_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SENTENCES: Final = (
    "The nightly export failed because the invoice table was locked by the migration, and nobody was paged.",
    "Решили хранить очередь писем в отдельной схеме: так откат миграции не трогает уже отправленные.",
    "Caroline asked whether the staging password rotates on Monday; it does, and the new one lies in the safe.",
    "Если сборка падает на проверке подписи, сначала посмотри на часы раннера, а уже потом на ключи.",
    "The retry loop doubles its pause up to a minute, since the provider counts bursts and not requests.",
)


class Rate(Struct, frozen=True, kw_only=True):
    """One way to make vectors: texts a second by the clock, and a second of one processor."""

    name: str
    texts_a_second: float
    texts_a_cpu_second: float


def run(count: int) -> list[Rate]:
    """Measure `count` texts of about 75 tokens: the compiled engine, the numpy engine, the queue as it is."""
    texts = made_up_texts(count)
    few = texts[: max(count // 8, 8)]
    embedder = BundledEmbedder()
    rates = [
        _rate("compiled engine, one text a call", len(few), lambda: _one_by_one(embedder, few)),
        _rate("bulk engine alone", count, lambda: embedder.embed(texts, "passage")),
        _queue(texts),
    ]
    embedder.close()
    return rates


def made_up_texts(count: int) -> list[str]:
    """Return different texts of three sentences in both languages, about 75 tokens each."""
    size = len(_SENTENCES)
    return [
        " ".join(_SENTENCES[(number + step * (1 + number // size % 3)) % size] for step in range(3)) + f" #{number}"
        for number in range(count)
    ]


def _one_by_one(embedder: BundledEmbedder, texts: Sequence[str]) -> None:
    for text in texts:
        embedder.embed([text], "passage")


def _queue(texts: Sequence[str]) -> Rate:
    with tempfile.TemporaryDirectory(prefix="zapomni-bench-") as folder:
        embedder = BundledEmbedder()
        with Zapomni(load({"home": Path(folder)}), embedder=embedder) as app:
            drafts = [Draft(content=text) for text in texts]
            for _ in remember_many(app.context, drafts, actor=Actor(name="bench", origin=Origin.IMPORT)):
                pass
            return _rate("the queue, as reembed works it off", len(texts), app.embedding.drain)


def _rate(name: str, count: int, act: Callable[[], object]) -> Rate:
    start, busy = time.perf_counter(), time.process_time()
    act()
    return Rate(
        name=name,
        texts_a_second=count / (time.perf_counter() - start),
        texts_a_cpu_second=count / (time.process_time() - busy),
    )
