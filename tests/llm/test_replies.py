"""What counts as an answer, and what is sent back to the model instead."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.llm.samples import SCHEMA

from zapomni.llm.replies import ReplyProblem, read_reply, repair_request

GOOD = '{"summary": "Алиса одобрила бюджет", "importance": 0.7}'
VALUE = {"summary": "Алиса одобрила бюджет", "importance": 0.7}
LIST = {"type": "array", "items": {"type": "integer"}}

WRAPPED = {
    "alone": GOOD,
    "byte order mark": "\ufeff" + GOOD,
    "white space": f"\n\n  {GOOD}\r\n",
    "fence": f"```json\n{GOOD}\n```",
    "fence without a language": f"```\n{GOOD}\n```",
    "fence that is not closed": f"```json\n{GOOD}",
    "tildes": f"~~~\n{GOOD}\n~~~",
    "prose before": f"Вот ответ:\n{GOOD}",
    "prose around": f"Sure! As {{name}} said [1], here it is: {GOOD} Let me know [memory:k7m2].",
    "thinking": f'<think>{{{{ maybe {{"summary": </think>\n{GOOD}',
    "thinking twice": f"<thinking>a</thinking>\n<reasoning>b</reasoning>{GOOD}",
    "thinking without its beginning": f'Let me see: {{"summary": "wrong"}}\n</think>\n\n{GOOD}',
    "thinking in capitals": f"<THINK>a</THINK>{GOOD}",
    "the same twice": f"{GOOD}\n\n{GOOD}",
    "another value that does not fit": f'The schema is {{"type": "object"}}. {GOOD}',
    "line break inside a string": GOOD.replace(" одобрила", "\n одобрила"),
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED)
@pytest.mark.promise("model.replies")
def test_a_value_is_found_in_whatever_it_is_wrapped(text):
    value = read_reply(text, SCHEMA)
    assert {name: " ".join(str(v).split()) for name, v in value.items()} == {k: str(v) for k, v in VALUE.items()}


BAD = {
    "empty": ("", "was empty"),
    "blank": (" \n\u200b\t", "was empty"),
    "thinking alone": ("<think>so</think>", "was empty"),
    "thinking that never ends": (f"<think>so {GOOD}", "was empty"),
    "prose": ("I cannot help with that.", "no JSON"),
    "empty fence": ("```json\n```", "no JSON"),
    "null": ("null", "the whole breaks the rule"),
    "text": ('"yes"', "the whole breaks the rule"),
    "trailing comma": ('{"summary": "a",}', "broken JSON"),
    "single quotes": ("{\"summary\": 'a'}", "broken JSON"),
    "python": ('{"summary": None}', "broken JSON"),
    "not closed": ('{"summary": "a"', "broken JSON"),
    "a good one inside of a broken one": ('{"facts": [{"summary": "a"}, {"summary": "b"}', "broken JSON"),
    "not a number": ('{"summary": "a", "importance": NaN}', "broken JSON"),
    "too large": ('{"summary": "a", "importance": 1e999}', "too large"),
    "two that differ": ('{"summary": "a"} or {"summary": "b"}', "2 different JSON values"),
    "none of two": ('{"a": 1} {"b": 2}', "2 JSON values and none fits"),
    "missing": ('{"importance": 1}', 'the whole breaks the rule {"required": ["summary"]}'),
    "wrong type": ('{"summary": "a", "importance": "high"}', 'importance breaks the rule {"type": "number"}'),
    "out of range": ('{"summary": "a", "importance": 7}', 'importance breaks the rule {"maximum": 1}'),
    "unknown field": ('{"summary": "a", "СЕКРЕТ": 1}', 'the rule {"additionalProperties": false}'),
    "too deep": ("[" * 100_000, "nested too deep"),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
@pytest.mark.promise("model.replies")
def test_nothing_is_guessed_and_the_problem_is_told(text, said):
    with pytest.raises(ReplyProblem) as caught:
        read_reply(text, SCHEMA)
    assert said in caught.value.message
    assert "СЕКРЕТ" not in caught.value.message
    assert caught.value.message in repair_request(caught.value, SCHEMA)
    assert "JSON only" in repair_request(caught.value, SCHEMA)


def test_null_and_bare_values_are_answers_where_the_schema_takes_them():
    assert read_reply("null", {"type": ["object", "null"]}) is None
    assert read_reply("<think>x</think>\ntrue", {"type": "boolean"}) is True
    assert read_reply("Here: [1, 2]", LIST) == [1, 2]


def test_tags_inside_of_a_string_are_content():
    text = '{"summary": "R1 пишет <think>…</think> first"}'
    assert read_reply(text, SCHEMA) == json.loads(text)
    assert read_reply("Models wrap it in <think> and </think> tags.", None).startswith("Models wrap")


@pytest.mark.promise("model.replies")
def test_a_cut_reply_counts_where_its_value_is_whole():
    assert read_reply(f"{GOOD}\nI also want to", SCHEMA, cut=True) == VALUE
    for text in ('{"summary": "Ali', "", "<think>so"):
        with pytest.raises(ReplyProblem, match="cut off"):
            read_reply(text, SCHEMA, cut=True)
    with pytest.raises(ReplyProblem, match="cut off"):
        read_reply("Алиса одо", None, cut=True)


def test_free_text_comes_without_its_thinking():
    assert read_reply("<think>hm</think>\n\nДа, одобрен [memory:k7m2].\n", None) == "Да, одобрен [memory:k7m2]."
    with pytest.raises(ReplyProblem, match="empty") as caught:
        read_reply("<think>hm", None)
    assert "JSON" not in repair_request(caught.value, None)


@pytest.mark.parametrize("piece", ["[1,", "{", '{"a":', "<think>", "</think>x", "[[1", "```\n", "[1, "])
@pytest.mark.timeout(20)
def test_a_hostile_reply_holds_nobody_up(piece):
    with pytest.raises(ReplyProblem):
        read_reply(piece * 30_000, SCHEMA)


_PIECES = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        '"',
        "\\",
        ",",
        ":",
        "<think>",
        "</think>",
        "```",
        "json",
        "null",
        "1",
        "Ё",
        "\n",
        " ",
        "\ud800",
    ]
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.text() | st.lists(_PIECES).map("".join), st.booleans(), st.sampled_from([None, SCHEMA, LIST, {}]))
@pytest.mark.promise("model.replies")
def test_no_text_whatever_raises_anything_but_a_problem(text, cut, schema):
    with suppress(ReplyProblem):
        read_reply(text, schema, cut=cut)


@given(_VALUES)
def test_every_value_comes_back_as_it_was_written(value):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
        assert read_reply(text, {}) == value
        assert read_reply(f"<think>[{{</think>\n{text}\n", {}) == value


@given(st.dictionaries(st.text(), _VALUES, max_size=4))
def test_an_object_in_a_fence_comes_back_as_it_was_written(value):
    assert read_reply(f"Вот:\n```json\n{json.dumps(value, indent=1)}\n```\nГотово.", {"type": "object"}) == value
