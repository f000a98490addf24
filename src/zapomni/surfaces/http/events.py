"""An answer as server-sent events: what is known before it comes first, as soon as it is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import anyio.from_thread

from zapomni.surfaces.http.call import EVENTS

if TYPE_CHECKING:
    from starlette.types import Send

    from zapomni.surfaces.http.answers import Answer

Tell = Callable[[Mapping[str, Any]], None]
ALWAYS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Headers of every answer: what is remembered is kept in no cache and taken for nothing but what it is."""


class Events:
    """The events of one request. Until the first of them nothing is sent: what fails before has its own status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    def tell(self, shape: Mapping[str, Any]) -> None:
        """Send what will be read; called on the thread that does the work."""
        anyio.from_thread.run(self._begin, json.dumps(shape, ensure_ascii=False).encode("utf-8", "replace"))

    async def end(self, answer: Answer) -> None:
        """Send the answer, whole and checked as it is, and close."""
        await self._event("error" if answer.status >= 400 else "answer", answer.body)  # noqa: PLR2004 - HTTP's own
        await self._send({"type": "http.response.body", "body": b""})

    async def _begin(self, data: bytes) -> None:
        headers = {**ALWAYS, "Content-Type": f"{EVENTS}; charset=utf-8"}
        named = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self.begun = True
        await self._send({"type": "http.response.start", "status": 200, "headers": named})
        await self._event("reading", data)

    async def _event(self, name: str, data: bytes) -> None:
        body = b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
        await self._send({"type": "http.response.body", "body": body, "more_body": True})
