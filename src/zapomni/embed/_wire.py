"""One provider's address: how a request goes out, is repeated, and what each failure is called.

The key goes to that address alone: no redirect is followed, plain http carries it only to this machine, and
neither it nor any text sent ever stands in an error.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from datetime import UTC
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx2
import stamina

from zapomni.errors import ConfigError, EmbedderError
from zapomni.hosts import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zapomni.embed.base import Task
    from zapomni.settings import EmbedderSettings

REFUSED: Final = frozenset({400, 413, 422})
"""Answers that speak of what was sent, whatever their wording: too much, too long, not acceptable."""
KEY_REFUSED: Final = frozenset({401, 403})
AGAIN: Final = frozenset({408, 425, 429})
"""Answers below 500 that ask to try later."""
SERVER_ERROR: Final = 500
CONNECT_S: Final = 10.0
_LATE: Final = "Try again, or raise embedder.timeout_s and embedder.query_timeout_s"
_AWAY: Final = "Check embedder.base_url and that the provider runs there"
_OURS: Final = threading.local()
"""Whether this thread is inside a `post`: its retries are told by the error alone, those of a host are its own."""


def _is_foreign(_: logging.LogRecord) -> bool:
    return not getattr(_OURS, "posting", False)


logging.getLogger("stamina").addFilter(_is_foreign)


class Patience(NamedTuple):
    """How long one task may be waited for: tries, seconds for all of them, and the longest pause between two."""

    tries: int
    total_s: float
    pause_s: float


class Transient(EmbedderError):
    """Trying again may help; `status` is the answer's, 0 when none came."""

    def __init__(self, message: str, *, remedy: str = "", status: int = 0, retry_after: float | None = None) -> None:
        self.status = status
        super().__init__(message, remedy=remedy, retry_after=retry_after)


class Refusal(EmbedderError):
    """The provider is there and does not take this request; a part of it may be taken."""


class Wire:
    """Posts JSON to one provider; safe to call from many threads and after a fork."""

    def __init__(self, settings: EmbedderSettings, usual_url: str, transport: httpx2.BaseTransport | None) -> None:
        self._base = settings.base_url or usual_url
        self._key = settings.api_key
        self._transport = transport
        self._host = urlsplit(self._base).hostname or ""
        self._loopback = is_loopback(self._host)
        self.label = f"{settings.provider} at {self._host}"
        if urlsplit(self._base).scheme != "https" and self._key and not self._loopback:
            raise ConfigError(
                f"embedder.base_url: the key would go to {self._host} unencrypted", remedy="Use https or remove the key"
            )
        query_s = min(settings.query_timeout_s, settings.timeout_s)
        self._timeout: dict[Task, float] = {"query": query_s, "passage": settings.timeout_s}
        self._patience: dict[Task, Patience] = {
            "query": Patience(2, query_s, 0.5),
            "passage": Patience(4, 2 * settings.timeout_s, 30.0),
        }
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._process = 0

    def post(self, path: str, body: Mapping[str, Any], task: Task) -> Any:
        """Return the JSON that the provider answers, having waited and tried again as the task allows.

        Raises `Refusal` for an answer about what was sent, `Transient` when all tries failed and a plain
        `EmbedderError` for what no try can mend.
        """
        patience = self._patience[task]

        def pause(error: Exception) -> bool | float:
            if not isinstance(error, Transient):
                return False
            if error.retry_after is None:
                return True
            return error.retry_after if error.retry_after <= patience.pause_s else False

        _OURS.posting = True
        try:
            for attempt in stamina.retry_context(
                pause, attempts=patience.tries, timeout=patience.total_s, wait_max=patience.pause_s, wait_jitter=0.2
            ):
                with attempt:
                    return self._send(path, body, self._timeout[task])
            raise AssertionError  # pragma: no cover - the loop returns or raises
        finally:
            _OURS.posting = False

    def close(self) -> None:
        """Close the connections; the next post opens new ones."""
        with self._lock:
            if self._client is not None and self._process == os.getpid():
                self._client.close()
            self._client = None

    def _send(self, path: str, body: Mapping[str, Any], timeout_s: float) -> Any:
        timeout = httpx2.Timeout(timeout_s, connect=min(timeout_s, CONNECT_S))
        late = Transient(f"{self.label} did not answer within {timeout_s:g} s", remedy=_LATE)
        # The client's timeout is for each piece of an answer; this one is for all of it.
        until = monotonic() + timeout_s
        content = bytearray()
        try:
            with self._open().stream("POST", f"{self._base}{path}", json=body, timeout=timeout) as response:
                for part in response.iter_bytes():
                    content += part
                    if monotonic() > until:
                        raise late
        except httpx2.TimeoutException:
            raise late from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, RuntimeError) as error:
            # Also a client closed by another thread. Its own words may quote headers: only the kind is told.
            raise Transient(f"{self.label} could not be reached ({type(error).__name__})", remedy=_AWAY) from None
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            answer = None
        self._check(response, answer)
        if answer is None:
            raise Transient(f"{self.label} answered with something else than JSON", status=response.status_code)
        return answer

    def _check(self, response: httpx2.Response, answer: Any) -> None:
        """Raise what the status means, if it is not success."""
        status = response.status_code
        said = f"{self.label} answered {status}{_code(answer)}"
        if response.is_success:
            return
        if status in REFUSED:
            raise Refusal(said)
        if status in AGAIN or status >= SERVER_ERROR:
            raise Transient(said, status=status, retry_after=_retry_after(response))
        if status in KEY_REFUSED:
            remedy = "Check embedder.api_key" if self._key else "Set embedder.api_key"
            raise EmbedderError(f"{said}: it refuses the key", remedy=remedy, permanent=True)
        if response.has_redirect_location:
            raise EmbedderError(
                f"{said}: redirects are not followed",
                remedy="Set embedder.base_url to the final address",
                permanent=True,
            )
        raise EmbedderError(said, remedy="Check embedder.base_url and that the provider has embedder.model")

    def _open(self) -> httpx2.Client:
        """Return this process's client: a forked child must not share its parent's connections."""
        with self._lock:
            if self._client is None or self._process != os.getpid():
                headers = {"Authorization": f"Bearer {self._key.reveal()}"} if self._key else {}
                self._client = httpx2.Client(
                    headers=headers,
                    transport=self._transport,
                    follow_redirects=False,
                    trust_env=not self._loopback,  # a proxy cannot reach what listens on this machine
                )
                self._process = os.getpid()
            return self._client


def _code(answer: Any) -> str:
    """Return the provider's own error code in brackets; its free text may quote what was sent, a code cannot."""
    error = answer.get("error") if isinstance(answer, dict) else None
    code = (error.get("code") or error.get("type")) if isinstance(error, dict) else None
    return f" ({code})" if isinstance(code, str) and re.fullmatch(r"[a-z_]{3,40}", code) else ""


def _retry_after(response: httpx2.Response) -> float | None:
    """Return the seconds that the provider asks to wait; a date is compared with the answer's own date."""
    text = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d+)?", text):
        return float(text)
    try:
        until, now = (parsedate_to_datetime(t) for t in (text, response.headers.get("date", "")))
    except (ValueError, TypeError):
        return None
    return max(0.0, (until.replace(tzinfo=UTC) - now.replace(tzinfo=UTC)).total_seconds())
