"""Real servers for tests: processes spoken to line by line or by HTTP, with deadlines and no sleeps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
DEADLINE = 60
TOKEN = "the-token-of-the-tests"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def environment(home: Path, **more: str) -> dict[str, str]:
    ambient = os.environ  # noqa: TID251 - a server starts from the environment of its test
    kept = {name: value for name, value in ambient.items() if not name.startswith(("ZAPOMNI_", "CLAUDE"))}
    ours = {
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(home),
        "ZAPOMNI_HOME": str(home / "data"),
        "ZAPOMNI_EMBEDDER_PROVIDER": "none",
        "ZAPOMNI_HTTP_TOKEN": TOKEN,
    }
    return kept | ours | more


class Server:
    """One `zapomni serve` process; every line of its output must be a message."""

    def __init__(self, home: Path, *options: str, **more: str) -> None:
        self.home = home
        self.process = subprocess.Popen(
            [sys.executable, "-m", "zapomni", "serve", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home,
            env=environment(home, **more),
        )
        self.messages: list[Any] = []
        self.noise: list[bytes] = []
        self.errors = ""
        self.deadline = DEADLINE
        self._told = threading.Condition()
        self._next = 1000
        self._ended = 0
        for follow in (self._follow_output, self._follow_errors):
            threading.Thread(target=follow, daemon=True).start()

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def reply(self, request_id: Any) -> dict[str, Any]:
        return self.replies(lambda message: message.get("id") == request_id)[0]

    def replies(self, fits: Callable[[dict[str, Any]], bool], count: int = 1) -> list[dict[str, Any]]:
        def found() -> list[dict[str, Any]]:
            return [message for message in self.messages if fits(message)]

        with self._told:
            assert self._told.wait_for(lambda: len(found()) >= count or self._ended == 2, self.deadline), self.errors
            assert len(found()) >= count, f"ended without an answer: {self.messages[-3:]} {self.errors}"
            return found()

    def ask(self, method: str, params: dict[str, Any] | None = None, *, modern: bool = False) -> dict[str, Any]:
        self._next += 1
        params = {**(params or {}), "_meta": META} if modern else params
        message = {"jsonrpc": "2.0", "id": self._next, "method": method}
        self.send(message if params is None else {**message, "params": params})
        return self.reply(self._next)

    def handshake(self, version: Any = "2025-11-25", name: str = "tester") -> dict[str, Any]:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
        answer = self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, *, modern: bool = False, **arguments: Any) -> dict[str, Any]:
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments}, modern=modern)
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def good(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        shape: dict[str, Any] = result["structuredContent"]
        return shape

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self) -> int:
        status = self.process.wait(DEADLINE)
        with self._told:
            assert self._told.wait_for(lambda: self._ended == 2, DEADLINE)
        return status

    def line_of_errors(self, word: str) -> str:
        def found() -> list[str]:
            return [line for line in self.errors.splitlines(keepends=True) if word in line and line.endswith("\n")]

        with self._told:
            assert self._told.wait_for(lambda: bool(found()) or self._ended == 2, DEADLINE)
            assert found(), self.errors
            return found()[0]

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                assert stream is not None
                stream.close()
            except (BrokenPipeError, ValueError):
                pass

    def _follow_output(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._told:
                try:
                    message = json.loads(line)
                    assert isinstance(message, dict)
                    assert message["jsonrpc"] == "2.0"
                    self.messages.append(message)
                except (ValueError, KeyError, AssertionError):
                    self.noise.append(line)
                self._told.notify_all()
        self._end()

    def _follow_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._told:
                self.errors += line.decode("utf-8", "replace")
                self._told.notify_all()
        self._end()

    def _end(self) -> None:
        with self._told:
            self._ended += 1
            self._told.notify_all()


def post(url: str, message: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    """Send one message by HTTP; gives the status and the answer, None when there is no body."""
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    usual |= {"Authorization": f"Bearer {TOKEN}"}
    given = {name.title(): value for name, value in (headers or {}).items()}
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    request = urllib.request.Request(url, body, usual | given)
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
        error.close()
    return status, json.loads(text) if text else None
