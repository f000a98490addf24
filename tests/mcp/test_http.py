from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from tests.servers import DEADLINE, TOKEN

from zapomni import __version__
from zapomni.surfaces.http.token import token_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def get(url: str, headers: dict[str, str] | None = None) -> tuple[int, Any, dict[str, str]]:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"} | (headers or {}))
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read()), dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, None, dict(error.headers)


def address(server: Any) -> str:
    url: str = server.line_of_errors("listens").split()[-1]
    return url


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.promise("http.guarded")
def test_a_token_that_is_set_is_asked_for(start: Any, post: Callable[..., Any], tmp_path: Path) -> None:
    server = start("--http", "--port", "0", ZAPOMNI_HTTP_TOKEN="another-token")
    url = address(server)
    for wrong in ("", "Bearer x", "another-token", "Basic another-token"):
        assert post(url, PING, {"Authorization": wrong})[0] == 401
    assert post(url, PING, {"Authorization": "Bearer another-token"})[0] == 200
    status, health, _ = get(url.replace("/mcp", "/health"), {"Authorization": ""})
    assert (status, set(health)) == (200, {"status", "version", "mode", "waiting"})
    assert "environment ZAPOMNI_HTTP_TOKEN" in server.errors
    assert "another-token" not in json.dumps(health) + server.errors
    assert not token_file(tmp_path / "data").exists()


@pytest.mark.promise("http.token")
def test_a_server_without_a_token_of_the_settings_makes_one_and_says_where(
    start: Any, post: Callable[..., Any], tmp_path: Path
) -> None:
    server = start("--http", "--port", "0", ZAPOMNI_HTTP_TOKEN="")
    url = address(server)
    file = token_file(tmp_path / "data")
    token = file.read_text(encoding="ascii").strip()
    assert file.stat().st_mode & 0o777 == 0o600
    assert post(url, PING, {"Authorization": ""})[0] == 401
    assert post(url, PING, {"Authorization": f"Bearer {token}"})[0] == 200
    assert str(file) in server.errors
    assert token not in server.errors
    other = start("--http", "--port", "0", ZAPOMNI_HTTP_TOKEN="")
    assert post(address(other), PING, {"Authorization": f"Bearer {token}"})[0] == 200


@pytest.mark.promise("http.patient")
@pytest.mark.parametrize("half", ["GET /health HT", "POST /memories HTTP/1.1\r\nHost: localhost\r\nContent-Le"])
def test_other_clients_are_served_while_one_has_sent_half_a_request(start: Any, half: str) -> None:
    url = address(start("--http", "--port", "0"))
    host, _, port = url.removeprefix("http://").removesuffix("/mcp").rpartition(":")
    with socket.create_connection((host, int(port)), 10) as client:
        client.sendall(half.encode())
        assert get(url.replace("/mcp", "/health"))[0] == 200


@pytest.mark.promise("http.guarded")
@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_others_reach_needs_a_token(surroundings: dict[str, str], host: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zapomni", "serve", "--http", "--host", host, "--port", "0"],
        env=surroundings | {"ZAPOMNI_HTTP_TOKEN": ""},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 2
    assert "http.token" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.promise("http.guarded")
def test_foreign_hosts_and_origins_are_refused(start: Any, post: Callable[..., Any]) -> None:
    url = address(start("--http", "--port", "0"))
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    port = url.split(":")[2].split("/")[0]
    for wrong in (
        {"Host": "evil.example.com"},
        {"Host": f"evil.example.com:{port}"},
        {"Host": "127.0.0.1.evil.example.com"},
        {"Origin": "http://evil.example.com"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example.com"},
    ):
        assert post(url, ping, wrong)[0] == 403, wrong
        assert get(url.replace("/mcp", "/health"), wrong)[0] == 403
    for right in ({"Host": f"localhost:{port}"}, {"Host": "[::1]"}, {"Origin": f"http://localhost:{port}"}):
        assert post(url, ping, right)[0] == 200, right


def test_health_says_how_the_server_is(start: Any) -> None:
    url = address(start("--http", "--port", "0"))
    status, health, headers = get(url.replace("/mcp", "/health"))
    assert status == 200
    assert health == {"status": "ok", "version": __version__, "mode": "lexical", "waiting": 0}
    assert "server" not in {name.lower() for name in headers}


def test_health_says_when_search_by_meaning_works(start: Any, post: Callable[..., Any]) -> None:
    url = address(start("--http", "--port", "0", ZAPOMNI_EMBEDDER_PROVIDER="scripted"))
    post(url, call("store_memory", content="A text that gets its vector."))
    end = monotonic() + DEADLINE
    while (health := get(url.replace("/mcp", "/health"))[1])["mode"] != "hybrid":
        assert monotonic() < end, health
    assert health["status"] == "ok"


def test_there_is_no_stream_to_get_and_no_session_to_delete(start: Any) -> None:
    url = address(start("--http", "--port", "0"))
    status, _, headers = get(url, {"Accept": "text/event-stream"})
    assert (status, {k.lower(): v for k, v in headers.items()}["allow"]) == (405, "POST")


@pytest.mark.parametrize("header", ["2024-11-05", "2025-11-25", "2026-07-28", "2099-01-01", "", None])
@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25", "2099-01-01", None])
def test_a_handshake_is_negotiated_by_its_body(
    web: str, post: Callable[..., Any], header: str | None, version: str | None
) -> None:
    params = {"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}, "protocolVersion": version}
    headers = {} if header is None else {"MCP-Protocol-Version": header}
    status, answer = post(web, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}, headers)
    assert status == 200
    known = version if version in {"2025-03-26", "2025-11-25"} else "2025-11-25"
    assert answer["result"]["protocolVersion"] == known


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_old_revision_works_without_a_session(web: str, post: Callable[..., Any], version: str) -> None:
    status, answer = post(web, call("memory_stats"), {"MCP-Protocol-Version": version})
    assert status == 200
    assert json.loads(answer["result"]["content"][0]["text"])["scopes_seen"] == ["user"]


def test_bad_bodies_get_an_error_and_the_server_goes_on(web: str, post: Callable[..., Any]) -> None:
    assert post(web, b"{broken")[1]["error"]["code"] == -32700
    assert post(web, b"[]")[0] == 400
    assert post(web, b"x" * 10_000_001)[0] == 413
    status, answer = post(web, rb'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"store_memory",'
                          rb'"arguments":{"content":"half \ud83d of it"}}}')  # fmt: skip
    assert status == 200
    assert "surrogate" in json.dumps(answer["result"]["structuredContent"]["notes"])
    assert post(web, call("memory_stats"))[0] == 200


def test_a_client_without_a_handshake_is_known_by_its_user_agent(web: str, post: Callable[..., Any]) -> None:
    status, answer = post(web, call("store_memory", content="By its agent."), {"User-Agent": "some-client/1.2 (x)"})
    assert (status, answer["result"]["isError"]) == (200, False)


@pytest.mark.promise("scope.place")
def test_clients_of_one_server_do_not_get_the_scope_of_its_folder(
    start: Any, tmp_path: Path, post: Callable[..., Any]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    url = address(start("--http", "--port", "0"))
    _, answer = post(url, call("store_memory", content="Without a scope."))
    assert answer["result"]["structuredContent"]["scope"] == "user"


def test_a_port_that_is_taken_is_told(surroundings: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = subprocess.run(
            [sys.executable, "-m", "zapomni", "serve", "--http", "--port", str(taken.getsockname()[1])],
            env=surroundings,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert done.returncode == 7
    assert "cannot listen" in done.stderr


@pytest.mark.promise("mcp.ends")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_with_listeners_open(start: Any, number: int) -> None:
    server = start("--http", "--port", "0")
    url = address(server)
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"_meta": meta, "notifications": {"resourceSubscriptions": ["memory://recent"]}}
    body = {"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": params}
    headers = {"Mcp-Method": "subscriptions/listen", "MCP-Protocol-Version": "2026-07-28"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers | {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {TOKEN}",
    })  # fmt: skip
    with urllib.request.urlopen(request, timeout=60) as stream:
        lines = iter(stream.readline, b"")
        assert b"acknowledged" in next(line for line in lines if line.startswith(b"data"))
        change = urllib.request.Request(
            url,
            json.dumps(call("store_memory", content="A change.")).encode(),
            {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "Authorization": f"Bearer {TOKEN}",
            },
        )
        urllib.request.urlopen(change, timeout=60).close()
        assert b"resources/updated" in next(line for line in lines if line.startswith(b"data"))
        os.kill(server.process.pid, number)
        assert b'"id":9' in next(line for line in lines if line.startswith(b"data"))
    assert server.wait() == 0
    assert "Traceback" not in server.errors


@pytest.mark.promise("http.guarded")
def test_a_request_that_breaks_off_is_not_acted_on(start: Any, post: Callable[..., Any]) -> None:
    url = address(start("--http", "--port", "0"))
    host, _, port = url.removeprefix("http://").removesuffix("/mcp").rpartition(":")
    body = json.dumps(call("store_memory", content="half a request")).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Length: {len(body) + 100}\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), 10) as client:
        client.sendall(head.encode() + body)
        client.shutdown(socket.SHUT_WR)
        client.settimeout(30)
        while client.recv(4_096):
            pass
    status, answer, *_ = post(url, call("memory_stats"))
    assert status == 200
    assert answer["result"]["structuredContent"]["memories"] == 0


@pytest.mark.promise("mcp.ends")
def test_a_signal_right_after_the_address_was_told_ends_the_server(start: Any) -> None:
    server = start("--http", "--port", "0")
    address(server)
    os.kill(server.process.pid, signal.SIGTERM)
    assert server.wait() == 0
    assert "Traceback" not in server.errors
