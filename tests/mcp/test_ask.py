"""The tool `ask_memory`: seen in the full profile alone, its answer carries what it cites as quoted data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.mcp.conftest import META, Server
from tests.mcp.test_tools import call, good, open_in, problem

from zapomni.surfaces.mcp.tools import offered
from zapomni.text.fence import MARKER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def replied(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return the settings under which a model gives these replies."""

    def settings(*replies: Any) -> dict[str, Any]:
        file = tmp_path / "replies.json"
        file.write_text(json.dumps(replies), encoding="utf-8")
        return {"mcp.tools": "full", "llm.model": f"scripted:{file}"}

    return settings


def test_it_is_offered_only_where_every_tool_is(tmp_path: Path) -> None:
    assert "ask_memory" not in {tool.name for tool in offered("core")}
    assert "ask_memory" in {tool.name for tool in offered("full")}
    with open_in(tmp_path) as app:
        assert "not switched on" in problem(app, "ask_memory", question="x")["message"]


@pytest.mark.promise("ask.cited")
def test_an_answer_carries_what_it_cites_in_fences(tmp_path: Path, replied: Callable[..., Any]) -> None:
    with open_in(tmp_path, **{"mcp.tools": "full"}) as app:
        one = app.remember("Бюджет утверждён, 2,4 млн.", key="one").id
    with open_in(tmp_path, **replied({"answer": f"Утверждён [memory:{one}][memory:zzzz]", "found": True})) as app:
        answer = call(app, "ask_memory", question="что с бюджетом?", tags=None, select="false", budget="5000")
        assert not answer.failed
        assert answer.shape["answer"] == f"Утверждён [memory:{one}]"
        assert [row["id"] for row in answer.shape["memories"]] == [one]
        assert answer.shape["unknown"] == ["zzzz"]
        assert MARKER in answer.text
        filtered = good(app, "ask_memory", question="что с бюджетом?", entities=["Алиса"])
        assert (filtered["found"], filtered["read"]) == (False, 0)


@pytest.mark.promise("ask.degrades")
def test_without_a_model_the_call_fails_and_carries_the_hits(tmp_path: Path) -> None:
    with open_in(tmp_path, **{"mcp.tools": "full"}) as app:
        app.remember("We never deploy on Friday.")
        answer = call(app, "ask_memory", question="deploy on Friday?")
        assert answer.failed
        assert "llm.model" in answer.shape["error"]["message"]
        assert "recall_memory" in answer.shape["error"]["remedy"]
        assert answer.shape["count"] == 1
        assert "We never deploy" in answer.text


@pytest.mark.promise("ask.told")
@pytest.mark.parametrize("modern", [False, True])
def test_a_client_with_a_progress_token_is_told_what_is_read_before_the_answer(
    tmp_path: Path, start: Callable[..., Server], replied: Callable[..., Any], *, modern: bool
) -> None:
    replies = replied({"answer": "x", "found": False})["llm.model"]
    server = start(ZAPOMNI_MCP_TOOLS="full", ZAPOMNI_LLM_MODEL=replies)
    if not modern:
        server.handshake()
    server.call("store_memory", content="Ворота зелёные.", modern=modern)
    meta = {**(META if modern else {}), "progressToken": "t-1"}
    call = {"name": "ask_memory", "arguments": {"question": "ворота?"}, "_meta": meta}
    server.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call})
    assert not server.reply(7)["result"]["isError"]
    (told,) = [message for message in server.messages if message.get("method") == "notifications/progress"]
    assert (told["params"]["progressToken"], told["params"]["progress"]) == ("t-1", 0.5)
    assert told["params"]["message"].startswith("reading 1 of 1 memories, about ")
    assert server.messages.index(told) < server.messages.index(server.reply(7))
    server.call("ask_memory", question="ворота?", modern=modern)
    assert sum(message.get("method") == "notifications/progress" for message in server.messages) == 1


@pytest.mark.promise("ask.told")
def test_over_http_without_sessions_a_progress_token_harms_nothing(
    tmp_path: Path, start: Callable[..., Server], replied: Callable[..., Any], post: Callable[..., Any]
) -> None:
    replies = replied({"answer": "x", "found": False})["llm.model"]
    server = start("--http", "--port", "0", ZAPOMNI_MCP_TOOLS="full", ZAPOMNI_LLM_MODEL=replies)
    url = server.line_of_errors("listens").split()[-1]
    for tool, arguments in (("store_memory", {"content": "Ворота."}), ("ask_memory", {"question": "ворота?"})):
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": 1}}
        status, answer = post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        assert (status, answer["result"]["isError"]) == (200, False)
