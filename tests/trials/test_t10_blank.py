"""Trial T10: empty, blank and missing content or query.

There is no tool that stores a batch; what stands for it is an import, which names the lines that it does not keep.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.trials.conftest import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.trials.conftest import Desk

BLANKS = ["", "   \n\t", "\u200b\u200b", "\u00a0\u2003", "\u2060\ufeff", "\r\n", "\x00"]
NOTES = ["The first note is real.", "The second note is real."]


class Provider(BaseHTTPRequestHandler):
    """Answers every request for vectors and writes the texts down."""

    asked: list[str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        self.asked += texts
        rows = [{"index": no, "embedding": [1.0, float(len(text) % 7), 2.0]} for no, text in enumerate(texts)]
        answer = json.dumps({"data": rows, "model": body["model"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def provider() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Heard", (Provider,), {"asked": asked}))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk], provider: tuple[str, list[str]]) -> Iterator[Desk]:
    """A desk whose model is asked over the wire; what it is asked is checked when every test has run."""
    url, asked = provider
    desk = open_desk(
        ZAPOMNI_EMBEDDER_PROVIDER="openai",
        ZAPOMNI_EMBEDDER_BASE_URL=url,
        ZAPOMNI_EMBEDDER_MODEL="heard",
        ZAPOMNI_EMBEDDER_API_KEY="k-1",
        NO_PROXY="*",
        no_proxy="*",
    )
    for text in NOTES:
        desk.store(text)
    desk.wait_for_vectors()
    yield desk
    assert asked
    assert not [text for text in asked if not text.strip(" \n\t\r\0\u200b\u00a0\u2003\u2060\ufeff\ufffd")]


def is_refused(shape: dict[str, Any], name: str | tuple[str, ...]) -> bool:
    error = shape["error"]
    return bool(error["code"] == "invalid_input" and error["message"].startswith(name))


@pytest.mark.promise("write.blank", "mcp.errors")
@pytest.mark.parametrize("content", BLANKS, ids=ascii)
def test_blank_content_is_refused_by_the_name_of_its_field(desk: Desk, surface: str, content: str) -> None:
    assert is_refused(desk.ask(surface, "store", content), "content")
    assert desk.count() == len(NOTES)


@pytest.mark.promise("write.blank", "mcp.errors")
@pytest.mark.parametrize("arguments", [{}, {"content": None}, {"content": []}, {"content": {}}, {"content": False}])
@pytest.mark.parametrize("via", ["mcp", "http"])
def test_missing_content_is_a_failed_call_that_names_the_field(desk: Desk, via: str, arguments: dict[str, Any]) -> None:
    result = desk.tool(via, "store_memory", **arguments)
    assert result["isError"]
    assert is_refused(result["structuredContent"], "content")
    assert result["structuredContent"]["error"]["argument"] == "content"
    assert desk.count() == len(NOTES)


@pytest.mark.promise("write.blank")
@pytest.mark.parametrize("words", [(), ("-",)])
@pytest.mark.parametrize("piped", [b"", b"\n", b" \t\r\n", "\ufeff\u200b".encode()])
def test_an_empty_pipe_stores_nothing_and_says_so(desk: Desk, words: tuple[str, ...], piped: bytes) -> None:
    result = desk.run("store", "--json", *words, stdin=piped)
    assert (result.status, is_refused(result.json, "content")) == (2, True)
    assert desk.count() == len(NOTES)


def test_a_command_with_an_empty_pipe_fails_as_a_process_too(desk: Desk) -> None:
    done = desk.process("store", stdin=b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"content" in done.stderr
    assert b"Traceback" not in done.stderr


unseen = st.text(" \t\r\n\x0b\x0c\x1f\x85\u00a0\u1680\u2003\u2028\u200b\u200d\u2060\u3000\u3164\ufeff", max_size=20)


@pytest.mark.promise("write.blank")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=unseen, via=st.sampled_from(["mcp", "http"]))
def test_no_text_that_shows_nothing_is_stored_or_brings_anything(desk: Desk, content: str, via: str) -> None:
    assert is_refused(desk.ask(via, "store", content), "content")
    asked = desk.ask(via, "recall", content)
    assert asked.get("memories") == [] or is_refused(asked, "query")
    assert desk.count() == len(NOTES)


@pytest.mark.promise("write.blank")
@pytest.mark.parametrize("content", BLANKS, ids=ascii)
def test_blank_content_does_not_replace_a_text(desk: Desk, surface: str, content: str) -> None:
    stored = desk.good("mcp", "list")["memories"][0]
    # Over MCP a blank optional argument counts as left out, and then nothing is left to change.
    assert is_refused(desk.ask(surface, "update", stored["id"], content), ("content", "patch"))
    assert desk.good("mcp", "show", stored["id"])["content"] == stored["content"]


@pytest.mark.promise("mcp.errors")
@pytest.mark.parametrize("query", ["", "   ", "\n\t"], ids=ascii)
def test_a_blank_question_is_an_error_and_brings_no_memory(desk: Desk, surface: str, query: str) -> None:
    assert is_refused(desk.ask(surface, "recall", query), "query")


@pytest.mark.promise("mcp.errors")
@pytest.mark.parametrize("arguments", [{}, {"query": None}, {"query": []}])
def test_a_missing_question_is_an_error_and_brings_no_memory(desk: Desk, arguments: dict[str, Any]) -> None:
    for via in ("mcp", "http"):
        assert is_refused(desk.tool(via, "recall_memory", **arguments)["structuredContent"], "query")
    result = desk.run("recall", "--json", stdin=b"")
    assert (result.status, is_refused(result.json, "query")) == (2, True)


@pytest.mark.promise("exchange.bad-lines")
@pytest.mark.parametrize("blank", BLANKS, ids=ascii)
def test_a_batch_keeps_its_real_notes_and_names_the_blank_one(open_desk: Callable[..., Desk], blank: str) -> None:
    desk = open_desk()
    batch = lines_of({"content": NOTES[0]}, {"content": blank}, {"content": NOTES[1]})
    result = desk.run("import", "--json", "-", stdin=batch)
    assert (result.status, result.json["imported"]) == (2, 2)
    assert [bad["line"] for bad in result.json["bad"]] == [2]
    page = desk.run("list", "--json").json
    assert sorted(memory["content"] for memory in page["memories"]) == NOTES
