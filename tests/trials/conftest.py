"""One store behind every surface: what the trials of the whole product are tried with.

Servers are real processes. Commands run in this process by the entry point of the real one, since a trial asks
hundreds; `Desk.process` runs one as a process where its bytes, signals or end are the matter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cached_property
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.conftest import Result, Stream
from tests.servers import DEADLINE, Server, environment, post

from zapomni.surfaces.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

SURFACES = ("mcp", "http", "cli")
INNER = ("no such column", "syntax error", "fts5", "sqlite", "apsw", "traceback", "unterminated", "malformed")
"""What only the inside of the product says; no answer and no log may hold it."""
_OPTIONS = {"tags": "tag", "all_tags": "all-tag", "metadata": "meta"}


class Desk:
    """A home of its own with one store; servers start at their first use."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home = home
        self.settings = settings
        self.servers: list[Server] = []
        self._ids = count(1)

    def serve(self, *options: str, home: Path | None = None) -> Server:
        server = Server(home or self.home, *options, **self.settings)
        self.servers.append(server)
        return server

    @cached_property
    def mcp(self) -> Server:
        server = self.serve()
        server.handshake()
        return server

    @cached_property
    def web(self) -> str:
        return self.serve("--http", "--port", "0").line_of_errors("listens").split()[-1]

    # --- one call, whatever the surface ---------------------------------------------------------------------
    def tool(self, via: str, name: str, **arguments: Any) -> dict[str, Any]:
        """The whole result of a tool call over pipes or over HTTP."""
        if via == "mcp":
            return self.mcp.call(name, **arguments)
        params = {"name": name, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": next(self._ids), "method": "tools/call", "params": params}
        status, answer = post(self.web, request)
        assert (status, answer["id"]) == (200, request["id"]), answer
        result: dict[str, Any] = answer["result"]
        return result

    def ask(self, via: str, verb: str, *words: str, **options: Any) -> dict[str, Any]:
        """The object of an answer, an error included; `words` are what a command takes without an option."""
        if via == "cli":
            shape: dict[str, Any] = self.run(verb, "--json", *as_options(options), "--", *words).json
            return shape
        tools = {"store": ("store_memory", "content"), "recall": ("recall_memory", "query"), "list": ("list_memories",)}
        tools |= {"show": ("list_memories", "id"), "stats": ("memory_stats",)}
        tools |= {"update": ("update_memory", "id", "content"), "delete": ("delete_memory", "id")}
        tool, *names = tools[verb]
        result = self.tool(via, tool, **dict(zip(names, words, strict=False)), **options)
        shape = result["structuredContent"]
        assert result["isError"] == ("error" in shape or shape.get("status") == "refused"), result
        return shape

    def good(self, via: str, verb: str, *words: str, **options: Any) -> dict[str, Any]:
        shape = self.ask(via, verb, *words, **options)
        assert "error" not in shape, shape
        return shape

    def store(self, content: str, via: str = "mcp", **fields: Any) -> str:
        shape = self.good(via, "store", content, **fields)
        assert shape["status"] == "created", shape
        return str(shape["id"])

    def found(self, via: str, query: str, **options: Any) -> list[str]:
        """The ids that a recall returned, best first."""
        return [memory["id"] for memory in self.good(via, "recall", query, **options)["memories"]]

    # --- commands ------------------------------------------------------------------------------------------
    def run(self, *words: str, stdin: bytes | None = None, tty: bool = False, cwd: Path | None = None) -> Result:
        """One command line in this process: bytes in, UTF-8 out, the status."""
        out, err = Stream(tty=tty), Stream(tty=tty)
        with pytest.MonkeyPatch.context() as patch:
            for name in list(os.environ):  # noqa: TID251 - a command starts from the environment of its test
                patch.delenv(name)
            for name, value in environment(self.home, **self.settings).items():
                patch.setenv(name, value)
            patch.chdir(cwd or self.home)
            patch.setattr(sys, "stdin", Stream(stdin or b"", tty=stdin is None))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            try:
                status = run(words)
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
        return Result(status, out.text(), err.text())

    def process(self, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """One command as a process of its own, its bytes as they are."""
        return subprocess.run(
            [sys.executable, "-m", "zapomni", *words],
            input=stdin,
            capture_output=True,
            cwd=self.home,
            env=environment(self.home, **self.settings),
            timeout=DEADLINE,
            check=False,
        )

    def wait_for_vectors(self) -> None:
        """Return when no memory waits for its vector any more."""
        end = monotonic() + DEADLINE
        while self.good("mcp", "stats")["meaning"]["waiting"]:
            assert monotonic() < end, "the vectors do not come"

    def count(self) -> int:
        return int(self.good("mcp", "stats", scope="all")["memories"])

    def said(self) -> str:
        """Everything the servers have logged."""
        return "".join(server.errors for server in self.servers)

    def stop(self) -> None:
        for server in self.servers:
            server.stop()
            assert not server.noise, server.noise


def as_options(options: dict[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        option = f"--{_OPTIONS.get(name, name.replace('_', '-'))}"
        for one in value if isinstance(value, list) else [value]:
            yield from [option] if one is True else [option, str(one)]


def tells_nothing_inner(*texts: object) -> None:
    told = json.dumps(texts, ensure_ascii=False, default=str).lower()
    assert not [word for word in INNER if word in told], told


def lines_of(*rows: dict[str, Any]) -> bytes:
    """Rows as JSON lines, for an import."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.fixture(scope="module")
def open_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Desk]]:
    """Open desks that are closed at the end of the module; without a model unless the settings name one."""
    desks: list[Desk] = []

    def begin(**settings: str) -> Desk:
        desks.append(Desk(tmp_path_factory.mktemp("desk"), **settings))
        return desks[-1]

    yield begin
    for desk in desks:
        desk.stop()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk of the test's own."""
    mine = Desk(tmp_path)
    yield mine
    mine.stop()


@pytest.fixture(params=SURFACES)
def surface(request: pytest.FixtureRequest) -> str:
    """Each way in which a person or an agent reaches the store."""
    return str(request.param)


def first(ids: Iterable[str]) -> str | None:
    return next(iter(ids), None)
