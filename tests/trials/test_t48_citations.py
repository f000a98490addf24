"""Trial T48: citations only to what was really read; and of T47 what concerns an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from zapomni.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trials.conftest import Desk

PUMP, FILTER, SOLD = "The pump was replaced in May", "The filter is due in June", "The pump was sold"
QUESTION = "what happened to the pump"
MADE_UP = "00000000-dead-beef-0000-000000000000"
VIA = ("cli", "mcp")


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk], tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Three memories of two projects, and a model whose replies are written down before each question."""
    replies = tmp_path_factory.mktemp("replies") / "replies.json"
    replies.write_text("[{}]", encoding="utf-8")
    made = open_desk(ZAPOMNI_LLM_MODEL=f"scripted:{replies}", ZAPOMNI_MCP_TOOLS="full")
    for content, scope in ((PUMP, "project:one"), (FILTER, "project:one"), (SOLD, "project:two")):
        made.run("store", "--scope", scope, "--key", content[:12], content)
    return made


def ids(desk: Desk) -> dict[str, str]:
    page = desk.run("list", "--scope", "all", "--json").json
    return {memory["content"]: memory["id"] for memory in page["memories"]}


def asked(desk: Desk, via: str, question: str, reply: Any) -> dict[str, Any]:
    """Ask in project one with this reply of the model; a server of its own reads it at its start."""
    replies = Path(desk.settings["ZAPOMNI_LLM_MODEL"].partition(":")[2])
    replies.write_text(json.dumps([reply]), encoding="utf-8")
    if via == "cli":
        shape: dict[str, Any] = desk.run("ask", "--scope", "project:one", "--json", "--", question).json
        return shape
    server = desk.serve()
    server.handshake()
    shape = server.call("ask_memory", question=question, scope="project:one")["structuredContent"]
    server.stop()
    return shape


@pytest.mark.promise("ask.cited")
@pytest.mark.parametrize("via", VIA)
def test_only_what_was_read_is_a_source(desk: Desk, via: str) -> None:
    known = ids(desk)
    cited = f"Replaced [memory:{known[PUMP]}], then sold [memory:{known[SOLD]}] [memory:{MADE_UP}]."
    shape = asked(desk, via, QUESTION, {"answer": cited, "found": True})
    assert [memory["id"] for memory in shape["memories"]] == [known[PUMP]]
    assert set(shape["unknown"]) == {known[SOLD], MADE_UP}
    assert known[SOLD] not in shape["answer"]
    assert MADE_UP not in shape["answer"]


@pytest.mark.promise("ask.honest")
@pytest.mark.parametrize("via", VIA)
def test_an_answer_without_a_source_is_marked(desk: Desk, via: str) -> None:
    for question, reply in ((QUESTION, "It was replaced."), ("submarine colour", "It is yellow.")):
        shape = asked(desk, via, question, {"answer": reply, "found": True})
        assert (shape["found"], shape["memories"], shape["unsupported"]) == (False, [], reply)
        assert reply not in shape["answer"]


@pytest.mark.promise("ask.degrades")
@pytest.mark.parametrize("reply", ["", "I'm sorry, I can't help with that.", {"status": 500}])
def test_a_refusal_is_no_answer_and_no_memory(desk: Desk, reply: Any) -> None:
    before = ids(desk)
    for via in VIA:
        shape = asked(desk, via, QUESTION, reply)
        assert shape["error"]["code"] == "model"
        assert PUMP in {memory["content"] for memory in shape["memories"]}
    assert desk.run("ask", "--scope", "project:one", QUESTION).status == Unavailable.exit_status
    assert ids(desk) == before
