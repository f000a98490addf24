from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import apsw
import pytest

if TYPE_CHECKING:
    from pathlib import Path

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.promise("mcp.revisions")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_handshake_revision_is_returned_as_asked_and_works(start: Any, version: str) -> None:
    server = start()
    assert server.handshake(version)["protocolVersion"] == version
    assert len(server.ask("tools/list")["result"]["tools"]) == 7
    stored = server.call("store_memory", content=f"Stored under {version}")
    assert json.loads(stored["content"][0]["text"])["status"] == "created"


@pytest.mark.promise("mcp.revisions")
def test_the_stateless_revision_works_without_a_handshake(start: Any) -> None:
    server = start()
    found = server.ask("server/discover", modern=True)["result"]
    assert "2026-07-28" in found["supportedVersions"]
    assert found["cacheScope"] == "private"
    listed = server.ask("tools/list", modern=True)["result"]
    assert (listed["cacheScope"], listed["resultType"]) == ("private", "complete")
    assert listed["ttlMs"] > 0
    stored = server.call("store_memory", modern=True, content="Without a handshake")
    assert stored["structuredContent"]["status"] == "created"
    read = server.ask("resources/read", {"uri": "memory://recent"}, modern=True)["result"]
    assert (read["ttlMs"], read["cacheScope"]) == (0, "private")


@pytest.mark.promise("mcp.revisions")
def test_a_client_that_probes_the_new_era_may_fall_back_to_the_old_one_on_the_same_pipe(start: Any) -> None:
    server = start()
    assert "result" in server.ask("server/discover", modern=True)
    assert server.handshake("2025-11-25")["protocolVersion"] == "2025-11-25"
    assert server.good("store_memory", content="After the fall back")["status"] == "created"
    assert "result" in server.ask("tools/list", modern=True)


@pytest.mark.parametrize("version", ["2099-01-01", "", None, 7])
def test_an_unknown_version_is_answered_with_one_that_is_spoken(start: Any, version: Any) -> None:
    server = start()
    assert server.handshake(version)["protocolVersion"] == "2025-11-25"
    assert "result" in server.ask("tools/list")


def test_a_handshake_that_leaves_everything_out_is_answered(start: Any) -> None:
    server = start()
    assert server.ask("initialize", {})["result"]["protocolVersion"] == "2025-11-25"
    assert "result" in server.ask("tools/list")


def test_a_version_of_the_stateless_era_that_is_unknown_is_refused_with_the_known_ones(start: Any) -> None:
    server = start()
    meta = {**MODERN, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    error = server.ask("tools/list", {"_meta": meta})["error"]
    assert error["code"] == -32022
    assert error["data"]["supported"] == ["2026-07-28"]


def test_oddities_get_a_proper_error_or_silence_and_the_server_goes_on(start: Any) -> None:
    server = start()
    assert server.ask("tools/list")["error"]["code"] == -32602
    assert server.ask("ping")["result"] == {}
    server.handshake()
    server.send(
        {"jsonrpc": "2.0", "method": "notifications/unheard-of"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        {"jsonrpc": "2.0", "id": 5, "result": {}},
    )
    framed = b'{"jsonrpc":"2.0","id":"framed","method":"ping"}'
    server.send(b"Content-Length: %d\r\n\r\n%s\n" % (len(framed), framed))
    assert server.reply("framed")["result"] == {}
    assert server.ask("no/such/method")["error"]["code"] == -32601
    assert server.ask("tools/call", {"name": "memory_search"})["error"]["code"] == -32602
    assert "result" in server.ask("tools/list")


@pytest.mark.parametrize("line", [b"{broken", b'{"jsonrpc":"2.0","id":1,"method"', b"NaN", b"\xff\xfe", b"[" * 200_000])
def test_a_line_that_is_no_json_gets_a_parse_error_and_the_connection_goes_on(shared: Any, line: bytes) -> None:
    before = len([m for m in shared.messages if m.get("error", {}).get("code") == -32700])
    shared.send(line + b"\n")
    found = shared.replies(lambda message: message.get("error", {}).get("code") == -32700, before + 1)
    assert found[-1]["id"] is None
    assert shared.ask("ping")["result"] == {}


@pytest.mark.parametrize("message", [42, "text", [], {}, {"id": 3}, {"jsonrpc": "2.0", "id": None, "method": "ping"}])
def test_json_that_is_no_message_is_an_invalid_request(shared: Any, message: Any) -> None:
    def invalid(answer: dict[str, Any]) -> bool:
        return bool(answer.get("error", {}).get("code") == -32600)

    before = len([m for m in shared.messages if invalid(m)])
    shared.send(json.dumps(message).encode() + b"\n")
    shared.replies(invalid, before + 1)
    assert shared.ask("ping")["result"] == {}


def test_an_error_in_a_message_carries_its_id_where_there_is_one(shared: Any) -> None:
    shared.send({"jsonrpc": "2.0", "id": "bad-params", "method": "ping", "params": 5})
    assert shared.reply("bad-params")["error"]["code"] == -32600


def test_each_message_of_a_batch_is_answered(shared: Any) -> None:
    batch = [{"jsonrpc": "2.0", "id": f"batch-{n}", "method": "ping"} for n in range(3)]
    shared.send(json.dumps(batch).encode() + b"\n")
    assert all(shared.reply(f"batch-{n}")["result"] == {} for n in range(3))


@pytest.mark.parametrize(
    ("escaped", "word", "told"),
    [
        (r"half an emoji \ud83d PLUM-9", "PLUM-9", "surrogate"),
        (r"before\u0000after PLUM-7", "PLUM-7", "NUL"),
        (r"a whole emoji \ud83d\ude00 PLUM-6", "PLUM-6", None),
    ],
)
def test_what_no_store_can_hold_is_answered_and_named(shared: Any, escaped: str, word: str, told: str | None) -> None:
    raw = r'{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"store_memory","arguments":{"content":"%s"}}}'
    shared.send((raw % (word, escaped)).encode() + b"\n")
    shape = shared.reply(word)["result"]["structuredContent"]
    assert shape["status"] == "created"
    said = json.dumps([shape.get("notes"), shape.get("warnings")])
    assert (told in said) if told else said == "[null, null]"
    found = shared.good("recall_memory", query=word)["memories"]
    assert word in found[0]["content"]


@pytest.mark.parametrize("order", ["id first", "id last"])
def test_a_line_without_measure_is_refused_by_its_id_and_the_next_one_is_read(shared: Any, order: str) -> None:
    blob = b"x" * 11_000_000
    params = b'"params":{"name":"store_memory","arguments":{"content":"%s"}}' % blob
    name = json.dumps(order).encode()
    if order == "id first":
        shared.send(b'{"jsonrpc":"2.0","id":%s,"method":"tools/call",%s}\n' % (name, params))
    else:
        shared.send(b'{"method":"tools/call",%s,"jsonrpc":"2.0","id":%s}\n' % (params, name))
    assert "10,000,000 bytes" in shared.reply(order)["error"]["message"]
    assert shared.ask("ping")["result"] == {}


@pytest.mark.promise("mcp.stdout")
def test_text_of_every_script_survives_whatever_the_locale_says(start: Any) -> None:
    server = start(LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONIOENCODING="cp1251", PYTHONCOERCECLOCALE="0")
    server.handshake()
    text = "Деплой по пятницам запрещён ✓ 日本語 \u2028 \x85 конец"
    server.good("store_memory", content=text)
    assert server.good("recall_memory", query="деплой пятница")["memories"][0]["content"] == text


@pytest.mark.promise("mcp.stdout")
def test_whatever_else_prints_does_not_reach_the_wire(surroundings: dict[str, str]) -> None:
    code = (
        "import os, sys\n"
        "from zapomni.surfaces.mcp.pipe import Pipe\n"
        "pipe = Pipe.take()\n"
        "print('noise'); os.write(1, b'raw'); os.system('echo child')\n"
        "assert sys.stdin.read() == ''\n"
        "pipe.write(b'wire')\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=b"for the wire", capture_output=True, check=True, env=surroundings)
    assert done.stdout == b"wire"


def test_the_handshake_touches_nothing(start: Any, tmp_path: Path) -> None:
    server = start()
    server.ask("server/discover", modern=True)
    server.ask("initialize", {"protocolVersion": "2025-11-25"})
    assert not (tmp_path / "data").exists()
    server.call("memory_stats")
    assert (tmp_path / "data" / "memories.db").exists()


def test_many_calls_in_flight_are_each_answered_once_under_their_id(shared: Any) -> None:
    for n in range(25):
        call = {"name": "store_memory", "arguments": {"content": f"writer item number {n} of many"}}
        shared.send({"jsonrpc": "2.0", "id": f"store-{n}", "method": "tools/call", "params": call})
        ask = {"name": "recall_memory", "arguments": {"query": f"item {n}"}}
        shared.send({"jsonrpc": "2.0", "id": f"recall-{n}", "method": "tools/call", "params": ask})
    for n in range(25):
        assert shared.reply(f"store-{n}")["result"]["structuredContent"]["status"] == "created"
        assert not shared.reply(f"recall-{n}")["result"]["isError"]
    ids = [m["id"] for m in shared.messages if str(m.get("id", "")).startswith(("store-", "recall-"))]
    assert len(ids) == len(set(ids)) == 50


@pytest.mark.promise("store.shared")
def test_writers_that_wait_for_another_process_do_not_keep_readers_waiting(start: Any, tmp_path: Path) -> None:
    server = start(ZAPOMNI_STORE_BUSY_TIMEOUT_MS="60000")
    server.handshake()
    server.good("store_memory", content="Known before the lock.")
    foreign = apsw.Connection(str(tmp_path / "data" / "memories.db"))
    foreign.execute("BEGIN IMMEDIATE")
    for n in range(25):
        call = {"name": "store_memory", "arguments": {"content": f"held up by the lock, item {n}"}}
        server.send({"jsonrpc": "2.0", "id": f"late-{n}", "method": "tools/call", "params": call})
    assert server.good("recall_memory", query="known before")["count"] == 1
    assert not any(str(message.get("id")).startswith("late-") for message in server.messages)
    foreign.execute("ROLLBACK")
    foreign.close()
    for n in range(25):
        assert server.reply(f"late-{n}")["result"]["structuredContent"]["status"] == "created"
    assert server.good("memory_stats")["memories"] == 26


def _three_stores(server: Any) -> None:
    server.handshake()
    for n in range(3):
        call = {"name": "store_memory", "arguments": {"content": f"kept to the end, number {n}"}}
        server.send({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call})


@pytest.mark.promise("mcp.ends")
def test_the_end_of_input_ends_the_server_after_the_calls_in_flight(start: Any) -> None:
    server = start()
    _three_stores(server)
    server.close_input()
    assert server.wait() == 0
    ids = {server.reply(n)["result"]["structuredContent"]["id"] for n in range(3)}
    again = start()
    again.handshake()
    assert {memory["id"] for memory in again.good("list_memories")["memories"]} == ids


@pytest.mark.promise("mcp.ends")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_after_the_calls_in_flight(start: Any, number: int) -> None:
    server = start()
    _three_stores(server)
    server.reply(0)
    server.process.send_signal(number)
    assert server.wait() == 0
    again = start()
    again.handshake()
    stored = {memory["id"] for memory in again.good("list_memories")["memories"]}
    answers = [m["result"]["structuredContent"]["id"] for m in server.messages if m.get("id") in {0, 1, 2}]
    assert set(answers) <= stored


@pytest.mark.promise("mcp.ends")
def test_a_client_that_stops_reading_is_no_crash(surroundings: dict[str, str], tmp_path: Path) -> None:
    silent = subprocess.Popen(
        [sys.executable, "-m", "zapomni", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=surroundings,
    )
    assert silent.stdout is not None
    assert silent.stdin is not None
    assert silent.stderr is not None
    silent.stdout.close()
    silent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 3)
    silent.stdin.flush()
    assert silent.wait(60) == 0
    assert b"Traceback" not in silent.stderr.read()
    silent.stderr.close()
    silent.stdin.close()


@pytest.mark.promise("mcp.ends")
@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are handed down on POSIX only")
def test_a_killed_parent_takes_the_server_with_it(surroundings: dict[str, str]) -> None:
    ours, theirs = os.pipe()
    code = (
        "import subprocess, sys\n"
        "server = subprocess.Popen([sys.executable, '-m', 'zapomni', 'serve'], stdin=-1, stdout=-1,"
        f" pass_fds=[{theirs}])\n"
        'server.stdin.write(b\'{"jsonrpc":"2.0","id":1,"method":"ping"}\\n\'); server.stdin.flush()\n'
        "print(server.stdout.readline(), flush=True); server.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, pass_fds=[theirs], env=surroundings
    ) as parent:
        os.close(theirs)
        assert parent.stdout is not None
        assert b"result" in parent.stdout.readline()
        parent.kill()
    # The server holds the last writing end: the pipe reads as ended only when the server is gone.
    readable, _, _ = select.select([ours], [], [], 60)
    assert readable
    assert os.read(ours, 1) == b""
    os.close(ours)
