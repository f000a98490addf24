"""What a language model must do: the extension point `zapomni.llms`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct

Schema = Mapping[str, Any]
"""A JSON Schema (draft 2020-12) as plain values."""


class Text(Struct, frozen=True, kw_only=True):
    """A part of a task that is read."""

    text: str


class Image(Struct, frozen=True, kw_only=True):
    """A part of a task that is looked at; `media_type` is for example `image/png`."""

    data: bytes
    media_type: str

    def __repr__(self) -> str:
        return f"Image({len(self.data)} bytes of {self.media_type})"


class Task(Struct, frozen=True, kw_only=True):
    """One thing to be judged: what to do, with what, and in which form the answer comes.

    `purpose` is a word by which costs are told apart (ingest, consolidate, ask, enrich). Without a `schema` the
    answer is free text. `max_output` is in tokens; None, or more than `llm.max_output`, means that setting.
    """

    purpose: str
    instructions: str
    parts: tuple[Text | Image, ...]
    schema: Schema | None = None
    max_output: int | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens read and written, as the provider counts them; an estimate where it does not."""

    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(tokens_in=self.tokens_in + other.tokens_in, tokens_out=self.tokens_out + other.tokens_out)


class Reply(Struct, frozen=True, kw_only=True):
    """An answer that fits its task: a JSON value of the task's schema, or text; `raw` is what the model wrote."""

    value: Any
    usage: Usage
    raw: str


class Llm(Protocol):
    """Answers tasks; safe to use from many threads.

    An entry point in the group `zapomni.llms` names a function `make(settings) -> Llm`, where `settings` is the
    frozen `settings.LlmSettings`. Making one is cheap: it loads nothing and asks nobody.
    """

    @property
    def label(self) -> str:
        """`PROVIDER:MODEL`, by which calls are recorded."""

    @property
    def local(self) -> bool:
        """True when nothing leaves this machine."""

    def ask(self, task: Task) -> Reply:
        """Return the checked answer to a task, having waited, tried again and had one bad reply mended.

        Raises `ModelError`, with the tokens that were used in vain.
        """


LlmFor = Callable[[str], Llm | None]
"""Gives the model that is asked as part of a run, by the run's id; None where no model may be asked."""
