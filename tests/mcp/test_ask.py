"""The tool `ask_memory`: seen in the full profile alone, its answer carries what it cites as quoted data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
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
