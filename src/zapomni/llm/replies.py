"""Reading a reply: the one place that knows fences, prose, thinking, cut, empty and broken replies.

Nothing is guessed: a reply holds exactly one value that fits the schema, or it is a problem, which is told to the
model in one repair round. A problem never quotes the reply, so that it can stand in an error.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import ModelError
from zapomni.text.clean import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.llm.base import Schema

_THOUGHTS: Final = r"think|thinking|thought|reasoning"
_THINKING: Final = re.compile(rf"\s*<({_THOUGHTS})>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
"""A block before the answer; one that is never closed is all there is."""
_THOUGHT_END: Final = re.compile(rf"^.*?</(?:{_THOUGHTS})>[ \t]*(?:\n|\Z)", re.DOTALL | re.IGNORECASE)
"""Templates of DeepSeek R1 and Qwen3 open the block in the question: the reply only closes it, on a line's end."""
_OPENING: Final = re.compile(r"[{\[]")
_LIKE_JSON: Final = re.compile(r'\{\s*["}]|\[\s*[\[{"\]]')
"""How JSON begins and prose does not: `{name}` and `[1]` are prose."""
_RULE_LENGTH: Final = 300
_CUT: Final = "was cut off at the most tokens that it may have; be shorter"
_DEEP: Final = "is nested too deep"


class ReplyProblem(ModelError):
    """A reply cannot be used; the message goes on from "Your reply" and is no more than what is wrong with it."""


def read_reply(text: str, schema: Schema | None, *, cut: bool = False) -> Any:
    """Return the value of a reply that fits the schema, or without one its text; `cut` is a reply that broke off.

    Raises `ReplyProblem`, and nothing else whatever the text.
    """
    if schema is None:
        return _free_text(text, cut=cut)
    try:
        return _fitting(text, schema)
    except ReplyProblem:
        if cut:
            raise ReplyProblem(_CUT) from None
        raise
    except RecursionError:
        raise ReplyProblem(_DEEP) from None


def repair_request(problem: ReplyProblem, schema: Schema | None) -> str:
    """Return what the model is asked after a reply that cannot be used."""
    form = "answer again" if schema is None else "answer again with JSON only: one value, no fence, nothing around it"
    return f"Your reply {problem.message}. Now {form}."


def _free_text(text: str, *, cut: bool) -> str:
    answer = _without_thinking(text).strip()
    if is_blank(answer):
        raise ReplyProblem("was empty")
    if cut:
        raise ReplyProblem(_CUT)
    return answer


def _fitting(text: str, schema: Schema) -> Any:
    values = _values(text)
    problems = [misfit(value, schema) for value in values]
    fitting = [value for value, problem in zip(values, problems, strict=True) if not problem]
    if not fitting:
        raise ReplyProblem(problems[0] if len(values) == 1 else f"holds {len(values)} JSON values and none fits")
    if any(value != fitting[0] for value in fitting):
        raise ReplyProblem(f"holds {len(fitting)} different JSON values that fit; give one")
    return fitting[0]


def _values(text: str) -> list[Any]:
    """Return the JSON values that stand in a text; raises `ReplyProblem` for none and for a broken one."""
    answer = _without_thinking(text)
    for whole in (text, answer):
        with suppress(ValueError, RecursionError):  # a fence or prose stands around it
            return [_DECODER.decode(whole.strip().removeprefix("\ufeff"))]
    if is_blank(answer):
        raise ReplyProblem("was empty")
    found = list(_scan(answer))
    if not found:
        raise ReplyProblem("holds no JSON")
    return found


def _scan(text: str) -> Iterator[Any]:
    at = 0
    while opening := _OPENING.search(text, at):
        at = opening.start()
        try:
            value, at = _DECODER.raw_decode(text, at)
        except ValueError as error:
            if _LIKE_JSON.match(text, at):  # what stands inside a broken value is no answer
                raise ReplyProblem(f"holds broken JSON{_where(error)}") from None
            at += 1
        else:
            yield value


def _where(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f" ({error.msg} at line {error.lineno}, column {error.colno})"
    return " (a number is too large)"


def _without_thinking(text: str) -> str:
    """Return what stands behind the thinking, wherever its beginning was left out."""
    start = 0
    while block := _THINKING.match(text, start):
        start = block.end()
    end = None if start else _THOUGHT_END.match(text)
    return text[end.end() if end else start :]


def misfit(value: Any, schema: Schema) -> str:
    """Return where a value breaks which rule of the schema, nothing where it fits."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is None:
        return ""
    rule = json.dumps({error.validator: error.validator_value}, ensure_ascii=False, default=str)[:_RULE_LENGTH]
    return f"does not fit the schema: {_path(error.absolute_path)} breaks the rule {rule}"


def _path(steps: Any) -> str:
    """Return the way to a part of a value; a name that only the reply can have made is not repeated."""
    names = (f"[{step}]" if isinstance(step, int) else f".{step}" if step.isidentifier() else ".…" for step in steps)
    return "".join(names).removeprefix(".")[:_RULE_LENGTH] or "the whole"


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


_DECODER: Final = json.JSONDecoder(strict=False, parse_constant=_no_constant, parse_float=_finite)
"""JSON without NaN and infinities, which no store can carry; line breaks inside a string have one meaning only."""
