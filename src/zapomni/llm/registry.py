"""From the settings to a model: the built-in providers by name, others through entry points."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from zapomni.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from zapomni.llm.base import Llm
    from zapomni.settings import LlmSettings

    Make = Callable[[LlmSettings], Llm]

GROUP: Final = "zapomni.llms"
BUILT_IN: Final = {
    "anthropic": ("providers", "make_anthropic"),
    "bedrock": ("providers", "make_bedrock"),
    "ollama": ("providers", "make_ollama"),
    "openai": ("providers", "make_openai"),
    "scripted": ("scripted", "make"),
}
"""Functions of this room, found without reading the metadata of every installed package."""


def make_llm(settings: LlmSettings) -> Llm | None:
    """Return the configured model, None where none is named; it is not asked and nothing is loaded.

    Raises `ConfigError` for an unknown provider and for settings that the provider cannot take.
    """
    return _find(settings.provider)(settings) if settings.model else None


def _find(provider: str) -> Make:
    if provider in BUILT_IN:
        module, name = BUILT_IN[provider]
        return cast("Make", getattr(import_module(f"zapomni.llm.{module}"), name))
    from importlib.metadata import entry_points

    known = entry_points(group=GROUP)
    if provider in known.names:
        return cast("Make", known[provider].load())
    names = ", ".join(sorted({*BUILT_IN, *known.names}))
    raise ConfigError(f"llm.model: there is no provider {provider!r}", remedy=f"The providers are: {names}")
