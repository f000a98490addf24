"""Trial T37: the shape of results and errors, seen by a strict client and in the raw replies."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import anyio
import jsonschema
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from tests.servers import environment, post

from mcp import Client

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.trials.conftest import Desk

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("list_memories", {}),
    ("list_memories", {"tags": ["nobody"]}),
    ("list_memories", {"limit": 1}),
    ("recall_memory", {"query": "where is the anchor"}),
    ("recall_memory", {"query": "qzxv"}),
    ("memory_stats", {}),
    ("store_memory", {"content": "Another note for the shapes."}),
]
BAD: list[tuple[str, dict[str, Any] | None, str]] = [
    ("store_memory", {}, "content"),
    ("store_memory", None, "content"),
    ("store_memory", {"content": 7.5, "kind": "odd"}, "kind"),
    ("store_memory", {"content": "x", "importance": "heavy"}, "importance"),
    ("recall_memory", {"query": ""}, "query"),
    ("recall_memory", None, "query"),
    ("recall_memory", {"query": "x", "limit": 1000}, "limit"),
    ("recall_memory", {"query": "x", "since": "one fine day"}, "since"),
    ("list_memories", {"cursor": "no cursor of ours"}, "cursor"),
    ("update_memory", {"id": "zzzzzz", "title": "x"}, ""),
    ("delete_memory", {"id": "zzzzzz"}, ""),
    ("delete_memory", None, "id"),
]


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    desk = open_desk()
    desk.store("The anchor is in the port locker.", tags=["ship"])
    desk.store("The bell is on the quarterdeck.")
    return desk


def checked(desk: Desk, tool: str, result: dict[str, Any]) -> dict[str, Any]:
    """The object of a result that keeps to the protocol: an object, of its schema, told in the text as well."""
    schema = next(t["outputSchema"] for t in desk.mcp.ask("tools/list")["result"]["tools"] if t["name"] == tool)
    shape: dict[str, Any] = result["structuredContent"]
    assert type(shape) is dict
    jsonschema.validate(shape, schema)
    assert isinstance(result["isError"], bool)
    assert [block["type"] for block in result["content"]] == ["text"]
    text = result["content"][0]["text"]
    assert isinstance(text, str)
    head = json.loads(text.splitlines()[0])
    assert head == {name: value for name, value in shape.items() if name in head}
    for memory in shape["memories"] if isinstance(shape.get("memories"), list) else []:
        assert memory["content"] in text
        assert memory["id"] in text
    return shape


@pytest.mark.parametrize("via", ["mcp", "http"])
@pytest.mark.parametrize(("tool", "arguments"), GOOD)
def test_a_result_is_an_object_that_agrees_with_its_text(
    desk: Desk, via: str, tool: str, arguments: dict[str, Any]
) -> None:
    result = desk.tool(via, tool, **arguments)
    assert not result["isError"]
    shape = checked(desk, tool, result)
    if isinstance(shape.get("memories"), list):
        assert shape["count"] == len(shape["memories"])


@pytest.mark.promise("mcp.errors")
@pytest.mark.parametrize("via", ["mcp", "http"])
@pytest.mark.parametrize(("tool", "arguments", "name"), BAD)
def test_a_failed_call_says_so_with_its_argument(
    desk: Desk, via: str, tool: str, arguments: dict[str, Any] | None, name: str
) -> None:
    params = {"name": tool} if arguments is None else {"name": tool, "arguments": arguments}
    if via == "mcp":
        answer = desk.mcp.ask("tools/call", params)
    else:
        _, answer = post(desk.web, {"jsonrpc": "2.0", "id": "bad", "method": "tools/call", "params": params})
        assert answer["id"] == "bad"
    result = answer["result"]
    assert result["isError"] is True
    error = checked(desk, tool, result)["error"]
    assert error.get("argument", "") == name
    assert {"code", "message"} <= set(error)
    assert "Traceback" not in json.dumps(result)


@pytest.mark.promise("mcp.errors")
@pytest.mark.parametrize("via", ["mcp", "http"])
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("tools/call", {"name": "no_such_tool", "arguments": {}}, -32602),
        ("tools/call", {"arguments": {}}, -32602),
        ("tools/call", {"name": "memory_stats", "arguments": []}, -32602),
        ("resources/read", {"uri": "memory://nobody"}, -32002),
        ("prompts/get", {"name": "no-such-prompt"}, -32602),
        ("no/such/method", {}, -32601),
        ("memory/recall", {"query": "x"}, -32601),
    ],
)
def test_what_the_protocol_itself_refuses_has_its_code_and_the_id_of_its_request(
    desk: Desk, via: str, method: str, params: dict[str, Any], code: int
) -> None:
    request = {"jsonrpc": "2.0", "id": f"{method}-{code}", "method": method, "params": params}
    if via == "http":
        _, answer = post(desk.web, request, {"MCP-Protocol-Version": "2025-11-25"})
        assert answer["id"] == request["id"]
    else:
        answer = desk.mcp.ask(method, params)
    assert answer["error"]["code"] == code
    assert isinstance(answer["error"]["message"], str)
    assert "result" not in answer


@pytest.mark.promise("mcp.errors")
def test_every_reply_carries_the_id_of_its_request_and_the_connection_outlives_a_broken_line(desk: Desk) -> None:
    known: list[Any] = ["text", "7", 7, 0, -3, 2**31, "", "ид"]
    for one in known:
        desk.mcp.send({"jsonrpc": "2.0", "id": one, "method": "ping"}, b'{"jsonrpc": "2.0", "id": 1, "meth\n')
    for one in known:
        found = desk.mcp.replies(lambda m, one=one: type(m.get("id")) is type(one) and m["id"] == one)  # type: ignore[misc]
        assert [message["result"] for message in found] == [{}]
    broken = desk.mcp.replies(lambda m: m.get("error", {}).get("code") == -32700, len(known))
    assert {message["id"] for message in broken} == {None}
    assert desk.good("mcp", "list", tags=["ship"])["count"] == 1


@pytest.mark.promise("mcp.errors")
@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_strict_client_takes_every_result_and_sees_every_failure(tmp_path: Path, era: str) -> None:
    async def use() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "zapomni", "serve"], env=environment(tmp_path), cwd=tmp_path
        )
        async with Client(stdio_client(server), mode=era) as client:
            await client.list_tools()
            for tool, arguments in GOOD:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error
                assert isinstance(result.structured_content, dict)
            for tool, bad, _ in BAD:
                assert (await client.call_tool(tool, bad)).is_error
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("no_such_tool", {})

    anyio.run(use)
