"""Trial T53: HTTP mode before foreign pages, foreign hosts and callers without a token, over every route."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import pytest
from tests.servers import DEADLINE, TOKEN, environment

from zapomni.surfaces.http.table import CALLS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.trials.conftest import Desk

SECRET = "Код от сейфа — слива."
RPC = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "store_memory", "arguments": {"content": "planted by a stranger"}},
}
ROUTES = [(call.method, call.path) for call in CALLS] + [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp")]


class Said(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    desk = open_desk()
    desk.store(SECRET, via="http")
    return desk


def send(desk: Desk, method: str, path: str, headers: dict[str, str], body: Any = None, **query: str) -> Said:
    """One request as it stands: no header but these and the port's own Host."""
    at = urlsplit(desk.web)
    assert at.hostname is not None
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=DEADLINE)
    place = path.replace("{id}", "k").replace("{run}", "k") + (f"?{urlencode(query)}" if query else "")
    connection.putrequest(method, place, skip_host="Host" in headers, skip_accept_encoding=True)
    data = b"" if body is None else json.dumps(body).encode()
    usual = {"Content-Type": "application/json", "Content-Length": str(len(data))} if data else {}
    for name, value in {**usual, **headers}.items():
        connection.putheader(name, value)
    connection.endheaders(data)
    answer = connection.getresponse()
    said = Said(
        answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode("utf-8")
    )
    connection.close()
    return said


def state(desk: Desk) -> str:
    """Everything that is remembered, but for when it was read last."""
    memories = desk.good("cli", "list", scope="all")["memories"]
    kept = [{name: one[name] for name in one if not name.startswith("access")} for one in memories]
    return json.dumps(kept, sort_keys=True)


@pytest.mark.promise("http.guarded")
@pytest.mark.parametrize(
    "foreign",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": "evil.example:8377"},
        {"Host": "localhost.evil.example"},
    ],
    ids=lambda headers: next(f"{name} {value}" for name, value in headers.items()),
)
def test_a_foreign_page_or_host_is_refused_on_every_route_before_any_work(desk: Desk, foreign: dict[str, str]) -> None:
    before = state(desk)
    for method, path in ROUTES:
        for token in ({}, {"Authorization": f"Bearer {TOKEN}"}):
            said = send(desk, method, path, foreign | token, RPC if method == "POST" else None, q="сейф", scope="all")
            assert said.status == 403, (method, path, said)
            assert SECRET not in said.text
            assert "access-control-allow-origin" not in said.headers
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    said = send(desk, "OPTIONS", "/memories", {"Origin": "https://evil.example", **preflight})
    assert said.status == 403
    assert not [name for name in said.headers if name.startswith("access-control")]
    assert state(desk) == before


@pytest.mark.promise("http.guarded")
def test_no_token_a_wrong_one_or_one_in_the_address_reads_nothing_but_bare_health(desk: Desk) -> None:
    before = state(desk)
    for method, path in ROUTES:
        for headers, query in (
            ({}, {}),
            ({"Authorization": "Bearer wrong"}, {}),
            ({}, {"token": TOKEN}),
            ({"Authorization": f"Basic {TOKEN}"}, {}),
        ):
            said = send(desk, method, path, headers, RPC if method == "POST" else None, **query)
            if path == "/health":
                assert set(json.loads(said.text)) <= {"status", "version", "mode", "waiting", "error"}
                assert "/" not in said.text
            else:
                assert said.status == 401, (method, path, said)
            assert SECRET not in said.text
            assert TOKEN not in said.text + str(said.headers)
    assert state(desk) == before


@pytest.mark.promise("http.guarded")
def test_a_call_sent_as_plain_text_is_refused_and_a_get_changes_nothing(desk: Desk) -> None:
    before = state(desk)
    token = {"Authorization": f"Bearer {TOKEN}"}
    for path in ("/mcp", "/memories", "/ingest", "/consolidate", "/sources/scan"):
        assert send(desk, "POST", path, token | {"Content-Type": "text/plain"}, RPC).status == 415
    for method, path in ROUTES:
        if method == "GET" and path != "/mcp":
            for query in ({}, {"q": "слива", "scope": "all"}, {"content": "planted", "erase": "true"}):
                assert send(desk, method, path, token, **query).status in {200, 400, 404, 503}, path
    assert state(desk) == before


@pytest.mark.promise("http.guarded")
def test_ordinary_clients_work_by_every_name_of_this_machine(desk: Desk) -> None:
    port = urlsplit(desk.web).port
    token = {"Authorization": f"Bearer {TOKEN}"}
    for more in ({}, {"Origin": f"http://localhost:{port}"}, {"Host": f"[::1]:{port}"}, {"Host": f"localhost:{port}"}):
        assert send(desk, "GET", "/memories", token | more).status == 200
        accept = {"Accept": "application/json, text/event-stream"}
        rpc = {**RPC, "params": {"name": "memory_stats", "arguments": {}}}
        assert send(desk, "POST", "/mcp", token | more | accept, rpc).status == 200


@pytest.mark.promise("http.guarded")
def test_it_binds_to_loopback_unless_a_token_of_the_settings_lets_others_in(desk: Desk, tmp_path: Path) -> None:
    assert urlsplit(desk.web).hostname == "127.0.0.1"
    refused = subprocess.run(
        [sys.executable, "-m", "zapomni", "serve", "--http", "--host", "0.0.0.0", "--port", "0"],
        env=environment(tmp_path, ZAPOMNI_HTTP_TOKEN=""),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert (refused.returncode, "http.token" in refused.stderr) == (2, True)
    wide = desk.serve("--http", "--host", "0.0.0.0", "--port", "0").line_of_errors("listens").split()[-1]
    assert wide.startswith("http://0.0.0.0:")


@pytest.mark.promise("http.token")
def test_no_token_is_in_any_log_or_settings_page(desk: Desk) -> None:
    shown = desk.run("config", "show", "--json")
    assert "set (hidden)" in shown.out
    assert TOKEN not in shown.out + shown.err + desk.said()
