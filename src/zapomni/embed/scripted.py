"""A provider for tests and documentation: vectors from hashed words and trigrams, no model, no waiting.

Texts that share words or word parts are near each other, so that ranking can be tried without a model. Two
models have unrelated spaces even at one width.
"""

from __future__ import annotations

import re
from collections import deque
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from zapomni.embed._vectors import clean, unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zapomni.embed.base import Task
    from zapomni.errors import EmbedderError
    from zapomni.model import Vector
    from zapomni.settings import EmbedderSettings

WIDTH: Final = 64
WORD_WEIGHT: Final = 3
"""A shared word counts as much as three shared trigrams."""


class ScriptedEmbedder:
    """See `Embedder`. `calls` holds the task and the texts of every call; `failures` are raised first, one a call."""

    provider: str = "scripted"
    preparation: int = 1
    local: bool = True
    piece: int = 1_600

    def __init__(self, model: str = "scripted", width: int = WIDTH, failures: Iterable[EmbedderError] = ()) -> None:
        self.model = model
        self.calls: list[tuple[Task, tuple[str, ...]]] = []
        self.failures = deque(failures)
        self._width = width

    def embed(self, texts: Sequence[str], task: Task) -> list[Vector | EmbedderError]:
        """Return one vector a text, the same for a query and a passage."""
        self.calls.append((task, tuple(texts)))
        if self.failures:
            raise self.failures.popleft()
        return [self._vector(text) for text in texts]

    def prior_mean(self) -> None:
        """There is none."""

    def close(self) -> None:
        """Nothing is held."""

    def _vector(self, text: str) -> Vector:
        folded = clean(text).casefold()
        grams = re.findall(r"\w+", folded) * WORD_WEIGHT + [folded[i : i + 3] for i in range(len(folded) - 2)]
        values = [0.0] * self._width
        for gram in grams or [folded]:
            digest = blake2b(f"{self.model}\0{gram}".encode(), digest_size=8).digest()
            number = int.from_bytes(digest, "big")
            values[number % self._width] += 1.0 if number >> 63 else -1.0
        if not any(values):
            values[0] = 1.0
        return unit(values)


def make(settings: EmbedderSettings) -> ScriptedEmbedder:
    """Return the provider with the model's name and width of the settings."""
    return ScriptedEmbedder(settings.model or "scripted", settings.dimension or WIDTH)
