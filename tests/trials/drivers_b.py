"""What the trials share: one person's machine with its servers and commands, and the trials' stub provider."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from tests import servers
from tests import stub as providers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

stub_process = providers.stub_process
stub = providers.stub
DEADLINE = 60.0
SOON = 10.0
"""Seconds for what the trials call at once: their five, doubled for a machine that runs other tests too."""
CLI = (sys.executable, "-m", "zapomni")

HOLD = """
import sys, apsw
db = apsw.Connection(sys.argv[1])
db.set_busy_timeout(60000)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
db.execute("ROLLBACK")
"""
WRITE = """
import sys
from zapomni.opening import open_memory
with open_memory(sys.argv[1], **{"embedder.provider": "none"}) as app:
    for no in range(int(sys.argv[3])):
        print(app.remember(f"{sys.argv[2]} item {no}").id, flush=True)
"""
"""Writes memories `NAME item N` and says the id of each as soon as it is acknowledged."""


def until(fits: Callable[[], Any], seconds: float = DEADLINE) -> Any:
    """Ask again and again until the answer is true, and return it; fails when the time is over."""
    end = time.monotonic() + seconds
    while not (answer := fits()):
        assert time.monotonic() < end, f"still {answer!r} after {seconds:g} seconds"
    return answer


class World:
    """One person's machine: a home with a store, the servers and processes that were started, the commands run."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = home / "data" / "memories.db"
        self.env: dict[str, str] = {}
        self.deadline = DEADLINE
        self._servers: list[servers.Server] = []
        self._processes: list[subprocess.Popen[str]] = []

    def elsewhere(self, name: str) -> World:
        """Another machine with the same settings, closed with this one."""
        (self.home / name).mkdir()
        other = World(self.home / name)
        other.env, other._servers, other._processes = dict(self.env), self._servers, self._processes
        return other

    def server(self, *options: str, **more: str) -> servers.Server:
        """A stdio server behind its handshake."""
        server = servers.Server(self.home, *options, **(self.env | more))
        self._servers.append(server)
        server.handshake()
        return server

    def http(self) -> str:
        """The address of an HTTP server."""
        server = servers.Server(self.home, "--http", "--port", "0", **self.env)
        self._servers.append(server)
        return server.line_of_errors("listens").split()[-1]

    def run(self, *words: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """One command to its end."""
        return subprocess.run(
            [*CLI, *words],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.home,
            env=servers.environment(self.home, **(self.env | more)),
            timeout=self.deadline,
            check=False,
        )

    def zap(self, *words: str, status: int = 0, **more: str) -> Any:
        """The JSON answer of one command that ends with this status."""
        at = 2 if words[0] == "source" else 1
        done = self.run(*words[:at], "--json", *words[at:], **more)
        assert done.returncode == status, (words, done.stdout[-2000:], done.stderr[-2000:])
        return json.loads(done.stdout)

    def start(self, *command: object, **more: str) -> subprocess.Popen[str]:
        """A process with the environment of this machine: a command's words, or Python code behind `-c`."""
        words = [str(word) for word in command]
        process = subprocess.Popen(
            [sys.executable, *words] if words[0] == "-c" else [*CLI, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
            env=servers.environment(self.home, **(self.env | more)),
        )
        self._processes.append(process)
        return process

    def hold(self) -> subprocess.Popen[str]:
        """Somebody else's program that keeps the store's file locked until its input ends."""
        process = self.start("-c", HOLD, self.store)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    def lines(self, name: str, *lines: Any) -> Path:
        """A file of these lines, JSON where they are not text."""
        path = self.home / name
        text = "".join(
            (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)) + "\n" for line in lines
        )
        path.write_text(text, encoding="utf-8")
        return path

    def write(self, name: str, data: str | bytes) -> Path:
        """A file with this content."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def places(self, query: str, *options: str) -> list[str]:
        """The paths of the documents that answer a question, best first."""
        return paths(self.zap("search", *options, "--", query))

    def exported(self) -> list[dict[str, Any]]:
        """The lines of an export."""
        done = self.run("export", "-")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def contents(self) -> list[str]:
        """The text of every live memory, by export: nothing is cut there."""
        rows = self.exported()
        return [row["content"] for row in rows if row.get("type") == "memory" and row["deleted_at"] is None]

    def healthy(self) -> None:
        """The doctor finds nothing wrong with the file, its integrity and every index."""
        checks = json.loads(self.run("doctor", "--json").stdout)["checks"]
        wrong = [check for check in checks if not check["ok"] and check["name"] not in {"embedder", "space", "backlog"}]
        assert not wrong
        assert {"integrity", "words", "vectors", "jobs"} <= {check["name"] for check in checks}

    def use(self, provider: providers.Stub, model: str = "stub-a-64", kind: str = "openai", **more: str) -> None:
        """Take a model of the stub from now on."""
        self.env |= {
            "ZAPOMNI_EMBEDDER_PROVIDER": kind,
            "ZAPOMNI_EMBEDDER_BASE_URL": provider.url,
            "ZAPOMNI_EMBEDDER_MODEL": model,
            **more,
        }

    def close(self) -> None:
        for process in self._processes:
            finish(process)
        for server in self._servers:
            server.stop()
        assert not [server.noise for server in self._servers if server.noise]


def kill(process: subprocess.Popen[Any]) -> None:
    """End it as a power cut would."""
    process.send_signal(signal.SIGKILL)
    process.wait(DEADLINE)


def finish(process: subprocess.Popen[str]) -> None:
    """End it if it runs, and close its pipes."""
    process.kill()
    process.wait(DEADLINE)
    for stream in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError, ValueError):
            assert stream is not None
            stream.close()


def read_lines(process: subprocess.Popen[str]) -> list[str]:
    """The whole lines that a process wrote before its end; a line cut by a kill is none."""
    assert process.stdout is not None
    return [line.rstrip("\n") for line in process.stdout if line.endswith("\n")]


def ids(answer: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in answer["memories"]]


def texts(answer: dict[str, Any]) -> list[str]:
    return [memory["content"] for memory in answer["memories"]]


def paths(answer: dict[str, Any]) -> list[str]:
    return [place["path"] for place in answer["documents"]]


def files_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def called(provider: providers.Stub) -> list[str]:
    """Every text that the stub was asked to embed, in order."""
    return [text for entry in provider.log() for text in entry["body"]["input"]]


def own_stub(port: int) -> subprocess.Popen[bytes]:
    """A stub of one's own at a port, to be stopped and started; it listens when this returns."""
    process = subprocess.Popen([sys.executable, providers.STUB, "--port", str(port)], stdout=subprocess.DEVNULL)
    until(lambda: providers.listens(port))
    return process


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


def files_of(folder: Path) -> set[str]:
    """Every file below a folder, but what Python compiles."""
    return {
        os.path.join(where, name)  # noqa: PTH118 - many files
        for where, _, names in os.walk(folder)
        for name in names
        if not name.endswith(".pyc")
    }
