"""The default provider: multilingual-e5-small in 4 bits, on this machine, with nothing to configure.

Two engines run the same file and agree (cosine above .9995 on ordinary text): the compiled one answers a
question at once and without numpy; our own on numpy takes a third to a half of its processor time for longer
texts, and serves where there is no compiled one. Importing this module loads neither.
"""

from __future__ import annotations

import os
import threading
import unicodedata
from array import array
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from zapomni.embed._e5_means import centred
from zapomni.embed._e5_weights import MAX_TOKENS, WIDTH, locate, verify
from zapomni.embed._vectors import clean
from zapomni.errors import ConfigError, EmbedderError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from zapomni.embed._e5_encoder import Encoder
    from zapomni.embed._e5_native import NativeEngine
    from zapomni.embed.base import Task
    from zapomni.model import Vector
    from zapomni.settings import EmbedderSettings

MODEL: Final = "multilingual-e5-small-q4"
PIECE: Final = 1_200
"""Characters of one piece: about 300 of the 512 tokens in English and Russian; one vector says no more well."""
LONGEST: Final = 4_096
"""Characters looked at before tokens are counted; 510 tokens of ordinary text have about 2,000."""
WORTH_LOADING: Final = 3_000
"""Characters from which on loading numpy (0.25 s) is made up for by its speed: measured 1,000 to 2,500."""
WORTH_ASKING: Final = 200
"""Characters from which on numpy is the faster one once it is loaded; a question is as quick on either."""


def make(settings: EmbedderSettings) -> BundledEmbedder:
    """Return the provider; loads nothing. Raises `ConfigError` for another model or width than its own."""
    if settings.model not in {None, MODEL}:
        raise ConfigError(f"embedder.model: bundled has no {settings.model!r}", remedy=f"Its one model is {MODEL}")
    if settings.dimension not in {None, WIDTH}:
        raise ConfigError(f"embedder.dimension: bundled makes no {settings.dimension}", remedy=f"Its width is {WIDTH}")
    return BundledEmbedder(settings.weights)


def prepare(text: str, count: Callable[[str], int]) -> str:
    """Return what the engines may see: NFKC, no NUL or lone surrogate, at most 512 tokens by `count`.

    NFKC comes first because U+FDFA overruns a buffer of the compiled engine; the model's own map is NFKC
    too, so ordinary text keeps its vector.
    """
    text = unicodedata.normalize("NFKC", clean(text[:LONGEST]))[:LONGEST]
    while (tokens := count(text)) > MAX_TOKENS:
        text = text[: len(text) * (MAX_TOKENS - 2) // tokens]
    return text


class BundledEmbedder:
    """An `Embedder` over the model that the package carries; safe to call from many threads and after a fork."""

    provider: str = "bundled"
    model: str = MODEL
    preparation: int = 1
    local: bool = True
    piece: int = PIECE

    _query_lock = threading.Lock()
    _bulk_lock = threading.Lock()
    """One pair for all: a bulk call takes every core, and a query need not wait for it."""

    def __init__(self, weights: Path | None = None) -> None:
        self._own = weights
        self._native: NativeEngine | None = None
        self._without_native = False
        self._encoder: Encoder | None = None

    def embed(self, texts: Sequence[str], task: Task) -> list[Vector | EmbedderError]:
        """Return, in order, one unit vector a text; see `Embedder.embed`."""
        size = sum(min(len(text), LONGEST) for text in texts)
        if task == "query" or size < (WORTH_LOADING if self._encoder is None else WORTH_ASKING):
            with BundledEmbedder._query_lock:
                native = self._load_native()
                if native is not None:
                    ready = [prepare(text, lambda t: native.count(t, task)) for text in texts]
                    return [_checked(native.embed(text, task), text, task) for text in ready]
        with BundledEmbedder._bulk_lock:
            encoder = self._load_encoder()
            ready = [prepare(text, lambda t: encoder.count(t, task)) for text in texts]
            if not ready:
                return []
            rows = encoder.embed(ready, task).tolist()
            return [_checked(row, text, task) for row, text in zip(rows, ready, strict=True)]

    def check(self) -> None:
        """Compare the weights with their known digest; raises a permanent `EmbedderError` when they differ."""
        verify(locate(self._own).weights)

    def prior_mean(self) -> Vector | None:
        """Return the middle: vectors come centred, so a store's own mean is what still sets its texts apart."""
        return array("f", bytes(4 * WIDTH))

    def close(self) -> None:
        """Free both engines; the next call loads again."""
        with BundledEmbedder._query_lock, BundledEmbedder._bulk_lock:
            if self._native is not None:
                self._native.close()
            self._native = self._encoder = None

    def _load_native(self) -> NativeEngine | None:
        """Return the compiled engine, or None where there is none or it does not run."""
        from zapomni.embed._e5_native import NativeEngine, runs_here

        if self._native is None and not self._without_native:
            files = locate(self._own)
            # It may still fail to open: no OpenMP library, a noexec mount, another C library.
            with suppress(OSError):
                self._native = NativeEngine(files) if runs_here(files) else None
            self._without_native = self._native is None
        return self._native

    def _load_encoder(self) -> Encoder:
        from zapomni.embed._e5_encoder import Encoder

        if self._encoder is None:
            self._encoder = Encoder(locate(self._own).weights)
        return self._encoder

    @classmethod
    def _renew_locks(cls) -> None:
        """Give a forked child free locks: the threads that held them stayed in the parent."""
        cls._query_lock, cls._bulk_lock = threading.Lock(), threading.Lock()


def _checked(values: Sequence[float] | Vector, text: str, task: Task) -> Vector | EmbedderError:
    try:
        return centred(values, text, task)
    except ValueError as error:
        return EmbedderError(f"The bundled model could not embed a text: {error}", permanent=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BundledEmbedder._renew_locks)  # noqa: SLF001 - same module
