"""`zapomni ask`: an answer with its sources, what it would cost, and what there is without a model."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.test_docs import EXAMPLES, undocumented

from zapomni.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]
    Stored = Callable[..., str]


@pytest.fixture
def model(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set a model that gives these replies in turn, the last of them again and again."""

    def replies(*given: Any) -> None:
        file = home / "replies.json"
        file.write_text(json.dumps(given), encoding="utf-8")
        monkeypatch.setenv("ZAPOMNI_LLM_MODEL", f"scripted:{file}")

    return replies


@pytest.mark.promise("ask.cited")
def test_an_answer_comes_with_the_memories_that_it_cites(zap: Zap, stored: Stored, model: Callable[..., None]) -> None:
    one = stored("Met with Alice. Q3 budget is approved, 2.4M.", "--entity", "Alice", "--observed-at", "2026-02-01")
    stored("The gate is green.")
    model({"answer": f"Approved [memory:{one}]. Sold [memory:zzzz].", "found": True})
    result = zap("ask", "What did Alice say about the budget in February 2026?")
    assert result.status == 0
    assert f"Approved [memory:{one}]. Sold." in result.out
    assert "Met with Alice." in result.out
    assert "green" not in result.out
    assert "Taken out, for nothing of that id was read: zzzz" in result.err
    assert "Read first: from 2026-02-01, before 2026-03-01, about Alice" in result.err
    assert re.search(r"2 of 2 read by scripted:\S+: \d+ tokens in", result.err)


@pytest.mark.promise("ask.told")
def test_a_terminal_shows_what_is_read_while_the_model_thinks(
    zap: Zap, stored: Stored, model: Callable[..., None]
) -> None:
    stored("The gate is green.")
    model({"answer": "x", "found": False})
    assert "reading 1 of 1 memories, about " in zap("ask", "gate?", tty=True).err.splitlines()[0]
    assert "reading" not in zap("ask", "gate?").err
    assert "reading" not in zap("ask", "gate?", "--json", tty=True).err


def test_the_json_is_the_documented_one(zap: Zap, stored: Stored, model: Callable[..., None]) -> None:
    one = stored("Met with Alice.", "--entity", "Alice")
    answers = [f"Yes [memory:{one}, memory:zzzz]", "Yellow"]
    model(*({"answer": answer, "found": True} for answer in answers))
    for words in (["Alice?"], ["Alice?", "--dry-run"], ["submarine?"]):
        assert not undocumented(zap("ask", *words, "--json").json, EXAMPLES["ask"])


@pytest.mark.promise("ask.degrades")
def test_without_a_model_the_hits_come_with_the_status_of_what_is_away(zap: Zap, stored: Stored) -> None:
    stored("We never deploy on Friday.")
    result = zap("ask", "deploy", "on", "Friday?")
    assert result.status == Unavailable.exit_status
    assert "We never deploy on Friday." in result.out
    assert "llm.model" in result.err
    shape = zap("ask", "--json", "deploy on Friday?").json
    assert (shape["error"]["code"], shape["count"], shape["found"]) == ("unavailable", 1, False)


@pytest.mark.promise("ask.honest")
def test_words_without_a_source_are_told_apart_from_an_answer(
    zap: Zap, stored: Stored, model: Callable[..., None]
) -> None:
    stored("The gate is green.")
    model({"answer": "It is\x1b[2J yellow.", "found": True})
    result = zap("ask", "Which colour has the submarine?")
    assert result.status == 0
    assert result.out == "The memory does not hold the answer.\n"
    assert "yellow" in result.err
    assert "\x1b[2J" not in result.err


@pytest.mark.promise("ask.priced")
def test_a_dry_run_tells_the_price_and_asks_nobody(
    zap: Zap, stored: Stored, model: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored("The gate is green.")
    model("never asked")
    assert "price   not known" in zap("ask", "--dry-run", "gate?").out
    monkeypatch.setenv("ZAPOMNI_LLM_PRICE_IN", "1")
    monkeypatch.setenv("ZAPOMNI_LLM_PRICE_OUT", "10")
    result = zap("ask", "--dry-run", "gate?")
    assert re.search(r"read +1 of 1\ntokens +about \d+ in and 400 out\nprice +about \$0\.00\d\d", result.out)
    assert "The gate is green." in result.out
    assert zap("cost", "--json").json["total"]["calls"] == 0


@pytest.mark.promise("ask.selects")
def test_memories_may_be_picked_by_title(zap: Zap, stored: Stored, model: Callable[..., None]) -> None:
    one = stored("The gate is green.", "--title", "Gate")
    model({"ids": [one]}, {"answer": f"Green [memory:{one}]", "found": True})
    result = zap("ask", "--select", "--tag", "nothing", "gate?", "--json").json
    assert (result["found"], result["read"]) == (False, 0)
    result = zap("ask", "--select", "gate?", "--json").json
    assert (result["answer"], result["read"]) == (f"Green [memory:{one}]", 1)


def test_a_question_may_be_piped_in(zap: Zap, stored: Stored) -> None:
    stored("Мы не выкладываем по пятницам.")
    assert zap("ask", "-", "--json", stdin="что с пятницей?\n").json["count"] == 1
    assert zap("ask").status == 2
