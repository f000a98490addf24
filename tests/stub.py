"""The scripted provider of the trials as a process of its own, for whoever asks a provider."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request

import pytest
from tests.shared import SHARED

STUB = SHARED / "trials" / "stub_provider.py"


class Stub:
    """The scripted provider of the trials and its control."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"

    def script(self, **steps):
        self._ask("/_script", {"reset": True})
        self._ask("/_script", steps)

    def log(self):
        return self._ask("/_log", None)

    def _ask(self, path, body):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return json.load(answer)


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="session")
def stub_process():
    if not STUB.is_file():
        pytest.skip(f"the trials' stub provider is not at {STUB}; name its folder in ZAPOMNI_SHARED")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with subprocess.Popen([sys.executable, STUB, "--port", str(port)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it says so just before it listens
        while not listens(port):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.02)
        yield Stub(port)
        process.terminate()


@pytest.fixture
def stub(stub_process):
    stub_process.script()
    return stub_process
