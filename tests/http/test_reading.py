"""The verbs of the reading memory over HTTP: the walk of article C, in both languages, and every way without a model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.http.web import Web

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.errors import BudgetSpent, ModelError
from zapomni.llm.base import Image
from zapomni.llm.scripted import ScriptedLlm
from zapomni.surfaces.http.call import BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Serve = Callable[..., Web]

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FILE = {"Content-Type": BYTES}
WALKS = [
    pytest.param(
        "Met with Alice today. Q3 budget is approved, $2.4M.",
        "What did Alice say about the budget",
        "Alice said that the Q3 budget is approved: $2.4M.",
        "Alice leads the Q3 budget.",
        "Alice leads the approved Q3 budget of $2.4M.",
        id="English",
    ),
    pytest.param(
        "Встретился с Алисой. Бюджет третьего квартала утверждён, 2,4 млн.",
        "Что Алиса сказала о бюджете",
        "Алиса сказала, что бюджет третьего квартала утверждён: 2,4 млн.",
        "Алиса ведёт бюджет третьего квартала.",
        "Алиса ведёт утверждённый бюджет третьего квартала: 2,4 млн.",
        id="Russian",
    ),
]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve the test's memory with the replies of a model by purpose, None for no model."""
    opened: list[Zapomni] = []

    def begin(replies: Any = None, **settings: Any) -> Web:
        llm = ScriptedLlm(replies) if replies is not None else None
        config = load({"home": tmp_path / "data", "embedder.provider": "none", **settings}, environ={}, cwd=tmp_path)
        opened.append(Zapomni(config, llm=llm, clock=lambda: NOW))
        return Web(opened[-1])

    yield begin
    for app in opened:
        app.close()


def fails(error: Exception) -> Callable[[Any], Any]:
    def reply(_: Any) -> Any:
        raise error

    return reply


@pytest.mark.promise("http.verbs")
@pytest.mark.parametrize(("told", "question", "fact", "other", "insight"), WALKS)
def test_a_text_is_ingested_asked_about_consolidated_and_listed(
    serve: Serve, told: str, question: str, fact: str, other: str, insight: str
) -> None:
    ids: list[str] = []

    def reply(task: Any) -> Any:
        if task.purpose == "ingest":
            return {"facts": [{"content": fact, "kind": "episodic", "quote": told}, {"content": other}]}
        if task.purpose == "consolidate":
            return {"insights": [{"statement": insight, "members": ids}]}
        return {"answer": f"{fact} [memory:{ids[0]}]", "found": True}

    web = serve(reply)
    came = web.good("POST", "/ingest", {"text": told, "source": "notes"})
    assert [(kept["content"], kept["source"]) for kept in came["memories"]] == [(fact, "notes"), (other, "notes")]
    ids += [kept["id"] for kept in came["memories"]]
    answer = web.good("GET", "/query", q=question)
    assert (answer["found"], [memory["id"] for memory in answer["memories"]]) == (True, ids[:1])
    done = web.good("POST", "/consolidate")
    assert [one["content"] for one in done["batches"][0]["insights"]] == [insight]
    assert [one["content"] for one in web.good("GET", "/insights")["insights"]] == [insight]
    assert web.good("GET", "/status")["memories"] == 3
    assert web.good("GET", "/memories")["total"] == 3
    spent = {one["purpose"]: one["calls"] for one in web.good("GET", "/cost")["totals"]}
    assert set(spent) >= {"ingest", "consolidate"}
    web.good("POST", f"/runs/{done['batches'][0]['run']}/undo")
    assert web.good("GET", "/insights")["count"] == 0
    web.good("POST", f"/runs/{came['run']}/undo")
    assert web.good("GET", "/memories")["total"] == 0


@pytest.mark.promise("http.verbs")
@pytest.mark.parametrize(
    ("name", "data", "content"),
    [
        ("заметки.md", "# Заметки\n\nРелиз в среду.\n".encode(), "Релиз в среду."),
        ("data.csv", b"name,city\nAda,London\n", "Ada lives in London."),
        ("plan.png", b"\x89PNG\r\n\x1a\n" + b"pixels", "The plan shows a pump."),
    ],
)
def test_a_file_is_ingested_by_its_name(serve: Serve, name: str, data: bytes, content: str) -> None:
    seen: list[bool] = []

    def reply(task: Any) -> Any:
        seen.append(any(isinstance(part, Image) for part in task.parts))
        return {"facts": [{"content": content}]}

    web = serve(reply)
    said = web("POST", "/ingest/file", data, headers=FILE, name=name)
    assert (said.status, [kept["content"] for kept in said.json["memories"]]) == (200, [content])
    assert (said.json["source"], seen) == (name, [name.endswith(".png")])


def test_a_file_that_is_nothing_to_read_is_refused(serve: Serve) -> None:
    web = serve({"facts": []})
    said = web("POST", "/ingest/file", b"\x00\x01\x02" * 100, headers=FILE, name="a.bin")
    assert (said.status, said.json["error"]["code"]) == (400, "invalid_input")


# --- without a model ------------------------------------------------------------------------------------
@pytest.mark.promise("http.verbs")
def test_without_a_model_a_text_is_stored_and_waits(serve: Serve) -> None:
    web = serve()
    said = web("POST", "/ingest", {"text": "Совещание перенесли на четверг."})
    assert (said.status, said.json["waiting"]) == (202, 1)
    assert "llm.model" in said.json["reason"]
    assert web.good("GET", "/memories/search", q="совещание в четверг")["count"] == 1


@pytest.mark.promise("http.verbs")
def test_without_a_model_a_question_says_what_it_needs_and_what_a_search_finds(serve: Serve) -> None:
    web = serve()
    web.good("POST", "/memories", {"content": "Совещание перенесли на четверг."})
    said = web("GET", "/query", q="когда совещание")
    assert (said.status, said.json["error"]["code"]) == (503, "unavailable")
    assert "llm.model" in said.json["error"]["message"]
    assert [memory["content"] for memory in said.json["memories"]] == ["Совещание перенесли на четверг."]


@pytest.mark.promise("http.verbs")
def test_without_a_model_consolidating_says_what_it_needs(serve: Serve) -> None:
    web = serve()
    for text in ("One thing.", "Another thing."):
        web.good("POST", "/memories", {"content": text})
    said = web("POST", "/consolidate")
    assert (said.status, "llm.model" in said.body.decode()) == (503, True)


@pytest.mark.promise("http.verbs")
def test_without_a_model_an_image_is_not_kept_and_that_is_said(serve: Serve) -> None:
    said = serve()("POST", "/ingest/file", b"\x89PNG\r\n\x1a\n" + b"pixels", headers=FILE, name="a.png")
    assert (said.status, said.json["error"]["code"]) == (503, "unavailable")
    assert said.json["skipped"]


@pytest.mark.parametrize(
    ("error", "status"),
    [(ModelError("the model is away"), 503), (BudgetSpent("the day is spent", retry_after=3_600), 429)],
)
def test_a_model_that_fails_is_told_beside_what_a_search_finds(serve: Serve, error: Exception, status: int) -> None:
    web = serve(fails(error))
    web.good("POST", "/memories", {"content": "The gate code is 7719."})
    said = web("GET", "/query", q="gate code")
    assert said.status == status
    assert said.json["memories"][0]["content"] == "The gate code is 7719."
    assert said.headers.get("retry-after") == ("3600" if status == 429 else None)


def test_a_consolidation_in_vain_changes_nothing_and_is_an_error(serve: Serve) -> None:
    web = serve(fails(ModelError("the model is away")))
    for text in ("One thing.", "Another thing."):
        web.good("POST", "/memories", {"content": text})
    said = web("POST", "/consolidate", {"all": True})
    assert (said.status, said.json["count"]) == (503, 0)
    assert web.good("POST", "/consolidate", {"dry_run": True})["scopes"][0]["memories"] == 2


@pytest.mark.parametrize(
    ("method", "path", "body", "query"),
    [
        ("POST", "/ingest", {"text": "A text.", "dry_run": True}, {}),
        ("GET", "/query", None, {"q": "a question", "dry_run": "true"}),
        ("POST", "/consolidate", {"dry_run": True}, {}),
    ],
)
def test_what_it_would_use_is_told_without_asking_a_model(
    serve: Serve, method: str, path: str, body: Any, query: dict[str, Any]
) -> None:
    web = serve(fails(AssertionError("a model was asked")))
    web.good("POST", "/memories", {"content": "One thing."})
    web.good("POST", "/memories", {"content": "Another thing."})
    told = web.good(method, path, body, **query)
    assert told["dry_run"] is True
    assert told["tokens_in"] > 0
    assert web.good("GET", "/memories")["total"] == 2


@pytest.mark.parametrize("text", ["", "  \n", None, 5, ["a"]])
def test_a_text_that_is_none_is_an_error_that_names_it(serve: Serve, text: Any) -> None:
    said = serve({"facts": []})("POST", "/ingest", {"text": text})
    assert said.status == 400
    assert "text" in said.json["error"]["message"]
