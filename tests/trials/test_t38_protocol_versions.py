"""Trial T38: old, new and unknown protocol versions, and messages out of order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.servers import META, post

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.servers import Server
    from tests.trials.conftest import Desk

SPOKEN = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
UNKNOWN: list[Any] = ["2099-01-01", "1999-01-01", "", "latest", None, 7]
HEADERS = [*SPOKEN, "2026-07-28", "2099-01-01", "", None]


def hello(version: Any) -> dict[str, Any]:
    params: dict[str, Any] = {"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    return params if version is None else {**params, "protocolVersion": version}


@pytest.fixture(scope="module")
def web(open_desk: Callable[..., Desk]) -> str:
    return open_desk().web


def works(server: Server, text: str) -> None:
    """What every client does after its handshake."""
    assert len(server.ask("tools/list")["result"]["tools"]) == 7
    stored = json.loads(server.call("store_memory", content=text)["content"][0]["text"])
    found = server.call("recall_memory", query=text)["content"][0]["text"]
    assert stored["id"] in found


@pytest.mark.promise("mcp.revisions")
@pytest.mark.parametrize("version", [*SPOKEN, *UNKNOWN])
def test_a_version_is_answered_with_itself_or_with_one_that_is_spoken(desk: Desk, version: Any) -> None:
    server = desk.serve()
    answer = server.ask("initialize", hello(version))["result"]
    assert answer["protocolVersion"] == (version if version in SPOKEN else SPOKEN[-1])
    assert answer["serverInfo"]["name"] == "zapomni"
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    works(server, f"Stored under the version {version}.")
    server.close_input()
    assert server.wait() == 0


@pytest.mark.promise("mcp.revisions")
@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("version", [*SPOKEN, "2099-01-01", "", None])
def test_over_http_the_body_of_a_handshake_decides_whatever_its_header(
    web: str, header: str | None, version: str | None
) -> None:
    headers = {} if header is None else {"MCP-Protocol-Version": header}
    request = {"jsonrpc": "2.0", "id": "hi", "method": "initialize", "params": hello(version)}
    status, answer = post(web, request, headers)
    assert (status, answer["id"]) == (200, "hi")
    assert answer["result"]["protocolVersion"] == (version if version in SPOKEN else SPOKEN[-1])


@pytest.mark.promise("mcp.revisions")
@pytest.mark.parametrize("header", [*SPOKEN, None])
def test_over_http_every_spoken_version_lists_and_stores(web: str, header: str | None) -> None:
    headers = {} if header is None else {"MCP-Protocol-Version": header}
    assert post(web, {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers)[0] in {200, 202}
    _, listed = post(web, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers)
    assert len(listed["result"]["tools"]) == 7
    params = {"name": "store_memory", "arguments": {"content": f"By HTTP under {header}."}}
    _, stored = post(web, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}, headers)
    assert json.loads(stored["result"]["content"][0]["text"])["status"] == "created"


@pytest.mark.promise("mcp.revisions")
@pytest.mark.parametrize("header", ["2099-01-01", "nonsense"])
def test_over_http_an_unknown_version_of_a_later_request_is_refused_and_the_server_goes_on(
    web: str, header: str
) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    status, answer = post(web, request, {"MCP-Protocol-Version": header})
    assert status == 200 or (status == 400 and "error" in answer)
    assert post(web, request)[0] == 200


@pytest.mark.promise("mcp.revisions")
def test_the_stateless_version_works_on_both_transports(desk: Desk, web: str) -> None:
    server = desk.serve()
    assert "2026-07-28" in server.ask("server/discover", modern=True)["result"]["supportedVersions"]
    stored = server.call("store_memory", modern=True, content="Without any handshake.")
    assert stored["structuredContent"]["status"] == "created"
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    _, listed = post(web, request, headers)
    assert len(listed["result"]["tools"]) == 7


def frame(message: dict[str, Any]) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\nContent-Type: application/json\r\n\r\n%s\n" % (len(body), body)


ODD: list[dict[str, Any] | bytes] = [
    {"jsonrpc": "2.0", "method": "notifications/nobody-knows", "params": {"x": 1}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4711}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled"},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 4712, "result": {"roots": []}},
    {"jsonrpc": "2.0", "id": 4713, "error": {"code": 1, "message": "no"}},
    {"jsonrpc": "1.0", "id": "old", "method": "ping"},
    frame({"jsonrpc": "2.0", "id": "framed", "method": "ping"}),
    b"\n\r\n  \n",
]


@pytest.mark.promise("mcp.revisions")
@pytest.mark.parametrize("when", ["before the handshake", "after the handshake"])
def test_oddities_get_an_error_or_silence_and_never_end_the_server(desk: Desk, when: str) -> None:
    server = desk.serve()
    if when.startswith("before"):
        asked = server.ask("tools/list")
        assert asked.get("error", {}).get("code") == -32602 or "result" in asked
    else:
        server.handshake()
    for message in ODD:
        server.send(message)
        assert server.ask("ping")["result"] == {}
    assert server.reply("framed")["result"] == {}
    if when.startswith("before"):
        server.handshake()
    works(server, "After all that was odd.")
    assert not [m for m in server.messages if m.get("id") in {4711, 4712, 4713}]
    assert "Traceback" not in server.errors
