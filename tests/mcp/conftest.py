"""Real servers as fixtures for the tests of the MCP room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.servers import META, ROOT, Server, environment
from tests.servers import post as send
from tests.shared import INTEGRATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["META", "ROOT", "Server", "environment"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers that share one home, unless told otherwise."""
    started: list[Server] = []

    def begin(*options: str, home: Path | None = None, **more: str) -> Server:
        server = Server(home or tmp_path, *options, **more)
        started.append(server)
        return server

    yield begin
    for server in started:
        server.stop()
        assert not server.noise, server.noise


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server with a finished handshake, shared by the tests of a module."""
    server = Server(tmp_path_factory.mktemp("shared"))
    server.handshake()
    yield server
    server.stop()
    assert not server.noise, server.noise


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """The environment of a server whose home is the test's own folder."""
    return environment(tmp_path)


@pytest.fixture
def captures() -> Path:
    """The recorded messages of real clients."""
    folder = INTEGRATIONS / "wire"
    if not folder.is_dir():
        pytest.skip(f"the recorded messages of real clients are not at {folder}")
    return folder


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one HTTP server, shared by the tests of a module."""
    server = Server(tmp_path_factory.mktemp("web"), "--http", "--port", "0")
    yield server.line_of_errors("listens").split()[-1]
    server.stop()


@pytest.fixture(scope="session")
def post() -> Callable[..., tuple[int, Any]]:
    """Send one message by HTTP; gives the status and the answer, None when there is no body."""
    return send
