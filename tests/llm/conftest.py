"""No test can reach a provider: sockets go to this machine alone, and retries do not wait."""

from __future__ import annotations

import json
import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import stamina
from tests.llm.samples import SCHEMA, OutOfBounds
from tests.stub import stub, stub_process

from zapomni.hosts import is_loopback
from zapomni.llm.base import Task, Text

__all__ = ["stub", "stub_process"]  # fixtures that pytest finds by their names here


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch):
    connect = socket.socket.connect
    look_up = socket.getaddrinfo

    def guarded_connect(self, address):
        if isinstance(address, tuple) and not is_loopback(str(address[0])):
            raise OutOfBounds(address)
        return connect(self, address)

    def guarded_look_up(host, *rest, **named):
        name = host.decode() if isinstance(host, bytes) else host
        if name and not is_loopback(name):
            raise OutOfBounds(name)
        return look_up(host, *rest, **named)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)


@pytest.fixture(autouse=True)
def no_ambient_keys(monkeypatch):
    for name in list(os.environ):  # noqa: TID251 - what a developer has set is no part of a test
        if name.startswith(("OPENAI_", "ANTHROPIC_", "OLLAMA_", "AWS_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def no_waiting():
    with stamina.set_testing(True, attempts=4, cap=True):
        yield


@pytest.fixture
def task():
    def make(*texts, schema=SCHEMA, purpose="ingest", **fields):
        parts = tuple(Text(text=text) for text in texts or ("Met with Alice. Встреча с Алисой.",))
        return Task(purpose=purpose, instructions="Say what matters.", parts=parts, schema=schema, **fields)

    return make


class Server:
    """A provider on this machine: gives the next of `answers` (status, body, headers) and keeps every request."""

    def __init__(self):
        self.answers = []
        self.requests = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.requests.append((self.path, headers, json.loads(body)))
                status, answer, more = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **more}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    @property
    def bodies(self):
        return [body for _, _, body in self.requests]

    def answer(self, *answers):
        self.answers = [one if isinstance(one, tuple) else (200, one, {}) for one in answers]


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()
