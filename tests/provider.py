"""A model's address on this machine, for tests that run real processes: it answers as the test says, and counts."""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Answers = Callable[["Request"], Any]

_ID = re.compile(r"^<<<\S+ [0-9a-f]{8} (?:id=|memory:|insight:)([a-z0-9]{16}) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Request:
    """What a model was asked: for what (a word), and every word of it."""

    purpose: str
    text: str

    @property
    def ids(self) -> list[str]:
        """The memories that it was given, in order."""
        return _ID.findall(self.text)


@dataclass
class Provider:
    """The provider as its test sees it; `after` is called when a whole answer was sent and taken by the system."""

    answers: Answers
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    after: Callable[[Request], None] = lambda _: None
    asked: threading.Condition = field(default_factory=threading.Condition)

    def asked_for(self, purpose: str) -> int:
        return sum(request.purpose == purpose for request in self.requests)

    def until(self, fits: Callable[[], Any], seconds: float = 90.0) -> None:
        """Wait for what a request brings about, looking ten times a second: work in the background ranks behind."""
        end = time.monotonic() + seconds
        while not fits():
            assert time.monotonic() < end, f"not after {seconds:g} seconds; {len(self.requests)} requests came"
            with self.asked:
                self.asked.wait(0.1)

    def settings(self) -> dict[str, str]:
        """The environment of a process whose model this is."""
        return {"ZAPOMNI_LLM_MODEL": "openai:stand-in", "ZAPOMNI_LLM_BASE_URL": f"{self.url}/v1"}


@contextmanager
def provider(answers: Answers) -> Iterator[Provider]:
    made = Provider(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Request(asked["response_format"]["json_schema"]["name"], _words(asked))
            with made.asked:
                made.requests.append(request)
                made.asked.notify_all()
            body = json.dumps(_completion(made.answers(request))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
            made.after(request)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        made.url = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield made
        server.shutdown()


def _words(asked: dict[str, Any]) -> str:
    contents = [message["content"] for message in asked["messages"]]
    return "\n".join(part if isinstance(part, str) else "\n".join(one["text"] for one in part) for part in contents)


def _completion(value: Any) -> dict[str, Any]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "stand-in",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
