"""A model for tests, demonstrations and documentation: its replies are written beforehand, nobody is asked."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zapomni.errors import ConfigError, ModelError
from zapomni.llm.base import Usage
from zapomni.llm.checked import CheckedLlm, Raw
from zapomni.llm.estimate import estimate_usage

if TYPE_CHECKING:
    from zapomni.llm.base import Task
    from zapomni.llm.checked import Turn
    from zapomni.settings import LlmSettings

Script = str | Mapping[str, Any] | list[Any] | Raw | Exception | Callable[["Task"], Any]
"""One reply: text as it is, a value as JSON, an error to be raised, or a function that gives any of these."""


class Call(NamedTuple):
    """One request: its task and, in a repair round, the reply before and what is asked about it."""

    task: Task
    turn: Turn | None


class ScriptedLlm(CheckedLlm):
    """See `Llm`. Gives `replies` in order, through the same reading as any model's; `calls` holds every request.

    Raises `ModelError` when the replies run out. A lone function answers every request.
    """

    def __init__(self, replies: Iterable[Script] | Callable[[Task], Script], model: str = "scripted") -> None:
        script = _Script(replies, model)
        super().__init__(script)
        self.calls = script.calls


class _Script:
    """A `Channel` that asks nobody."""

    local = True

    def __init__(self, replies: Iterable[Script] | Callable[[Task], Script], model: str) -> None:
        self.label = f"scripted:{model}"
        self.calls: list[Call] = []
        self._always = replies if callable(replies) else None
        self._replies = deque[Script](() if callable(replies) else replies)

    def send(self, task: Task, turn: Turn | None) -> Raw:
        """Return the next reply; see `Channel.send`."""
        self.calls.append(Call(task, turn))
        if self._always is not None:
            return _raw(self._always, task, turn)
        if not self._replies:
            raise ModelError(f"{self.label} has no reply left for request {len(self.calls)}", permanent=True)
        return _raw(self._replies.popleft(), task, turn)


def make(settings: LlmSettings) -> ScriptedLlm:
    """Return a model whose replies stand in the JSON file that `llm.model` names: `scripted:FILE`.

    The file holds a list of replies, or an object with such a list for each purpose. The last of a list is given
    again and again. Raises `ConfigError` for a file that cannot be read.
    """
    try:
        found = json.loads(Path(settings.name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"llm.model: the replies {settings.name} cannot be read: {error}") from None
    lists = found if isinstance(found, dict) else {"": found}
    if not all(isinstance(replies, list) and replies for replies in lists.values()):
        remedy = "Write a list of replies, or an object with such a list for each purpose"
        raise ConfigError(f"llm.model: {settings.name} holds no replies", remedy=remedy)
    waiting = {purpose: deque(replies) for purpose, replies in lists.items()}

    def answer(task: Task) -> Script:
        replies = waiting.get(task.purpose) or waiting.get("")
        if replies is None:
            raise ModelError(f"scripted:{settings.name} has no replies for {task.purpose}", permanent=True)
        reply: Script = replies.popleft() if len(replies) > 1 else replies[0]
        return reply

    return ScriptedLlm(answer, settings.name)


def _raw(reply: Script, task: Task, turn: Turn | None) -> Raw:
    if isinstance(reply, Exception):
        raise reply
    if callable(reply):
        return _raw(reply(task), task, turn)
    raw = reply if isinstance(reply, Raw) else Raw(text=reply if isinstance(reply, str) else _json(reply))
    if raw.usage != Usage():
        return raw
    return Raw(text=raw.text, usage=estimate_usage(task, turn, raw.text), finish=raw.finish)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
