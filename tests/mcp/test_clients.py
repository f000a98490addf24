"""The official SDK's own client against a real server, and the recorded messages of real clients."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.servers import TOKEN

from mcp import Client
from zapomni.app import Zapomni
from zapomni.config import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ERAS = ["legacy", "auto", "2026-07-28"]


def over_stdio(surroundings: dict[str, str], mode: str) -> Client:
    server = StdioServerParameters(command=sys.executable, args=["-m", "zapomni", "serve"], env=surroundings)
    return Client(stdio_client(server), mode=mode)


async def use(client: Client) -> None:
    """Everything the server offers, by a client that checks every answer against its schema."""
    async with client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools][:2] == ["store_memory", "recall_memory"]
        stored = await client.call_tool("store_memory", {"content": "The lighthouse is white.", "limit": None})
        assert not stored.is_error
        found = await client.call_tool("recall_memory", {"query": "lighthouse", "tags": None})
        assert [memory["id"] for memory in found.structured_content["memories"]] == [stored.structured_content["id"]]
        failed = await client.call_tool("recall_memory", {})
        assert failed.is_error
        assert failed.structured_content["error"]["argument"] == "query"
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("memory_search", {"query": "sky"})
        for name in ("list_memories", "memory_stats"):
            assert not (await client.call_tool(name)).is_error
        await _read_resources(client, stored.structured_content["id"])
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["when-to-save", "when-to-recall", "how-to-tag"]
        rule = await client.get_prompt("when-to-save", {"language": "ru"})
        assert "Память" in rule.messages[0].content.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="language"):
            await client.get_prompt("when-to-save", {"language": "klingon"})


async def _read_resources(client: Client, memory_id: str) -> None:
    assert [str(resource.uri) for resource in (await client.list_resources()).resources] == ["memory://recent"]
    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["memory://{id}"]
    for uri in ("memory://recent", f"memory://{memory_id}"):
        (contents,) = (await client.read_resource(uri)).contents
        assert "lighthouse" in contents.text  # type: ignore[union-attr]
        assert contents.mime_type == "text/plain"
    with pytest.raises(MCPError, match="Look it up with list_memories"):
        await client.read_resource("memory://nothing-here")
    for uri in ("memory://nothing-here", "memory://", "file:///etc/passwd"):
        with pytest.raises(MCPError):
            await client.read_resource(uri)


@pytest.mark.promise("mcp.revisions")
@pytest.mark.parametrize("mode", ERAS)
def test_the_sdks_client_works_over_stdio(surroundings: dict[str, str], mode: str) -> None:
    anyio.run(use, over_stdio(surroundings, mode))


@pytest.mark.promise("mcp.revisions")
@pytest.mark.parametrize("mode", ERAS)
def test_the_sdks_client_works_over_http(start: Any, mode: str) -> None:
    server = start("--http", "--port", "0")
    url = server.line_of_errors("listens").split()[-1]

    async def with_token() -> None:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as web:
            await use(Client(streamable_http_client(url, http_client=web), mode=mode))

    anyio.run(with_token)


def test_the_history_names_the_client_in_both_eras(start: Any, tmp_path: Path) -> None:
    server = start()
    server.handshake(name="old-client")
    old = server.good("store_memory", content="Stored by the old one.")
    new = server.call("store_memory", modern=True, content="Stored by the new one.")["structuredContent"]
    with Zapomni(load({"home": tmp_path / "data", "embedder.provider": "none"}, environ={}, cwd=tmp_path)) as app:
        assert app.history(old["id"])[1][0].actor == "mcp:old-client"
        assert app.history(new["id"])[1][0].actor == "mcp:tester"


def test_two_servers_see_each_others_writes(start: Any) -> None:
    one, other = start(), start()
    one.handshake()
    other.handshake()
    assert other.good("recall_memory", query="north yard gate")["count"] == 0
    stored = one.good("store_memory", content="Gate code for the north yard is 7719.")
    assert other.good("recall_memory", query="north yard gate")["memories"][0]["content"].endswith("7719.")
    one.good("update_memory", id=stored["id"], content="Gate code for the north yard is 7720.")
    assert other.good("recall_memory", query="north yard gate")["memories"][0]["content"].endswith("7720.")
    one.good("delete_memory", id=stored["id"])
    assert other.good("recall_memory", query="north yard gate")["count"] == 0
    assert other.good("list_memories")["total"] == other.good("memory_stats")["memories"] == 0


CAPTURES = [
    "claude-code_2.1.197+2.1.332_stdio",
    "claude-code_2.1.332_fallback_to_legacy",
    "claude-code_2.1.332_stdio_toolcall",
    "cline-cli_3.0.65_stdio",
    "codex_0.171.0_stdio",
    "continue-cn_1.5.47_stdio",
    "copilot-cli_1.0.102_stdio",
    "gemini-cli_0.61.0_stdio",
    "opencode_1.18.33_stdio",
]


def conversations(path: Path) -> list[list[dict[str, Any]]]:
    """The recorded messages, a new conversation wherever a client began anew with an id it had used."""
    found: list[list[dict[str, Any]]] = [[]]
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)["message"]
        if "id" in message and any(message["id"] == known.get("id") for known in found[-1]):
            found.append([known for known in found[-1] if known.get("method") == "initialize"])
        found[-1].append(message)
    return found


@pytest.mark.promise("mcp.revisions")
@pytest.mark.parametrize("client", CAPTURES)
def test_every_recorded_conversation_over_stdio_is_answered(start: Any, captures: Path, client: str) -> None:
    for messages in conversations(captures / f"{client}.jsonl"):
        server = start()
        server.send(*messages)
        cancelled = {m["params"]["requestId"] for m in messages if m["method"] == "notifications/cancelled"}
        for message in messages:
            if "id" in message and message["id"] not in cancelled and message["method"] != "subscriptions/listen":
                check_answer(message, server.reply(message["id"]))
        server.close_input()
        assert server.wait() == 0


def check_answer(message: dict[str, Any], answer: dict[str, Any]) -> None:
    """A tool of another server is unknown; a removed method or a bad envelope is refused; all else works."""
    method, params = message["method"], message.get("params", {})
    if method == "tools/call":
        assert "Unknown tool" in answer["error"]["message"]
        assert answer["error"]["code"] == -32602
    else:
        assert "result" in answer, (message, answer)
        if method == "initialize":
            assert answer["result"]["protocolVersion"] == params["protocolVersion"]


@pytest.mark.promise("mcp.revisions")
def test_every_recorded_request_over_http_is_answered(start: Any, captures: Path, post: Callable[..., Any]) -> None:
    server = start("--http", "--port", "0")
    url = server.line_of_errors("listens").split()[-1]
    lines = (captures / "http_claude-code+inspector+conformance.jsonl").read_text(encoding="utf-8").splitlines()
    for line in map(json.loads, lines):
        message = line["message"]
        if message.get("method") == "subscriptions/listen":
            continue  # its answer is a stream without an end
        ours = {"content-length", "connection", "authorization"}
        headers = {k: v for k, v in line["headers"].items() if k.lower() not in ours}
        status, answer = post(url, message, headers)
        check_http_answer(line["headers"], message, status, answer)


def check_http_answer(headers: dict[str, str], message: dict[str, Any], status: int, answer: Any) -> None:
    lower = {name.lower(): value for name, value in headers.items()}
    method, meta = message["method"], message.get("params", {}).get("_meta", {})
    modern = lower.get("mcp-protocol-version") == "2026-07-28"
    whole = {"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"} <= set(meta)
    if "evil" in lower.get("host", ""):
        assert status == 403
    elif "id" not in message:
        assert status == 202
    elif modern and not whole:
        assert (status, answer["error"]["code"]) == (400, -32602)
    elif modern and lower.get("mcp-name", message.get("params", {}).get("name")) == "wrong_tool_name":
        assert (status, answer["error"]["code"]) == (400, -32020)
    elif modern and method in {"initialize", "ping", "logging/setLevel", "unknown/method"} | {
        "resources/subscribe",
        "resources/unsubscribe",
    }:
        assert (status, answer["error"]["code"]) == (404, -32601)
    elif method == "tools/call" or (method == "resources/read" and modern):
        assert answer["error"]["code"] == -32602
    else:
        assert status == 200
        assert answer["id"] == message["id"]
        assert "result" in answer
