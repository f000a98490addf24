"""A connection on which no whole request comes is closed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from zapomni.surfaces.http.patience import PatientProtocol

WHOLE = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


async def answer(_: Any, __: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


class Hurried(PatientProtocol):
    head_seconds = 0.05


def talk(*parts: bytes) -> bytes:
    """Send the parts, each after what the one before was answered with, and read until the server closes."""

    async def both() -> bytes:
        config = uvicorn.Config(answer, log_level="critical", access_log=False)
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Hurried(config, ServerState(), {}), "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            got = b""
            for part in parts:
                writer.write(part)
                if part == WHOLE:
                    got += await reader.readuntil(b"\r\n\r\n")
            got += await reader.read()
            writer.close()
            await writer.wait_closed()
            return got

    return asyncio.run(asyncio.wait_for(both(), 30))


@pytest.mark.promise("http.patient")
@pytest.mark.parametrize(
    "sent", [b"", b"G", WHOLE[:-3], WHOLE[:-1]], ids=["nothing", "a letter", "a line", "all but the end"]
)
def test_a_head_that_does_not_come_whole_closes_the_connection(sent: bytes) -> None:
    assert talk(sent) == b""


@pytest.mark.promise("http.patient")
def test_the_half_head_of_a_second_request_closes_the_connection_too() -> None:
    assert talk(WHOLE, b"GET / HT").startswith(b"HTTP/1.1 204")


def test_whole_requests_are_all_answered() -> None:
    last = WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    assert talk(WHOLE, WHOLE, last).count(b"HTTP/1.1 204") == 3
