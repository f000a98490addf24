"""From the settings to an embedder: the built-in providers by name, others through entry points."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from zapomni.embed.breaker import Breaker
from zapomni.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from zapomni.clock import Clock
    from zapomni.embed.base import Embedder
    from zapomni.settings import EmbedderSettings

    Make = Callable[[EmbedderSettings], Embedder]

GROUP: Final = "zapomni.embedders"
BUILT_IN: Final = ("bundled", "jina", "ollama", "openai", "scripted")
"""Modules of this room, found without reading the metadata of every installed package."""
NONE: Final = "none"


def make_embedder(settings: EmbedderSettings, clock: Clock) -> Embedder | None:
    """Return the configured embedder, behind a breaker unless it is local; None for the provider `none`.

    Raises `ConfigError` for an unknown provider and for settings that the provider cannot take.
    """
    if settings.provider == NONE:
        return None
    embedder = _find(settings.provider)(settings)
    return embedder if embedder.local else Breaker(embedder, clock)


def _find(provider: str) -> Make:
    if provider in BUILT_IN:
        return cast("Make", import_module(f"zapomni.embed.{provider}").make)
    from importlib.metadata import entry_points

    known = entry_points(group=GROUP)
    if provider in known.names:
        return cast("Make", known[provider].load())
    names = ", ".join(sorted({*BUILT_IN, *known.names, NONE}))
    raise ConfigError(f"embedder.provider: there is no provider {provider!r}", remedy=f"The providers are: {names}")
