"""A connection whose client must say what it wants: uvicorn itself waits for the rest of a head for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.h11_impl import RequestResponseCycle


class PatientProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection on which no whole head of a request came for `head_seconds`.

    The time runs from the connection on, and from the first byte of each later request; between requests
    uvicorn's own limit for idle connections holds.
    """

    head_seconds: ClassVar[float] = 15.0
    """Half of what a body may take, for a head is at most 64 kB."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on waiting while the head is not whole."""
        super().data_received(data)
        under_way: RequestResponseCycle | None = self.cycle  # None before the first request, whatever its type says
        if under_way is None or under_way.response_complete:
            self._wait()
        else:
            self._wait_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._limit is None:
            self._limit = self.loop.call_later(self.head_seconds, self.transport.close)

    def _wait_no_more(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
