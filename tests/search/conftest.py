"""Memories to rank: stores with the embedder that a test wants, closed at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.embed.scripted import ScriptedEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Zapomni]]:
    """Open the test's store with an embedder, None for words alone; as often as wanted."""
    apps: list[Zapomni] = []

    def open_with(embedder: ScriptedEmbedder | None = None, home: str = "store") -> Zapomni:
        settings: dict[str, Any] = {"home": tmp_path / home, "embedder.provider": "none"}
        if embedder is not None:
            settings |= {"embedder.provider": "scripted", "embedder.model": embedder.model}
        apps.append(Zapomni(load(settings, environ={}, cwd=tmp_path), embedder=embedder))
        return apps[-1]

    yield open_with
    for app in apps:
        app.close()


@pytest.fixture
def words(opened: Callable[..., Zapomni]) -> Zapomni:
    """A store whose questions are answered by words alone."""
    return opened()


@pytest.fixture
def both(opened: Callable[..., Zapomni]) -> Zapomni:
    """A store whose questions are answered by words and by scripted vectors."""
    return opened(ScriptedEmbedder())
