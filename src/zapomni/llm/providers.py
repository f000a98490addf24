"""The providers of `zapomni.llms` that `pydantic-ai` speaks to: OpenAI and all that speak alike, Anthropic, Bedrock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from zapomni.errors import ConfigError
from zapomni.llm.checked import CheckedLlm
from zapomni.llm.remote import CONNECT_S, KeyHeader, Remote

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model
    from pydantic_ai.profiles import ModelProfile

    from zapomni.settings import LlmSettings

OPENAI_URL: Final = "https://api.openai.com/v1"
OLLAMA_URL: Final = "http://127.0.0.1:11434/v1"
ANTHROPIC_URL: Final = "https://api.anthropic.com"
_UNUSED: Final = "unused"
"""Stands for the key in clients that insist on one; `Remote` puts the real one onto the request."""
_BEARER: Final = KeyHeader("Authorization", "Bearer ")


def make_openai(settings: LlmSettings) -> CheckedLlm:
    """Return a model of OpenAI, or of any server that speaks its chat completions (vLLM, llama.cpp, LM Studio)."""
    url = _with_version(settings.base_url) or OPENAI_URL

    def build(client: httpx2.AsyncClient) -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        if settings.base_url is None:
            own = OpenAIProvider(base_url=url, api_key=_UNUSED, http_client=client)
            return OpenAIChatModel(settings.name, provider=own, profile=_profile(own=True))
        other = OpenAICompatibleProvider("openai-compatible", base_url=url, api_key=_UNUSED, http_client=client)
        return OpenAIChatModel(settings.name, provider=other, profile=_profile(own=False))

    return CheckedLlm(Remote(settings, build, url, _BEARER))


def make_ollama(settings: LlmSettings) -> CheckedLlm:
    """Return a model of Ollama, by its usual address unless the settings name another."""
    url = _with_version(settings.base_url) or OLLAMA_URL

    def build(client: httpx2.AsyncClient) -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.ollama import OllamaProvider

        provider = OllamaProvider(base_url=url, api_key=_UNUSED, http_client=client)
        return OpenAIChatModel(settings.name, provider=provider, profile=_profile(own=False))

    remote = Remote(settings, build, url, _BEARER)
    # Ollama passes these on to its own servers (ollama.com/blog/cloud-models).
    remote.local = remote.local and not settings.name.endswith(("-cloud", ":cloud"))
    return CheckedLlm(remote)


def make_anthropic(settings: LlmSettings) -> CheckedLlm:
    """Return a model of Anthropic."""
    url = settings.base_url or ANTHROPIC_URL

    def build(client: httpx2.AsyncClient) -> Model:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        provider = AnthropicProvider(api_key=_UNUSED, base_url=url, http_client=client)
        return AnthropicModel(settings.name, provider=provider)

    return CheckedLlm(Remote(settings, build, url, KeyHeader("x-api-key")))


def make_bedrock(settings: LlmSettings) -> CheckedLlm:
    """Return a model of Amazon Bedrock: region and credentials are those of AWS's own settings.

    `llm.api_key`, where it is set, is a Bedrock key. Raises `ConfigError` for an address: AWS's settings name it.
    """
    if settings.base_url is not None:
        raise ConfigError("llm.base_url: Bedrock has no address here", remedy="Set AWS_DEFAULT_REGION instead")

    def build(_: httpx2.AsyncClient) -> Model:
        from pydantic_ai.models.bedrock import BedrockConverseModel
        from pydantic_ai.providers.bedrock import BedrockProvider

        seconds = settings.timeout_s
        if settings.api_key is None:
            own = BedrockProvider(aws_read_timeout=seconds, aws_connect_timeout=CONNECT_S)
            return BedrockConverseModel(settings.name, provider=own)
        key = settings.api_key.reveal()
        keyed = BedrockProvider(api_key=key, aws_read_timeout=seconds, aws_connect_timeout=CONNECT_S)
        return BedrockConverseModel(settings.name, provider=keyed)

    return CheckedLlm(Remote(settings, build, None, _BEARER))


def _with_version(base_url: str | None) -> str | None:
    """Return an address with the path that such servers have, where it names none."""
    return f"{base_url}/v1" if base_url and not urlsplit(base_url).path else base_url


def _profile(*, own: bool) -> ModelProfile:
    """Return what differs from the library's picture of a model; `own` is OpenAI's own service.

    The library must not look for thinking in a reply: it would find tags inside of JSON strings too. Elsewhere than
    at OpenAI itself the most tokens of a reply go by their older name: Ollama passes over the newer one without a word
    (ollama/ollama#7125), and every such server takes the older.
    """
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(thinking_tags=("\0", "\0"), openai_chat_supports_max_completion_tokens=own)
