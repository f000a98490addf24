"""`zapomni cost`: what was used, for people and in JSON."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from zapomni.clock import system_clock
from zapomni.store.calls import Call
from zapomni.store.sqlite import open_sqlite
from zapomni.surfaces.cli.main import run

PAGE = Path(__file__).parents[2] / "docs" / "json.md"


@pytest.fixture
def cost(tmp_path, monkeypatch, capsys):
    for name, value in {"HOME": tmp_path, "ZAPOMNI_HOME": tmp_path, "ZAPOMNI_EMBEDDER_PROVIDER": "none"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)

    def cost(*words, **variables):
        for name, value in variables.items():
            monkeypatch.setenv(f"ZAPOMNI_LLM_{name}", value)
        status = run(["cost", *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return cost


@pytest.fixture
def used(tmp_path):
    store = open_sqlite(tmp_path / "memories.db")
    now = system_clock()

    def used(tokens_in, tokens_out, usd=None, days_ago=0, **fields):
        at = now - timedelta(days=days_ago)
        given = {"purpose": "ingest", "model": "openai:gpt-5-mini", **fields}
        store.calls.add_call(Call(at=at, tokens_in=tokens_in, tokens_out=tokens_out, usd=usd, **given))

    yield used
    store.close()


def test_without_a_model_nothing_is_missing(cost):
    status, out, err = cost()
    assert status == 0
    assert "0 of 500,000 tokens" in out
    assert "No language model is set" in err


@pytest.mark.promise("model.ledger")
def test_people_read_calls_tokens_and_money_by_purpose_and_model(cost, used):
    used(12_000, 345, 0.0123)
    used(1_000, 5, 0.5, purpose="ask", ok=False)
    used(10, 5, 1.0, days_ago=40)
    status, out, err = cost(MODEL="openai:gpt-5-mini", DAILY_USD="2", PRICE_IN="1", PRICE_OUT="8")
    assert status == 0
    assert re.search(r"today +13,350 of 500,000 tokens, \$0\.5123 of \$2\.00", out)
    assert re.search(r"7 days +2 calls \(1 failed\), 13,000 tokens in, 350 out, \$0\.5123", out)
    assert re.search(r"ingest by openai:gpt-5-mini +1 call, 12,000 tokens in", out)
    assert err == ""


def test_money_that_is_not_known_is_not_told_as_nothing(cost, used):
    used(100, 10)
    _, out, err = cost(MODEL="openai:gpt-5-mini")
    assert "price not known" in out
    assert "$0.0000" not in out
    assert "llm.price_in" in err
    used(100, 10, 0.25)
    assert "$0.2500 and 1 without a price" in cost()[1]


def test_a_model_cannot_write_to_the_terminal(cost, used):
    used(1, 1, model="evil:\x1b[2J\nsecond", purpose="in\x1bgest")
    _, out, _ = cost()
    assert "\x1b[2J" not in out
    assert "\nsecond" not in out


def test_the_json_is_the_documented_one(cost, used):
    used(12_000, 345, 0.0123)
    status, out, _ = cost("--json", "--days", "2")
    answer = json.loads(out)
    section = re.search(r"^## cost\n(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    example = json.loads(re.search(r"^```json\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)[1])
    assert status == 0
    assert answer.keys() == example.keys()
    for name in ("today", "total"):
        assert answer[name].keys() == example[name].keys()
    for name in ("totals", "days"):
        assert answer[name][0].keys() == example[name][0].keys()
    assert len(answer["days"]) == 2
    assert answer["total"]["usd"] == 0.0123


@pytest.mark.parametrize("days", ["0", "367", "x"])
def test_days_that_cannot_be_are_refused(cost, days):
    assert cost("--days", days)[0] == 2
