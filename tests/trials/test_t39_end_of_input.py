"""Trial T39: end of input ends the server, and whatever it has started with it.

Out of reach until it is built: a watcher, a scheduler and a running INDEX; the making of vectors stands for them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from tests.servers import DEADLINE, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.servers import Server
    from tests.trials.conftest import Desk

WORKING = {"ZAPOMNI_EMBEDDER_PROVIDER": "bundled"}
TEXTS = [f"The buoy number {no} was painted in the {no}th week, and its chain looked at." for no in range(3)]
needs_proc = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="other processes are seen on Linux only"
)


def store(no: int, text: str) -> dict[str, Any]:
    call = {"name": "store_memory", "arguments": {"content": text}}
    return {"jsonrpc": "2.0", "id": no, "method": "tools/call", "params": call}


@pytest.fixture
def busy(open_desk: Callable[..., Desk]) -> Desk:
    """A desk whose server has a lot to do in the background from its first call on."""
    desk = open_desk(**WORKING)
    lines = "".join(f"Line {no} about the {no % 7}th lighthouse of the coast.\n" for no in range(400))
    source = desk.home / "many.txt"
    rows = "".join(f'{{"content": "{line}"}}\n' for line in lines.splitlines())
    source.write_text(rows)
    assert desk.run("import", str(source)).status == 0
    return desk


def gone(home: Path) -> bool:
    """Tell whether no process of this home is left; a zombie has ended, and nobody of ours is its parent."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                mine = f"HOME={home}".encode() in (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if mine:
                return False
    return True


def ends(home: Path) -> None:
    end = monotonic() + DEADLINE
    while not gone(home):
        assert monotonic() < end, "something of the server is still there"


def kept(desk: Desk, acknowledged: Iterable[str]) -> None:
    """The next server starts at once and has all that was acknowledged."""
    again = desk.serve()
    again.handshake()
    for memory_id in acknowledged:
        assert again.good("list_memories", id=memory_id)["id"] == memory_id
    assert again.good("recall_memory", query="buoy chain painted", mode="lexical")["memories"]
    again.close_input()
    assert again.wait() == 0


def begin(desk: Desk) -> Server:
    server = desk.serve()
    server.handshake()
    server.good("store_memory", content="The buoy chain was painted first of all.")
    server.send(*(store(no, text) for no, text in enumerate(TEXTS)))
    return server


def answered(server: Server) -> list[str]:
    stores = [m for m in server.messages if m.get("id") in range(len(TEXTS)) and "result" in m]
    return [message["result"]["structuredContent"]["id"] for message in stores]


@needs_proc
@pytest.mark.promise("mcp.ends", "write.read-back")
def test_the_end_of_input_ends_the_server_and_its_children_with_status_0(busy: Desk) -> None:
    server = begin(busy)
    server.close_input()
    assert server.wait() == 0
    assert len(answered(server)) == len(TEXTS)
    ends(busy.home)
    assert "Traceback" not in server.errors
    kept(busy, answered(server))


@needs_proc
@pytest.mark.promise("mcp.ends", "write.read-back")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_a_store_ends_the_server_and_its_children(busy: Desk, number: int) -> None:
    server = begin(busy)
    server.process.send_signal(number)
    assert server.wait() == 0
    ends(busy.home)
    assert "Traceback" not in server.errors
    kept(busy, answered(server))


@needs_proc
@pytest.mark.promise("mcp.ends", "store.crash")
def test_a_killed_server_leaves_no_child_and_no_lock(busy: Desk) -> None:
    server = begin(busy)
    server.reply(0)
    server.process.kill()
    server.wait()
    ends(busy.home)
    kept(busy, answered(server))


@needs_proc
@pytest.mark.promise("mcp.ends")
def test_a_client_that_closes_its_reading_end_is_no_crash(busy: Desk) -> None:
    silent = subprocess.Popen(
        [sys.executable, "-m", "zapomni", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=busy.home,
        env=environment(busy.home, **WORKING),
    )
    assert silent.stdin is not None
    assert silent.stdout is not None
    assert silent.stderr is not None
    silent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    silent.stdin.flush()
    assert b"result" in silent.stdout.readline()
    silent.stdout.close()
    silent.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n' * 3)
    silent.stdin.flush()
    assert silent.wait(DEADLINE) == 0
    assert b"Traceback" not in silent.stderr.read()
    silent.stderr.close()
    silent.stdin.close()
    ends(busy.home)


@needs_proc
@pytest.mark.promise("mcp.ends", "write.read-back")
def test_a_killed_parent_takes_the_server_and_its_children_with_it(busy: Desk) -> None:
    code = (
        "import subprocess, sys\n"
        "server = subprocess.Popen([sys.executable, '-m', 'zapomni', 'serve'], stdin=-1, stdout=-1)\n"
        "for line in sys.stdin.buffer:\n"
        "    server.stdin.write(line); server.stdin.flush()\n"
        "    print(server.stdout.readline().decode(), end='', flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=busy.home,
        env=environment(busy.home, **WORKING),
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
        params = b'{"name":"store_memory","arguments":{"content":"The buoy chain was painted, says the parent."}}'
        parent.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":%s}\n' % params)
        parent.stdin.flush()
        assert b"protocolVersion" in parent.stdout.readline()
        assert b"created" in parent.stdout.readline()
        parent.kill()
    ends(busy.home)
    kept(busy, [])
