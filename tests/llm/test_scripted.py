"""The written model: replies in order, through the same reading as any model's."""

from __future__ import annotations

import json

import pytest
from tests.llm.samples import settings

from zapomni.errors import ConfigError, ModelError
from zapomni.llm.base import Usage
from zapomni.llm.checked import Raw
from zapomni.llm.registry import make_llm
from zapomni.llm.scripted import ScriptedLlm


def test_replies_are_given_in_order_and_every_request_is_kept(task):
    llm = ScriptedLlm(
        [{"summary": "один"}, '```json\n{"summary": "two"}\n```', lambda asked: {"summary": asked.purpose}]
    )
    assert [llm.ask(task()).value["summary"] for _ in range(3)] == ["один", "two", "ingest"]
    assert [call.task.parts[0].text for call in llm.calls] == [task().parts[0].text] * 3
    assert (llm.label, llm.local) == ("scripted:scripted", True)


def test_a_lone_function_answers_everything(task):
    llm = ScriptedLlm(lambda asked: asked.parts[0].text)
    assert [llm.ask(task(text, schema=None)).value for text in ("да", "no")] == ["да", "no"]


def test_an_error_is_raised_and_the_next_reply_stands(task):
    llm = ScriptedLlm([ModelError("away"), {"summary": "back"}])
    with pytest.raises(ModelError, match="away"):
        llm.ask(task())
    assert llm.ask(task()).value == {"summary": "back"}


def test_a_script_that_has_run_out_says_so(task):
    with pytest.raises(ModelError, match="no reply left for request 1"):
        ScriptedLlm([]).ask(task())


@pytest.mark.promise("model.replies")
def test_the_repair_round_shows_the_model_its_reply_and_what_is_wrong(task):
    llm = ScriptedLlm(['{"importance": 1}', {"summary": "ok"}])
    reply = llm.ask(task())
    assert reply.value == {"summary": "ok"}
    turn = llm.calls[1].turn
    assert turn.reply == '{"importance": 1}'
    assert '{"required": ["summary"]}' in turn.request


@pytest.mark.promise("model.replies")
def test_there_is_one_repair_round_and_no_more(task):
    llm = ScriptedLlm(["no", "no", {"summary": "too late"}])
    with pytest.raises(ModelError, match="holds no JSON"):
        llm.ask(task())
    assert len(llm.calls) == 2


@pytest.mark.parametrize("second", [ModelError("away"), Raw(text="", finish="declined"), "no"])
@pytest.mark.promise("model.ledger")
def test_tokens_of_a_first_reply_are_told_by_whatever_ends_the_second(task, second):
    llm = ScriptedLlm([Raw(text="no", usage=Usage(tokens_in=100, tokens_out=7)), second])
    with pytest.raises(ModelError) as caught:
        llm.ask(task())
    assert caught.value.tokens_in >= 100
    assert caught.value.tokens_out >= 7


def test_a_file_holds_replies_for_each_purpose_and_the_last_one_stays(task, tmp_path):
    file = tmp_path / "replies.json"
    file.write_text(json.dumps({"ingest": [{"summary": "a"}, {"summary": "b"}], "ask": ["Да."]}), encoding="utf-8")
    llm = make_llm(settings("scripted", name=str(file)))
    assert llm.ask(task(purpose="ask", schema=None)).value == "Да."
    assert [llm.ask(task()).value["summary"] for _ in range(3)] == ["a", "b", "b"]
    with pytest.raises(ModelError, match="no replies for consolidate"):
        llm.ask(task(purpose="consolidate"))


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}", '{"ingest": []}', '"text"', "[" * 100_000])
def test_a_file_without_replies_is_a_bad_setting(tmp_path, content):
    file = tmp_path / "replies.json"
    if content is not None:
        file.write_text(content)
    if content == "{}":
        assert make_llm(settings("scripted", name=str(file))) is not None
        return
    with pytest.raises(ConfigError, match=r"llm\.model"):
        make_llm(settings("scripted", name=str(file)))
