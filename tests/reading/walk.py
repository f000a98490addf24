"""The walk of article C through each surface of real processes: the same five verbs, spoken three ways."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from tests.servers import TOKEN

if TYPE_CHECKING:
    from tests.trials.drivers_b import World

QUIET = {
    "ZAPOMNI_CONSOLIDATE_ON_START": "false",
    "ZAPOMNI_CONSOLIDATE_AT_LEAST": "0",
    "ZAPOMNI_CONSOLIDATE_EVERY_S": "0",
    "ZAPOMNI_DOCUMENTS_WATCH": "false",
    "ZAPOMNI_MCP_TOOLS": "full",
}
"""Settings under which a server asks a model only when it is told to."""


class Command:
    """The command; a status of 7 is an answer too: the model gave nothing, and that is told."""

    scope = "project:command"

    def __init__(self, world: World) -> None:
        self._world = world

    def _zap(self, *words: str) -> dict[str, Any]:
        done = self._world.run(*words, "--json")
        assert done.returncode in {0, 7}, (words, done.stdout, done.stderr)
        shape: dict[str, Any] = json.loads(done.stdout)
        return shape | {"ok": done.returncode == 0}

    def store(self, text: str) -> str:
        return str(self._zap("store", text, "--scope", self.scope)["id"])

    def ingest(self, text: str) -> dict[str, Any]:
        came = self._zap("ingest", text, "--source", "notes", "--scope", self.scope)
        one: dict[str, Any] = came["ingested"][0]
        return one | {"ok": came["ok"]}

    def ask(self, question: str) -> dict[str, Any]:
        return self._zap("ask", question, "--scope", self.scope)

    def consolidate(self) -> dict[str, Any]:
        return self._zap("consolidate", "--scope", self.scope)

    def status(self) -> dict[str, Any]:
        return self._zap("stats", "--scope", self.scope)

    def list(self) -> dict[str, Any]:
        return self._zap("list", "--scope", self.scope)


class Web:
    """The HTTP API."""

    scope = "project:web"

    def __init__(self, world: World) -> None:
        self._deadline = world.deadline
        address = urlsplit(world.http())
        self._root = f"{address.scheme}://{address.netloc}"

    def _say(self, method: str, path: str, body: Any = None, **query: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._root}{path}?{urlencode(query)}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._deadline) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                status, text = error.code, error.read()
        assert status in {200, 201, 202, 503}, (path, status, text)
        shape: dict[str, Any] = json.loads(text)
        return shape | {"ok": status in {200, 201}}

    def store(self, text: str) -> str:
        return str(self._say("POST", "/memories", {"content": text, "scope": self.scope})["id"])

    def ingest(self, text: str) -> dict[str, Any]:
        return self._say("POST", "/ingest", {"text": text, "source": "notes", "scope": self.scope})

    def ask(self, question: str) -> dict[str, Any]:
        return self._say("GET", "/query", q=question, scope=self.scope)

    def consolidate(self) -> dict[str, Any]:
        return self._say("POST", "/consolidate", {"scope": [self.scope]})

    def status(self) -> dict[str, Any]:
        return self._say("GET", "/status", scope=self.scope)

    def list(self) -> dict[str, Any]:
        return self._say("GET", "/memories", scope=self.scope)


class Agent:
    """MCP over a pipe. An agent is a model itself: it stores what it read, and concludes from batches it is handed."""

    scope = "project:agent"

    def __init__(self, world: World) -> None:
        self._server = world.server()
        self._server.deadline = int(world.deadline)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self._server.call(tool, **arguments, scope=self.scope)
        shape: dict[str, Any] = result["structuredContent"]
        return shape | {"ok": not result["isError"]}

    def store(self, text: str) -> str:
        return str(self.call("store_memory", content=text, source="notes")["id"])

    def ask(self, question: str) -> dict[str, Any]:
        return self.call("ask_memory", question=question)

    def status(self) -> dict[str, Any]:
        return self.call("memory_stats")

    def list(self) -> dict[str, Any]:
        return self.call("list_memories")
