"""A stdio server as benchmarks ask it: started, greeted and called over its pipes."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from zapomni.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Server:
    """The pipes of a running server; one request at a time."""

    def __init__(self, pid: int, to: IO[str], back: IO[str]) -> None:
        self.pid = pid
        self._to = to
        self._back = back

    def greet(self) -> None:
        """Say what a client says first, and wait for the answer."""
        client = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})

    def recall(self, question: str) -> None:
        """Recall for a question, and wait for the answer; a memory that cannot be asked in full is a failure."""
        self._ask("tools/call", {"name": "recall_memory", "arguments": {"query": question, "strict": True}})

    def _ask(self, method: str, params: dict[str, Any]) -> None:
        """Send one request and wait for its answer; raises `Unavailable` when it is a failure or none comes."""
        self._to.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n")
        self._to.flush()
        for line in self._back:
            answer = json.loads(line)
            if answer.get("id") == method:
                if "error" in answer or answer["result"].get("isError"):
                    raise Unavailable(f"the server did not answer {method}: {answer}")
                return
        raise Unavailable(f"the server ended before it answered {method}")


@contextmanager
def served(command: Sequence[str]) -> Iterator[Server]:
    """Start a server and end it: it goes when its input does."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Server(process.pid, process.stdin, process.stdout)
