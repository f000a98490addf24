"""Trial T34: optional arguments sent as null, empty text, an empty list or left out, for every tool."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from tests.trials.conftest import tells_nothing_inner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.trials.conftest import Desk

NUMBERS = count()
NOTES = [("The ferry leaves at six.", "boat"), ("The tram leaves at seven.", "rail")]
LEFT_OUT: list[Any] = [None, "", "  ", [], {}]
QUIET = {"id", "at", "version", "created_at", "updated_at", "accessed_at", "access_count", "bytes", "memories"}


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    desk = open_desk()
    for text, tag in NOTES:
        desk.store(text, tags=[tag])
    return desk


def tools(desk: Desk) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = desk.mcp.ask("tools/list")["result"]["tools"]
    return listed


def optional(tool: dict[str, Any]) -> Iterator[str]:
    yield from (
        name for name in tool["inputSchema"]["properties"] if name not in tool["inputSchema"].get("required", ())
    )


def filled(desk: Desk, tool: str) -> dict[str, Any]:
    """The required arguments of a call that works, and one change for an update."""
    text = f"Made for a call, number {next(NUMBERS)}."
    match tool:
        case "store_memory":
            return {"content": text}
        case "recall_memory" | "semantic_search":
            return {"query": "when does the ferry leave"}
        case "update_memory":
            return {"id": desk.store(text), "content": f"{text} Changed."}
        case "delete_memory":
            return {"id": desk.store(text)}
    return {}


def gist(result: dict[str, Any]) -> Any:
    """An answer without what differs from call to call."""
    shape = result["structuredContent"]
    told = {name: value for name, value in shape.items() if name not in QUIET}
    return result["isError"], json.loads(json.dumps(told))


@pytest.mark.promise("mcp.tolerant")
@pytest.mark.parametrize("via", ["mcp", "http"])
def test_each_optional_argument_without_a_value_counts_as_left_out_or_is_named(desk: Desk, via: str) -> None:
    for tool in tools(desk):
        for name in optional(tool):
            given = filled(desk, tool["name"])
            for blank in LEFT_OUT:
                if name in given:  # the change itself: without it there is none to make
                    answer = desk.tool(via, tool["name"], **{**given, "title": "t", name: blank})
                    assert not answer["isError"], (name, blank)
                    continue
                read = tool["annotations"]["readOnlyHint"]
                left_out = desk.tool(via, tool["name"], **(given if read else filled(desk, tool["name"])))
                sent = desk.tool(via, tool["name"], **{**(given if read else filled(desk, tool["name"])), name: blank})
                assert gist(sent)[0] is False, (tool["name"], name, blank, sent)
                assert differences(gist(sent)[1], gist(left_out)[1]) <= {"similar", "tags", "kinds", "scopes"}
                if read and "memories" in left_out["structuredContent"]:
                    assert ids(sent) == ids(left_out), (tool["name"], name, blank)


def differences(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {name for name in {*one, *other} if one.get(name) != other.get(name)}


def ids(result: dict[str, Any]) -> Any:
    memories = result["structuredContent"]["memories"]
    return [memory["id"] for memory in memories] if isinstance(memories, list) else memories


@pytest.mark.promise("mcp.tolerant")
@pytest.mark.parametrize("via", ["mcp", "http"])
@pytest.mark.parametrize("blank", LEFT_OUT, ids=repr)
def test_all_optional_arguments_may_be_blank_at_once(desk: Desk, via: str, blank: Any) -> None:
    for tool in tools(desk):
        arguments = {**dict.fromkeys(optional(tool), blank), **filled(desk, tool["name"])}
        result = desk.tool(via, tool["name"], **arguments)
        assert not result["isError"], (tool["name"], result)
    whole = desk.tool(via, "recall_memory", query="ferry", **dict.fromkeys(["tags", "kind", "limit", "mode"], blank))
    assert whole["structuredContent"]["memories"][0]["content"] == NOTES[0][0]


@pytest.mark.promise("mcp.tolerant", "mcp.errors")
@pytest.mark.parametrize("word", ["null", "None", "undefined"])
def test_the_word_null_is_never_taken_for_a_project_a_tag_or_a_date(desk: Desk, word: str) -> None:
    before = desk.good("mcp", "stats", scope="all")["scopes"]
    for tool in tools(desk):
        for name in optional(tool):
            given = filled(desk, tool["name"])
            clears = word == "None" and tool["name"] == "update_memory"
            result = desk.tool("mcp", tool["name"], **{**given, name: word})
            tells_nothing_inner(result)
            if not (clears and name not in {"scope", "move_to", "version"}):
                assert result["isError"], (tool["name"], name, result)
                assert result["structuredContent"]["error"]["argument"] == name
    after = desk.good("mcp", "stats", scope="all")["scopes"]
    assert set(after) == set(before)


@pytest.mark.promise("mcp.errors")
@pytest.mark.parametrize("blank", ["", "  ", None, [], {}], ids=repr)
@pytest.mark.parametrize("tool", ["update_memory", "delete_memory"])
def test_a_change_without_an_id_is_refused_and_changes_nothing(desk: Desk, tool: str, blank: Any) -> None:
    before = desk.good("mcp", "list", limit=1000)
    for more in ({}, {"scope": "all"}, {"title": "x", "content": "y"}):
        for arguments in ({"id": blank, **more}, more):
            result = desk.tool("mcp", tool, **arguments)
            assert result["isError"]
            assert result["structuredContent"]["error"]["argument"] in ({"id"} if "title" in more else {"id", "patch"})
    assert desk.good("mcp", "list", limit=1000) == before


WIDE = [
    ["delete", "--yes", "--tag", ""],
    ["delete", "--yes", "--tag", " ", "--tag", "boat"],
    ["delete", "--yes", "--since", ""],
    ["delete", "--yes", "--path", ""],
    ["delete", "--yes", "--entity", "", "--kind", "semantic"],
    ["delete", "--yes", "--scope", "", "--tag", "boat"],
    ["delete", "--yes", ""],
    ["delete", "--yes", "--scope", "all"],
    ["update", "", "other text"],
    ["export", "--scope", "", "out.jsonl"],
    ["export", "--scope", " ", "out.jsonl"],
    ["undo", "--run", ""],
    ["import", "--mode", "replace", "--scope", "", "one.jsonl"],
    ["import", "--mode", "replace", "--scope", " ", "one.jsonl"],
]


@pytest.mark.promise("cli.statuses")
@pytest.mark.parametrize("words", WIDE, ids=" ".join)
def test_a_blank_filter_never_widens_a_command_that_changes_or_exports(
    open_desk: Callable[..., Desk], words: list[str]
) -> None:
    desk = open_desk()
    for text, tag in NOTES:
        assert desk.run("store", text, "--tag", tag).status == 0
    (desk.home / "one.jsonl").write_text('{"content": "The only note of a file."}\n')
    before = desk.run("list", "--json").out
    result = desk.run(*words)
    assert result.status in {2, 3, 6}, result
    assert result.err.startswith(("error: ", "failed: "))
    tells_nothing_inner(result.err)
    assert desk.run("list", "--json").out == before
    assert not (desk.home / "out.jsonl").exists()
