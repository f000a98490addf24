"""What leaves the process and what comes back: bodies, headers, forms of replies, and where the key may go."""

from __future__ import annotations

import asyncio
import base64
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.llm.samples import KEY, SCHEMA, OutOfBounds, settings

from zapomni.errors import ConfigError, ModelError
from zapomni.llm.base import Image, Task, Text
from zapomni.llm.registry import make_llm

GOOD = '{"summary": "Budget"}'
VALUE = {"summary": "Budget"}
AWS_SECRET = "aws-trial-SECRET-456"


def openai_reply(text=GOOD, finish="stop", usage=(7, 3), **message):
    counts = usage and {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
        **({"usage": counts} if counts else {}),
    }


def anthropic_reply(text=GOOD, stop="end_turn"):
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }


def bedrock_reply(text=GOOD, stop="end_turn"):
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
        "stopReason": stop,
        "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10},
        "metrics": {"latencyMs": 1},
    }


REPLIES = {
    "openai": openai_reply,
    "ollama": openai_reply,
    "anthropic": anthropic_reply,
    "bedrock": bedrock_reply,
}
NAMES = {"anthropic": "claude-haiku-5-5", "bedrock": "us.anthropic.claude-haiku-4-5-20251001-v1:0"}


@pytest.fixture
def make(server, monkeypatch):
    def make(provider, **values):
        values = {"name": NAMES.get(provider, "m"), **values}
        if provider == "bedrock":
            monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
            monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
            monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
            monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATRIAL")
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", AWS_SECRET)
            return make_llm(settings(provider, **{"key": None, **values}))
        return make_llm(settings(provider, server.url, **values))

    return make


@pytest.mark.parametrize("provider", REPLIES)
def test_every_provider_answers_in_the_form_that_was_asked_for(make, server, task, provider):
    server.answer(REPLIES[provider]())
    reply = make(provider).ask(task("Встреча с Алисой"))
    assert reply.value == VALUE
    assert (reply.usage.tokens_in, reply.usage.tokens_out) == (7, 3)
    assert "Встреча с Алисой" in str(server.bodies[0])
    assert "Say what matters." in str(server.bodies[0])


@pytest.mark.parametrize("provider", REPLIES)
def test_a_cut_reply_is_known_for_one_whoever_gives_it(make, server, task, provider):
    cut = {"openai": "length", "ollama": "length"}.get(provider, "max_tokens")
    server.answer(REPLIES[provider]('{"summary": "Bud', cut), REPLIES[provider]())
    assert make(provider).ask(task()).value == VALUE
    assert "be shorter" in str(server.bodies[1])


@pytest.mark.parametrize("provider", REPLIES)
def test_free_text_is_asked_for_without_a_schema(make, server, task, provider):
    server.answer(REPLIES[provider]("Алиса одобрила бюджет."))
    assert make(provider).ask(task(schema=None)).value == "Алиса одобрила бюджет."
    assert "summary" not in str(server.bodies[0])


@pytest.mark.parametrize("provider", REPLIES)
def test_an_image_is_sent_as_one(make, server, provider):
    server.answer(REPLIES[provider]())
    image = Image(data=b"\x89PNG pixels", media_type="image/png")
    task = Task(purpose="ingest", instructions="Look.", parts=(Text(text="A photo"), image), schema=SCHEMA)
    make(provider).ask(task)
    assert base64.b64encode(b"\x89PNG pixels").decode() in str(server.bodies[0])
    assert "pixels" not in repr(task)


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_the_provider_is_held_to_the_schema_and_a_server_of_ones_own_is_told_it_too(make, server, task, provider):
    server.answer(openai_reply())
    make(provider).ask(task())
    body = server.bodies[0]
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["summary"]
    assert "JSON Schema" in str(body["messages"])


def test_a_server_that_cannot_hold_to_a_schema_is_only_told_it(make, server, task):
    refusal = (400, {"error": {"message": "response_format is not supported"}}, {})
    server.answer(refusal, openai_reply(), openai_reply())
    llm = make("openai")
    assert llm.ask(task()).value == VALUE
    assert llm.ask(task()).value == VALUE
    kinds = [body.get("response_format", {}).get("type") for body in server.bodies]
    assert kinds[0] == "json_schema"
    assert "json_schema" not in kinds[1:]


def test_a_refusal_that_is_not_about_the_schema_stays_one(make, server, task):
    server.answer((400, {"error": {"message": "no", "code": "invalid_value"}}, {}))
    with pytest.raises(ModelError, match=r"400 \(invalid_value\): it does not take this task"):
        make("openai").ask(task())
    assert len(server.requests) == 2


def test_a_task_that_is_too_long_says_so(make, server, task):
    error = {"error": {"message": "too long: СЕКРЕТ", "code": "context_length_exceeded"}}
    server.answer((400, error, {}))
    with pytest.raises(ModelError, match="too long for this model") as caught:
        make("openai").ask(task())
    assert "СЕКРЕТ" not in str(caught.value)
    assert len(server.requests) == 1


def test_an_account_without_credit_says_so_at_once(make, server, task):
    server.answer((429, {"error": {"message": "quota", "code": "insufficient_quota"}}, {}))
    with pytest.raises(ModelError, match="credit is used up") as caught:
        make("openai").ask(task())
    assert caught.value.permanent
    assert len(server.requests) == 1


@pytest.mark.parametrize(("provider", "finish"), [("openai", "content_filter"), ("anthropic", "refusal")])
def test_a_model_that_declines_is_not_asked_again(make, server, task, provider, finish):
    server.answer(REPLIES[provider]("", finish))
    with pytest.raises(ModelError, match="declined") as caught:
        make(provider).ask(task())
    assert len(server.requests) == 1
    assert (caught.value.tokens_in, caught.value.tokens_out) == (7, 3)


@pytest.mark.promise("model.replies")
def test_thinking_tags_inside_of_a_string_are_content(make, server, task):
    server.answer(openai_reply('{"summary": "R1 writes <think>x</think> first"}'))
    assert make("ollama").ask(task()).value == {"summary": "R1 writes <think>x</think> first"}


def test_reasoning_in_a_field_of_its_own_is_no_part_of_the_reply(make, server, task):
    server.answer(openai_reply(reasoning_content='{"summary": "wrong"}'))
    assert make("openai").ask(task()).value == VALUE


def test_a_provider_that_counts_nothing_is_estimated(make, server, task):
    server.answer(openai_reply(usage=None))
    usage = make("ollama").ask(task("слово " * 100)).usage
    assert usage.tokens_in > 100
    assert usage.tokens_out > 0


def test_a_task_may_ask_for_less_than_the_setting_and_never_for_more(make, server, task):
    server.answer(openai_reply())
    llm = make("openai", max_output=500)
    for wanted in (None, 100, 9_000):
        llm.ask(task(max_output=wanted))
    assert [body["max_tokens"] for body in server.bodies] == [500, 100, 500]


@pytest.mark.parametrize("answer", [b"<html>gateway</html>", {"choices": []}, {"object": "error"}, b""])
def test_an_answer_that_is_none_is_an_error_of_ours(make, server, task, answer):
    server.answer((200, answer, {}))
    with pytest.raises(ModelError):
        make("openai").ask(task())


# --- the key ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("provider", "header", "value"),
    [
        ("openai", "authorization", f"Bearer {KEY}"),
        ("ollama", "authorization", f"Bearer {KEY}"),
        ("anthropic", "x-api-key", KEY),
    ],
)
@pytest.mark.promise("model.key")
def test_the_key_is_the_only_secret_that_is_sent(make, server, task, monkeypatch, provider, header, value):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OLLAMA_API_KEY", "OPENAI_ORG_ID"):
        monkeypatch.setenv(name, "ambient-SECRET")
    for name in ("ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "x-more: ambient-SECRET")
    server.answer(REPLIES[provider]())
    make(provider).ask(task())
    _, headers, _ = server.requests[0]
    assert headers[header] == value
    assert "ambient" not in str(headers)


@pytest.mark.promise("model.key")
def test_bedrock_signs_with_the_keys_of_aws_and_a_key_of_its_own_needs_encryption(make, server, task):
    server.answer(bedrock_reply())
    make("bedrock").ask(task())
    _, headers, _ = server.requests[0]
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256")
    assert AWS_SECRET not in str(headers)
    with pytest.raises(ModelError) as caught:
        make("bedrock", key=KEY).ask(task())
    assert len(server.requests) == 1
    assert KEY not in f"{caught.value}{caught.value.__dict__}"


@pytest.mark.parametrize("provider", ["openai", "ollama", "anthropic"])
@pytest.mark.promise("model.key")
def test_without_a_key_none_is_sent_whatever_the_environment_holds(make, server, task, monkeypatch, provider):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OLLAMA_API_KEY"):
        monkeypatch.setenv(name, "ambient-SECRET")
    server.answer(REPLIES[provider]())
    make(provider, key=None).ask(task())
    _, headers, _ = server.requests[0]
    assert not {"authorization", "x-api-key"} & headers.keys()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.promise("model.key")
def test_a_redirect_takes_the_key_nowhere(make, server, task, provider):
    server.answer((307, {}, {"Location": "http://localhost:1/v1/stolen"}))
    with pytest.raises(ModelError):
        make(provider).ask(task())
    assert {path for path, _, _ in server.requests} <= {"/v1/chat/completions", "/v1/messages"}


@pytest.mark.promise("model.key")
def test_a_key_never_leaves_this_machine_unencrypted():
    with pytest.raises(ConfigError, match="unencrypted"):
        make_llm(settings("openai", "http://models.example/v1"))
    assert make_llm(settings("openai", "http://models.example/v1", key=None)) is not None


@pytest.mark.promise("model.key")
def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(make, server, task, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    server.answer(openai_reply())
    assert make("openai").ask(task()).value == VALUE


@pytest.mark.parametrize("provider", ["openai", "anthropic", "bedrock"])
def test_no_test_can_reach_a_provider(task, monkeypatch, provider):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with pytest.raises(OutOfBounds):
        make_llm(settings(provider, name=NAMES.get(provider, "m"))).ask(task())


# --- where it runs -----------------------------------------------------------------------------------------
def test_a_model_can_be_asked_where_an_event_loop_runs(make, server, task):
    server.answer(openai_reply())
    llm = make("openai")

    async def notebook():
        return llm.ask(task()).value

    assert asyncio.run(notebook()) == VALUE


def test_a_model_can_be_asked_from_many_threads(make, server, task):
    server.answer(openai_reply())
    llm = make("openai")
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: llm.ask(task()).value, range(8))) == [VALUE] * 8


def test_what_runs_on_this_machine_is_local():
    assert make_llm(settings("ollama")).local
    assert make_llm(settings("openai", "http://localhost:8000/v1")).local
    assert not make_llm(settings("openai")).local
    assert not make_llm(settings("bedrock")).local
    assert not make_llm(settings("ollama", name="gpt-oss:120b-cloud")).local


def test_a_package_that_is_not_installed_is_named_with_the_remedy(make, task, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai.direct", None)
    with pytest.raises(ModelError, match="not installed") as caught:
        make("openai").ask(task())
    assert "zapomni[llm]" in caught.value.remedy
    assert caught.value.permanent


def test_a_server_that_is_away_is_told_without_its_address_being_guessed(task):
    with pytest.raises(ModelError, match="could not be reached"):
        make_llm(settings("openai", "http://127.0.0.1:1")).ask(task())


def test_bedrock_has_no_address_here():
    with pytest.raises(ConfigError, match="Bedrock"):
        make_llm(settings("bedrock", "https://bedrock.example"))


def test_bedrock_without_region_or_keys_says_where_to_look(task, monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ModelError) as caught:
        make_llm(settings("bedrock", key=None)).ask(task())
    assert "AWS settings" in caught.value.remedy
