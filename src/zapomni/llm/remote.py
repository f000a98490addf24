"""A model behind HTTP: one request, the form of its reply, and how it is repeated.

`pydantic-ai` speaks the providers' dialects; it is imported when the first task is asked. The key is put onto a request
after everything else, and only on its way to the one host that it is for: no client holds it, no redirect is followed,
and neither it nor anything that was sent ever stands in an error.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

import stamina

from zapomni.errors import ConfigError, ModelError
from zapomni.hosts import is_loopback
from zapomni.llm.base import Text, Usage
from zapomni.llm.checked import Finish, Raw
from zapomni.llm.estimate import estimate_usage
from zapomni.llm.failures import Again, failure, names_a_cause

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    import httpx2
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

    from zapomni.llm.base import Task
    from zapomni.llm.checked import Turn
    from zapomni.settings import LlmSettings

    Build = Callable[["httpx2.AsyncClient"], Model]

TRIES: Final = 4
LONGEST_PAUSE_S: Final = 30.0
"""A task is waited for as one of `embed` is: four tries in at most twice the time of one (features SX-5)."""
CONNECT_S: Final = 10.0
_HEADERS: Final = frozenset(
    {"host", "content-type", "content-length", "accept", "accept-encoding", "connection", "transfer-encoding"}
    | {"user-agent", "anthropic-version", "anthropic-beta"}
)
"""What a request carries beside the key: clients add credentials and headers that they find in the environment."""
_SCHEMA_TOLD: Final = "Answer with JSON only, one value of this JSON Schema:\n\n{schema}"
_FINISHES: Final[dict[str | None, Finish]] = {"length": "cut", "content_filter": "declined"}


class KeyHeader(NamedTuple):
    """The header in which a provider takes its key, and what stands before the key."""

    name: str
    prefix: str = ""


class Remote:
    """A `Channel` to a provider's address; `build` makes the library's model around a client."""

    def __init__(self, settings: LlmSettings, build: Build, url: str | None, header: KeyHeader) -> None:
        self.label = f"{settings.provider}:{settings.name}"
        self._settings = settings
        self._build = build
        self._host = urlsplit(url or "").hostname or ""
        self.local = is_loopback(self._host)
        self._header = header
        self._prompted = False  # the provider refused to hold replies to a schema, which is then only told
        if url and urlsplit(url).scheme != "https" and settings.api_key and not self.local:
            raise ConfigError(
                f"llm.base_url: the key would go to {self._host} unencrypted", remedy="Use https or remove the key"
            )

    def send(self, task: Task, turn: Turn | None) -> Raw:
        """Return the reply to a task, having waited and tried again; see `Channel.send`."""
        for attempt in stamina.retry_context(
            _pause, attempts=TRIES, timeout=2 * self._settings.timeout_s, wait_max=LONGEST_PAUSE_S, wait_jitter=0.2
        ):
            with attempt:
                return self._once(task, turn)
        raise AssertionError  # pragma: no cover - the loop returns or raises

    def _once(self, task: Task, turn: Turn | None) -> Raw:
        try:
            response = _run(self._ask(task, turn))
        except Exception as error:  # noqa: BLE001 - each client has errors of its own
            raise failure(error, self.label, self._settings) from None
        text = "".join(part.content for part in response.parts if part.part_kind == "text")
        return Raw(
            text=text, usage=_usage(response, task, turn, text), finish=_FINISHES.get(response.finish_reason, "stop")
        )

    async def _ask(self, task: Task, turn: Turn | None) -> ModelResponse:
        """Ask once over a connection of its own: a call takes seconds, and connections cannot change event loops."""
        from pydantic_ai import exceptions as failed
        from pydantic_ai.direct import model_request

        async with self._client() as client:
            model = self._build(client)
            talk, settings = _talk(task, turn), self._model_settings(task)
            native = bool(model.profile.get("supports_json_schema_output")) and not self._prompted
            try:
                form = self._form(task, native=native)
                return await model_request(model, talk, model_settings=settings, model_request_parameters=form)
            except failed.ModelRequestRejectedError as error:
                if not native or task.schema is None or names_a_cause(error):
                    raise
            form = self._form(task, native=False)
            response = await model_request(model, talk, model_settings=settings, model_request_parameters=form)
            self._prompted = True
            return response

    def _client(self) -> httpx2.AsyncClient:
        import httpx2

        seconds = self._settings.timeout_s
        return httpx2.AsyncClient(
            timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_S)),
            follow_redirects=False,
            trust_env=not self.local,  # a proxy cannot reach what listens on this machine
            event_hooks={"request": [self._dress]},
        )

    async def _dress(self, request: httpx2.Request) -> None:
        """Leave on a request only what belongs there, and add the key on its way to the key's own host."""
        if request.url.host != self._host:
            raise ModelError(f"{self.label} may only be asked at {self._host}", permanent=True)
        for name in [name for name in request.headers if name.lower() not in _HEADERS]:
            del request.headers[name]
        if self._settings.api_key is not None:
            request.headers[self._header.name] = self._header.prefix + self._settings.api_key.reveal()

    def _model_settings(self, task: Task) -> ModelSettings:
        from pydantic_ai.settings import ModelSettings

        most = self._settings.max_output
        seconds = self._settings.timeout_s
        settings = ModelSettings(max_tokens=min(task.max_output or most, most), request_timeout=seconds)
        # Bedrock's client has its own time limit and repeats by itself; it takes neither as a setting.
        return settings if not self._host else settings | ModelSettings(timeout=seconds, max_retries=0)

    def _form(self, task: Task, *, native: bool) -> ModelRequestParameters:
        """Say in which form the reply comes: held to the schema where the provider can, told of it elsewhere.

        A server of one's own is told either way: many take a schema and pass over it.
        """
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        if task.schema is None:
            return ModelRequestParameters()
        form = OutputObjectDefinition(json_schema=dict(task.schema), name=task.purpose)
        told = None if native and not (self.local or self._settings.base_url) else _SCHEMA_TOLD
        return ModelRequestParameters(
            output_mode="native" if native else "prompted", output_object=form, prompted_output_template=told
        )


def _run(work: Coroutine[Any, Any, ModelResponse]) -> ModelResponse:
    """Run to its end what waits, also where the caller's thread has an event loop that runs (a notebook's)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def _pause(error: Exception) -> bool | float:
    """Tell whether to try again, or after how many seconds; a longer wait than ours is told to the caller."""
    if not isinstance(error, Again):
        return False
    if error.retry_after is None:
        return True
    return error.retry_after if error.retry_after <= LONGEST_PAUSE_S else False


def _talk(task: Task, turn: Turn | None) -> list[ModelMessage]:
    from pydantic_ai.messages import BinaryContent, ModelRequest, ModelResponse, TextPart, UserPromptPart

    parts = [
        part.text if isinstance(part, Text) else BinaryContent(part.data, media_type=part.media_type)
        for part in task.parts
    ]
    talk: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(parts)], instructions=task.instructions)]
    if turn is not None:
        reply = turn.reply if turn.reply.strip() else "(empty)"  # some providers refuse an empty message
        talk += [
            ModelResponse(parts=[TextPart(reply)]),
            ModelRequest(parts=[UserPromptPart(turn.request)], instructions=task.instructions),
        ]
    return talk


def _usage(response: ModelResponse, task: Task, turn: Turn | None, text: str) -> Usage:
    counted = Usage(tokens_in=response.usage.input_tokens, tokens_out=response.usage.output_tokens)
    return counted if counted != Usage() else estimate_usage(task, turn, text)
