"""Trial T40: answers that fit the client.

Out of reach until it is built: the graph, the list of documents, the list of consolidations, ASK.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.trials.conftest import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trials.conftest import Desk

LIMIT = 100_000
LONG, SHORT = 120, 1_500
SENTENCE = "The harbour book tells of ropes, of tides and of a причал; "


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    """A store with many long memories and thousands of short ones."""
    desk = open_desk()
    long = [{"content": (f"Page {no}. " + SENTENCE * 90)[:5_000]} for no in range(LONG)]
    short = [{"content": f"Slip {no} about a crate of apples", "tags": [f"crate-{no}"]} for no in range(SHORT)]
    assert desk.run("import", "-", stdin=lines_of(*long, *short)).status == 0
    desk.store(whole(), key="whole")
    return desk


def whole() -> str:
    return "".join(f"Verse {no} of the anchor song. " for no in range(10_000))[:99_990] + " the end"


def size(result: dict[str, Any]) -> int:
    return len(json.dumps(result, ensure_ascii=False).encode())


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("recall_memory", {"query": "harbour"}),
    ("recall_memory", {"query": "harbour", "limit": 20}),
    ("recall_memory", {"query": "harbour", "limit": 100, "explain": True}),
    ("recall_memory", {"query": "crate of apples", "limit": 100}),
    ("recall_memory", {"query": "anchor song"}),
    ("list_memories", {}),
    ("list_memories", {"limit": 1000}),
    ("list_memories", {"limit": 1000, "since": "1d"}),
    ("memory_stats", {}),
    ("memory_stats", {"scope": "all"}),
]


@pytest.mark.promise("mcp.small")
@pytest.mark.parametrize("via", ["mcp", "http"])
@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_every_answer_is_small_and_what_is_cut_says_so(
    desk: Desk, via: str, tool: str, arguments: dict[str, Any]
) -> None:
    result = desk.tool(via, tool, **arguments)
    assert not result["isError"]
    assert size(result) <= LIMIT
    shape = result["structuredContent"]
    if tool == "memory_stats":
        assert shape["memories"] == LONG + SHORT + 1
        assert shape["tags_left_out"] > 0
        return
    assert shape["count"] == len(shape["memories"]) > 0
    assert "total" in shape or tool == "recall_memory"
    for memory in shape["memories"]:
        assert memory["id"]
        original = desk.good(via, "show", memory["id"]) if memory.get("cut") else memory
        assert bool(memory.get("cut")) == (original is not memory)
        assert not memory.get("cut") or memory["length"] >= len(memory["content"])
        if via == "http" or tool == "recall_memory":
            break


@pytest.mark.promise("mcp.errors")
@pytest.mark.parametrize("via", ["mcp", "http"])
@pytest.mark.parametrize(
    ("tool", "arguments"), [("recall_memory", {"query": "harbour", "limit": 200}), ("list_memories", {"limit": 5_000})]
)
def test_too_large_a_request_is_refused_with_what_is_allowed(
    desk: Desk, via: str, tool: str, arguments: dict[str, Any]
) -> None:
    error = desk.tool(via, tool, **arguments)["structuredContent"]["error"]
    assert error["argument"] == "limit"
    assert "from 1 to" in error["message"]
    assert desk.good(via, "list", limit=1)["count"] == 1


@pytest.mark.promise("list.paging")
def test_pages_bring_everything_once_however_many_were_asked_for(desk: Desk) -> None:
    seen: list[str] = []
    cursor, pages = None, 0
    while pages == 0 or cursor:
        result = desk.tool("mcp", "list_memories", limit=1000, cursor=cursor)
        assert size(result) <= LIMIT
        shape = result["structuredContent"]
        assert shape["total"] == LONG + SHORT + 1
        seen += [memory["id"] for memory in shape["memories"]]
        cursor, pages = shape["next"], pages + 1
    assert len(seen) == len(set(seen)) == LONG + SHORT + 1


@pytest.mark.promise("mcp.small")
@pytest.mark.parametrize("via", ["mcp", "http"])
def test_a_long_memory_is_cut_in_a_list_and_read_whole_in_parts(desk: Desk, via: str) -> None:
    (hit, *_) = desk.good(via, "recall", "verse of the anchor song")["memories"]
    assert (hit["cut"], hit["length"]) == (True, len(whole()))
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        result = desk.tool(via, "list_memories", id=hit["id"], offset=offset)
        assert size(result) <= LIMIT
        parts.append(result["structuredContent"]["content"])
        offset = result["structuredContent"].get("next_offset")
    assert "".join(parts) == whole()
    assert desk.run("show", "--json", hit["id"]).json["content"] == whole()


@pytest.mark.promise("write.limits")
def test_a_text_that_no_memory_holds_is_refused_by_its_limit_on_every_surface(desk: Desk, surface: str) -> None:
    text = "harbour " * 37_500
    if surface == "cli":
        result = desk.run("store", "--json", "-", stdin=text.encode())
        assert result.status == 2
        error = result.json["error"]
    else:
        error = desk.ask(surface, "store", text)["error"]
    assert error["message"].startswith("content")
    assert "100,000" in error["message"]
    assert error["remedy"]
    assert len(json.dumps(error)) < 2_000


@pytest.mark.promise("write.limits")
@pytest.mark.parametrize("field", ["title", "description", "tags", "path", "source", "key", "metadata", "entities"])
def test_each_field_over_its_limit_is_refused_by_name_and_nothing_is_stored(desk: Desk, field: str) -> None:
    before = desk.count()
    text = "x" * 30_000
    value: Any = [text] if field in {"tags", "entities"} else {"k": text} if field == "metadata" else text
    error = desk.ask("mcp", "store", f"A note with a {field}.", **{field: value})["error"]
    assert error["argument"] == field
    assert "at most" in error["message"]
    assert len(json.dumps(error)) < 5_000
    assert desk.count() == before
