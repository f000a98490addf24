"""An `Llm` over anything that answers with raw text: its replies are read, and a bad one is mended once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from msgspec import Struct, field

from zapomni.errors import ModelError
from zapomni.llm.base import Reply, Usage
from zapomni.llm.replies import ReplyProblem, read_reply, repair_request

if TYPE_CHECKING:
    from zapomni.llm.base import Task

Finish = Literal["stop", "cut", "declined"]
"""Why a reply ended: it was done, it came to the most tokens that it may have, the provider held it back."""


class Raw(Struct, frozen=True, kw_only=True):
    """What a model wrote, before anybody has read it."""

    text: str
    usage: Usage = field(default_factory=Usage)
    finish: Finish = "stop"


class Turn(NamedTuple):
    """A reply that could not be used, and what the model is asked about it."""

    reply: str
    request: str


class Channel(Protocol):
    """Carries one request to a model; see `Llm` for `label` and `local`."""

    label: str
    local: bool

    def send(self, task: Task, turn: Turn | None) -> Raw:
        """Return the reply to a task, or to what is asked behind a first reply; raises `ModelError`."""


class CheckedLlm:
    """See `Llm`. A reply that cannot be used is sent back once, with what is wrong; the second is the last."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    @property
    def label(self) -> str:
        """The channel's own."""
        return self._channel.label

    @property
    def local(self) -> bool:
        """The channel's own."""
        return self._channel.local

    def ask(self, task: Task) -> Reply:
        """Return the checked answer to a task; see `Llm.ask`."""
        first = self._send(task, None, Usage())
        try:
            return _read(first, task, first.usage)
        except ReplyProblem as problem:
            turn = Turn(first.text, repair_request(problem, task.schema))
        second = self._send(task, turn, first.usage)
        usage = first.usage + second.usage
        try:
            return _read(second, task, usage)
        except ReplyProblem as problem:
            raise ModelError(
                f"{self.label} gave two replies that cannot be used; the last one {problem.message}",
                remedy="Try again, raise llm.max_output for a reply that was cut, or name a more able model"
                " in llm.model",
                tokens_in=usage.tokens_in,
                tokens_out=usage.tokens_out,
            ) from None

    def _send(self, task: Task, turn: Turn | None, before: Usage) -> Raw:
        """Send a request; an error of it carries the tokens of the one before."""
        try:
            raw = self._channel.send(task, turn)
        except ModelError as error:
            error.tokens_in += before.tokens_in
            error.tokens_out += before.tokens_out
            raise
        if raw.finish == "declined":
            used = before + raw.usage
            raise ModelError(
                f"{self.label} declined to answer",
                remedy="Its provider holds back what this text asks for; name another model in llm.model",
                tokens_in=used.tokens_in,
                tokens_out=used.tokens_out,
            )
        return raw


def _read(raw: Raw, task: Task, usage: Usage) -> Reply:
    return Reply(value=read_reply(raw.text, task.schema, cut=raw.finish == "cut"), usage=usage, raw=raw.text)
