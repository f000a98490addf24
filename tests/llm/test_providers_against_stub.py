"""Trials T47 and T48: what a provider can do wrong, done by a process of its own."""

from __future__ import annotations

import pytest
from tests.llm.samples import KEY, settings

from zapomni.errors import ModelError
from zapomni.llm.registry import make_llm

GOOD = '{"summary": "Бюджет одобрен"}'
VALUE = {"summary": "Бюджет одобрен"}


@pytest.fixture(params=["openai", "ollama"])
def llm(request, stub):
    return make_llm(settings(request.param, stub.url))


def test_a_reply_is_read_and_its_tokens_are_counted(llm, stub, task):
    stub.script(chat=[{"text": GOOD}])
    reply = llm.ask(task())
    assert (reply.value, reply.raw) == (VALUE, GOOD)
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"Конечно! Вот ответ:\n\n{GOOD}\n\nHope this helps.",
        f"<think>{{maybe}} [1]</think>\n{GOOD}",
    ],
)
@pytest.mark.promise("model.replies")
def test_a_reply_in_wrapping_is_read_in_one_round(llm, stub, task, text):
    stub.script(chat=[{"text": text}])
    assert llm.ask(task()).value == VALUE
    assert len(stub.log()) == 1


@pytest.mark.parametrize(
    "bad", [{"text": None}, {"text": ""}, {"text": "Sorry."}, {"text": '{"summary": "a', "finish": "length"}]
)
@pytest.mark.promise("model.replies")
def test_a_bad_reply_is_mended_in_one_round_and_both_are_paid(llm, stub, task, bad):
    stub.script(chat=[bad, {"text": GOOD}])
    reply = llm.ask(task())
    assert reply.value == VALUE
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (2, 2)
    said = [message["content"] for message in stub.log()[1]["body"]["messages"]]
    assert "answer again with JSON only" in str(said[-1])


@pytest.mark.promise("model.replies")
def test_two_bad_replies_are_an_error_that_quotes_neither(llm, stub, task):
    stub.script(chat=[{"text": "СЕКРЕТ one"}], chat_default={"text": "СЕКРЕТ two"})
    with pytest.raises(ModelError, match="two replies") as caught:
        llm.ask(task())
    assert "СЕКРЕТ" not in f"{caught.value}{caught.value.__dict__}"
    assert (caught.value.tokens_in, caught.value.tokens_out) == (2, 2)
    assert len(stub.log()) == 2


@pytest.mark.promise("model.patient")
def test_a_limit_an_error_and_a_hang_are_waited_out(stub, task):
    stub.script(chat=[{"status": 429, "headers": {"Retry-After": "2"}}, {"status": 500}, {"hang": 2}, {"text": GOOD}])
    assert make_llm(settings("openai", stub.url, timeout_s=1.0)).ask(task()).value == VALUE
    assert len(stub.log()) == 4


@pytest.mark.promise("model.patient")
def test_a_provider_that_stays_away_is_told_by_the_error_alone(llm, stub, task, caplog):
    stub.script(chat_default={"status": 503})
    with pytest.raises(ModelError, match="answered 503") as caught:
        llm.ask(task())
    assert not caught.value.permanent
    assert caplog.text == ""


@pytest.mark.promise("model.patient")
def test_a_wait_that_is_too_long_is_left_to_the_caller(llm, stub, task):
    stub.script(chat_default={"status": 429, "headers": {"Retry-After": "3600"}})
    with pytest.raises(ModelError, match="429") as caught:
        llm.ask(task())
    assert caught.value.retry_after == 3600
    assert len(stub.log()) == 1


@pytest.mark.promise("model.key")
def test_a_bad_key_stops_at_once_and_shows_nowhere(llm, stub, task, caplog):
    caplog.set_level("DEBUG")
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    stub.script(chat_default={"status": 401, "body": body})
    with pytest.raises(ModelError, match="refuses the key") as caught:
        llm.ask(task("a private note"))
    assert caught.value.permanent
    assert len(stub.log()) == 1
    assert KEY not in f"{caught.value!r} {caught.value} {caught.value.__dict__} {vars(llm)!r} {settings('openai')!r}"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "private" not in str(caught.value)
    assert KEY not in caplog.text


def test_a_missing_model_is_told_with_what_to_do(llm, stub, task):
    stub.script(chat_default={"status": 404, "body": {"error": {"message": "model not found"}}})
    with pytest.raises(ModelError, match="no such model") as caught:
        llm.ask(task())
    assert caught.value.permanent
    assert "llm.model" in caught.value.remedy
