"""Keeps a failing provider from slowing everything else: after three failures in a row it rests for an hour."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from zapomni.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from zapomni.clock import Clock
    from zapomni.embed.base import Embedder, Task
    from zapomni.model import Vector

FAILURES: Final = 3
REST: Final = timedelta(hours=1)
"""Three failures and one hour: features SX-5."""


class Breaker:
    """An `Embedder` that asks another one, and stops asking it for a while when it keeps failing.

    A permanent error (a bad key) counts as all three. When the rest is over one call tries; the others
    wait for its outcome as if the rest went on. An error of one text alone is no failure of the provider.
    """

    def __init__(self, inner: Embedder, clock: Clock) -> None:
        self.provider, self.model, self.preparation = inner.provider, inner.model, inner.preparation
        self.local, self.piece = inner.local, inner.piece
        self._inner = inner
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until: datetime | None = None
        self._reason = ""

    def embed(self, texts: Sequence[str], task: Task) -> list[Vector | EmbedderError]:
        """Ask the provider, or raise `EmbedderError` that says until when it rests and why."""
        self._admit()
        try:
            answer = self._inner.embed(texts, task)
        except EmbedderError as error:
            self._count(error)
            raise
        with self._lock:
            self._failures, self._rests_until = 0, None
        return answer

    def prior_mean(self) -> Vector | None:
        """Return the provider's own."""
        return self._inner.prior_mean()

    def close(self) -> None:
        """Close the provider."""
        self._inner.close()

    def _admit(self) -> None:
        """Let a call through, or the first one after the rest, on which the rest of them depends."""
        now = self._clock()
        with self._lock:
            if self._rests_until is None:
                return
            if now >= self._rests_until:
                self._rests_until = now + REST
                return
            until, reason = self._rests_until, self._reason
        raise EmbedderError(
            f"{self.provider} is switched off until {until:%Y-%m-%d %H:%M} UTC: {reason}",
            remedy="It is tried again then, or after a restart",
            retry_after=(until - now).total_seconds(),
        )

    def _count(self, error: EmbedderError) -> None:
        now = self._clock()
        with self._lock:
            self._failures = FAILURES if error.permanent else self._failures + 1
            self._reason = error.message
            if self._failures >= FAILURES:
                self._rests_until = now + REST
