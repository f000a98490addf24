"""Trial T11: NUL, terminal escapes and lone surrogates.

Out of reach until it is built: Postgres; a document that holds a NUL (INDEX, SEARCH-DOCS).
"""

from __future__ import annotations

import json
import re
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.servers import post
from tests.trials.conftest import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trials.conftest import Desk

RAW = {
    "FIG-1": r'{"content":"in front\u0000behind FIG-1"}',
    "FIG-2": r'{"content":"shade \u001b[31mred\u001b[0m \u009b2J\u0007\u0008 FIG-2"}',
    "FIG-3": r'{"content":"half a face \ud83d FIG-3"}',
    "FIG-4": r'{"content":"fine FIG-4","title":"t\u0000t","tags":["a\u0000b","\udc00c"],"entities":["\ud800Ada"]}',
    "FIG-5": r'{"content":"wrong way round \ude00\ud83d FIG-5","metadata":{"k\ud800":"v\u0000"}}',
    "FIG-6": r'{"content":"a whole face \ud83d\ude00 FIG-6","description":"\u001b]0;owned\u0007"}',
}
CONTENTS = {
    "FIG-1": "in front\ufffdbehind FIG-1",
    "FIG-2": "shade \x1b[31mred\x1b[0m \x9b2J\x07\x08 FIG-2",
    "FIG-3": "half a face \ufffd FIG-3",
    "FIG-4": "fine FIG-4",
    "FIG-5": "wrong way round \ufffd\ufffd FIG-5",
    "FIG-6": "a whole face \U0001f600 FIG-6",
}
HARMFUL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
IDS = count()


def send(desk: Desk, via: str, tool: str, arguments: str) -> dict[str, Any]:
    """Call a tool with arguments written as JSON by hand, escapes and all."""
    name = f"raw-{next(IDS)}"
    message = '{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"%s","arguments":%s}}'
    line = (message % (name, tool, arguments)).encode("ascii")
    if via == "http":
        status, answer = post(desk.web, line)
        assert (status, answer["id"]) == (200, name)
    else:
        desk.mcp.send(line + b"\n")
        answer = desk.mcp.reply(name)
    result: dict[str, Any] = answer["result"]
    return result


@pytest.mark.promise("write.verbatim")
@pytest.mark.parametrize("via", ["mcp", "http"])
def test_what_no_store_can_hold_is_replaced_named_and_the_rest_is_kept_and_found(
    open_desk: Callable[..., Desk], via: str
) -> None:
    desk = open_desk()
    for word, arguments in RAW.items():
        result = send(desk, via, "store_memory", arguments)
        shape = result["structuredContent"]
        assert not result["isError"], shape
        told = json.dumps([shape.get("warnings"), shape.get("notes")])
        assert ("U+FFFD" in told) == ("\ufffd" in CONTENTS[word] or word == "FIG-4"), told
        (found, *_) = desk.good(via, "recall", word)["memories"]
        assert found["content"] == CONTENTS[word]
        assert desk.good(via, "show", shape["id"])["content"] == CONTENTS[word]
    assert desk.good(via, "store", "An ordinary note.")["status"] == "created"
    no_terminal_is_obeyed(desk)
    nothing_else_is_in_the_export(desk)


def no_terminal_is_obeyed(desk: Desk) -> None:
    ids = [memory["id"] for memory in desk.good("mcp", "list", limit=100)["memories"]]
    commands = [("list",), ("list", "--full"), ("recall", "FIG"), ("stats",), ("list", "--json")]
    for words in (*commands, *(("show", one) for one in ids), *(("history", one) for one in ids)):
        result = desk.run(*words, tty="--json" not in words)
        plain = re.sub(r"\x1b\[\d*m", "", result.out + result.err)  # the colours of our own
        assert result.status == 0
        assert not HARMFUL.search(plain.encode()), words
        assert "[31mred" not in result.out.replace("\\x1b[31mred", "").replace("\\u001b[31mred", ""), words
    done = desk.process("list", "--full")
    assert not HARMFUL.search(done.stdout + done.stderr)
    assert b"ordinary" in done.stdout


def nothing_else_is_in_the_export(desk: Desk) -> None:
    file = desk.home / "all.jsonl"
    assert desk.process("export", str(file)).returncode == 0
    rows = [json.loads(line) for line in file.read_bytes().decode("utf-8").splitlines()]
    written = json.dumps(rows, ensure_ascii=False)
    assert all(json.dumps(content, ensure_ascii=False) in written for content in CONTENTS.values())
    written.encode("utf-8")


any_text = st.text(st.characters() | st.characters(categories=["Cs"]) | st.sampled_from("\0\x1b\x9b\r\n"), max_size=30)


@pytest.mark.promise("write.verbatim")
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=any_text, via=st.sampled_from(["mcp", "http"]))
def test_any_json_text_gets_a_reply_and_comes_back_with_nothing_but_the_unstorable_replaced(
    trays: Desk, text: str, via: str
) -> None:
    content = f"kept {text} whole"
    arguments = json.dumps({"content": content, "title": f"of {text}", "scope": f"project:{next(IDS)}"})
    result = send(trays, via, "store_memory", arguments)
    assert not result["isError"], result
    joined = json.loads(json.dumps(content)).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    shown = trays.good(via, "show", result["structuredContent"]["id"], scope="all")
    assert shown["content"] == joined.replace("\0", "\ufffd")
    assert not send(trays, via, "recall_memory", json.dumps({"query": content}))["isError"]


@pytest.fixture(scope="module")
def trays(open_desk: Callable[..., Desk]) -> Desk:
    return open_desk()


@pytest.mark.promise("exchange.bad-lines")
def test_a_batch_loses_none_of_its_notes_to_a_bad_one(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    batch = lines_of(
        {"content": "good FIG-7"}, {"content": "bad \0\ud800 FIG-8"}, {"content": "good FIG-9", "tags": ["\0"]}
    )
    raw = (
        batch
        + b'{"content":"cut in the mid\n'
        + b'{"content":"not \xff UTF-8 FIG-11"}\n'
        + lines_of({"content": "FIG-12"})
    )
    came = desk.run("import", "--json", "-", stdin=raw).json
    stored = " ".join(memory["content"] for memory in desk.run("list", "--json").json["memories"])
    named = {entry["line"] for entry in (*came["bad"], *came["notes"])}
    for line, word in enumerate(["FIG-7", "FIG-8", "FIG-9", "FIG-10", "FIG-11", "FIG-12"], 1):
        assert word in stored or line in named, word
    assert {"FIG-7", "FIG-12"} <= set(stored.split())
    assert 2 in named
    assert desk.good("mcp", "store", "An ordinary note.")["status"] == "created"


@pytest.mark.promise("cli.statuses")
@pytest.mark.parametrize("text", [b"in front\x00behind FIG-13", b"\x1b[31mred FIG-14", b"half \xed\xa0\xbd FIG-15"])
def test_bytes_from_a_pipe_are_stored_or_refused_by_name(open_desk: Callable[..., Desk], text: bytes) -> None:
    desk = open_desk()
    done = desk.process("store", "-", stdin=text)
    assert not HARMFUL.search(done.stdout + done.stderr)
    assert (done.returncode == 0 and b"created" in done.stdout) or (done.returncode == 2 and b"content" in done.stderr)
    assert (desk.run("stats", "--json").json["memories"] == 1) == (done.returncode == 0)
