"""Who may ask, and what may be sent: over every route of the table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from tests.http.web import HOST, TOKEN, Web

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.hosts import is_loopback
from zapomni.surfaces.http.call import BYTES, JSON
from zapomni.surfaces.http.guard import BODY_LIMIT, Guard
from zapomni.surfaces.http.table import CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.surfaces.http.call import Call

ROUTES = [pytest.param(call, id=f"{call.method} {call.path}") for call in CALLS]
MCP = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_stats", "arguments": {}}}
PLANTED = "Об этом не должен узнать никто."


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """A server of the whole module, for requests that must change nothing."""
    home = tmp_path_factory.mktemp("guarded")
    with Zapomni(load({"home": home, "embedder.provider": "none"}, environ={}, cwd=home)) as app:
        yield Web(app)


@pytest.fixture(scope="module")
def planted(guarded: Web) -> str:
    """A memory that a stranger would read or change; gives its id."""
    return str(guarded.good("POST", "/memories", {"content": PLANTED})["id"])


def state(web: Web) -> Any:
    """Everything that a request could have changed."""
    memories = web.app.list(scopes=["all"], deleted=True, limit=1_000).memories
    return [(m.id, m.version, m.content, m.deleted_at, m.accessed_at) for m in memories], web.app.documents.sources()


def request(call: Call, memory: str) -> dict[str, Any]:
    """A request of this route that would do something."""
    body: Any = None
    if call.takes == BYTES:
        body = b"a file"
    elif call.body is not None:
        values = {"text": "t", "content": "новое", "importance": 0.1, "scope": "user", "source": "s"}
        body = {name: value for name, value in values.items() if name in call.body}
    path = call.path.replace("{id}", memory).replace("{run}", memory)
    query = {name: value for name, value in {"q": "узнать", "name": "a.md"}.items() if name in call.query}
    type_ = {"Content-Type": call.takes} if body is not None else {}
    return {"method": call.method, "path": path, "body": body, "headers": type_, **query}


def strangers() -> list[Any]:
    return [
        pytest.param({"Authorization": None}, 401, id="no token"),
        pytest.param({"Authorization": "Bearer wrong"}, 401, id="another token"),
        pytest.param({"Authorization": TOKEN}, 401, id="the bare token"),
        pytest.param({"Authorization": f"Basic {TOKEN}"}, 401, id="another way"),
        pytest.param({"Host": "evil.example"}, 403, id="foreign host"),
        pytest.param({"Host": "evil.example:8377"}, 403, id="foreign host with our port"),
        pytest.param({"Host": "127.0.0.1.evil.example"}, 403, id="a host that looks like ours"),
        pytest.param({"Host": None}, 403, id="no host"),
        pytest.param({"Origin": "https://evil.example"}, 403, id="foreign page"),
        pytest.param({"Origin": "null"}, 403, id="a page without an origin"),
        pytest.param({"Origin": "http://localhost.evil.example"}, 403, id="a page that looks like ours"),
        pytest.param({"Origin": "http://[evil"}, 403, id="a broken origin"),
    ]


@pytest.mark.promise("http.guarded")
@pytest.mark.parametrize("call", ROUTES)
@pytest.mark.parametrize(("headers", "status"), strangers())
def test_a_stranger_reads_and_changes_nothing(
    guarded: Web, planted: str, call: Call, headers: dict[str, str | None], status: int
) -> None:
    before = state(guarded)
    asked = request(call, planted)
    asked["headers"] |= headers
    said = guarded(**asked)
    assert said.status == (200 if call.is_open and status == 401 else status)
    assert PLANTED not in said.body.decode()
    assert TOKEN not in said.body.decode() + str(said.headers)
    assert not [name for name in said.headers if name.startswith("access-control")]
    assert state(guarded) == before


@pytest.mark.promise("http.guarded")
@pytest.mark.parametrize(("headers", "status"), strangers())
def test_a_stranger_reaches_no_tool_of_mcp(guarded: Web, headers: dict[str, str | None], status: int) -> None:
    assert guarded("POST", "/mcp", MCP, headers=headers).status == status


@pytest.mark.promise("http.guarded")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://localhost:8377"},
        {"Origin": f"http://{HOST}"},
        {"Host": "[::1]:8377"},
        {"Host": "localhost"},
        {"Authorization": f"bearer  {TOKEN}"},
    ],
)
def test_an_ordinary_client_of_this_machine_is_answered(web: Web, headers: dict[str, str | None]) -> None:
    assert web("GET", "/status", headers=headers).status == 200


@pytest.mark.promise("http.guarded")
def test_a_token_in_the_address_is_none(web: Web) -> None:
    assert web("GET", "/status", headers={"Authorization": None}, token=TOKEN).status == 401
    assert web("GET", "/status", headers={"Authorization": None}, access_token=TOKEN).status == 401


@pytest.mark.promise("http.guarded")
def test_where_others_can_reach_it_any_host_may_be_named_but_no_other_page(app: Zapomni) -> None:
    wide = Web(app, host="0.0.0.0")
    assert wide("GET", "/status", headers={"Host": "memory.lan:8377"}).status == 200
    assert wide("GET", "/status", headers={"Host": "memory.lan", "Origin": "http://memory.lan"}).status == 200
    assert wide("GET", "/status", headers={"Host": "memory.lan", "Origin": "http://localhost"}).status == 403
    assert wide("GET", "/status", headers={"Host": "memory.lan", "Authorization": None}).status == 401


@pytest.mark.promise("http.guarded")
@pytest.mark.parametrize(
    "call", [pytest.param(call, id=f"{call.method} {call.path}") for call in CALLS if call.body is not None]
)
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_body_of_another_type_is_not_looked_at(guarded: Web, planted: str, call: Call, kind: str) -> None:
    before = state(guarded)
    asked = request(call, planted)
    asked["headers"] |= {"Content-Type": kind or None}
    said = guarded(**asked)
    assert said.status == 415
    assert call.takes in said.json["error"]["message"]
    assert state(guarded) == before


@pytest.mark.promise("http.guarded")
def test_a_call_of_mcp_sent_as_plain_text_is_refused(web: Web) -> None:
    assert web("POST", "/mcp", MCP, headers={"Content-Type": "text/plain"}).status == 415


def test_a_type_with_its_charset_is_taken_and_so_is_no_body_at_all(web: Web) -> None:
    kind = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert web("POST", "/memories", {"content": "с типом"}, headers=kind).status == 201
    assert web("POST", "/sources/scan").status == 200
    assert web("POST", "/sources/scan", headers={"Content-Length": "0"}).status == 200


@pytest.mark.promise("http.guarded")
def test_a_body_that_is_too_long_is_refused_as_soon_as_too_much_has_come(web: Web) -> None:
    part = b" " * (BODY_LIMIT // 10)
    said = web("POST", "/memories", b"{}", headers={"Content-Length": str(100 * BODY_LIMIT)}, parts=[part] * 12)
    assert (said.status, said.json["error"]["code"]) == (413, "size")
    assert web.good("GET", "/memories")["total"] == 0
    assert web("POST", "/memories", b'{"content": "whole"}' + part * 9).status == 201


@pytest.mark.promise("http.patient")
def test_a_request_that_breaks_off_is_not_acted_on(web: Web) -> None:
    whole = json.dumps({"content": "полумера"}).encode()
    said = web("POST", "/memories", whole, headers={"Content-Length": "1000"}, parts=[whole, None])
    assert said.status == 0
    assert web.good("GET", "/memories")["total"] == 0


@pytest.mark.promise("http.patient")
def test_a_body_that_does_not_come_is_waited_for_no_longer_than_is_said() -> None:
    reached, got = [], []

    async def app(*_: Any) -> None:
        reached.append(1)

    async def receive() -> dict[str, Any]:
        if not waited:
            waited.append(1)
            return {"type": "http.request", "body": b'{"content": "hal', "more_body": True}
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        got.append(message)

    waited: list[int] = []
    headers = [("host", HOST), ("authorization", f"Bearer {TOKEN}"), ("content-type", JSON), ("content-length", "99")]
    scope = {"type": "http", "method": "POST", "path": "/memories", "query_string": b""}
    scope |= {"headers": [(name.encode(), value.encode()) for name, value in headers]}
    guard: Any = Guard(app, host="127.0.0.1", token=TOKEN, patience=0.01)
    anyio.run(guard, scope, receive, send)
    assert (got[0]["status"], reached) == (408, [])
    assert (b"connection", b"close") in got[0]["headers"]


def test_loopback_is_told_from_what_looks_like_it() -> None:
    assert all(map(is_loopback, ["127.0.0.1", "127.8.8.8", "localhost", "LOCALHOST", "::1", "[::1]"]))
    assert not any(
        map(is_loopback, ["", "0.0.0.0", "::", "localhost.evil", "127.0.0.1.evil", "10.0.0.1", "example.com"])
    )
