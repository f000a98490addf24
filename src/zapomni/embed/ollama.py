"""Embedding models that Ollama runs, on this machine unless told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.embed._prefixes import prefixed
from zapomni.embed._remote import Item, RemoteEmbedder

if TYPE_CHECKING:
    import httpx2

    from zapomni.embed.base import Task
    from zapomni.settings import EmbedderSettings


class Ollama:
    """The form of `POST /api/embed`; it answers in order and names no places."""

    usual_url = "http://127.0.0.1:11434"
    usual_model = "bge-m3"
    usual_batch = 10
    piece = 1_600

    def sized(self, model: str) -> bool:  # noqa: ARG002 - Ollama cuts the vectors of any model
        """Any: Ollama itself cuts the vectors, which suits models trained for it."""
        return True

    def request(self, model: str, texts: list[str], task: Task, dimension: int | None) -> tuple[str, dict[str, Any]]:
        """Let Ollama cut what its model cannot hold: pieces are short, so this happens to odd texts only."""
        body: dict[str, Any] = {"model": model, "input": prefixed(model, texts, task), "truncate": True}
        if dimension is not None:
            body["dimensions"] = dimension
        return "/api/embed", body

    def read(self, answer: dict[str, Any]) -> list[Item]:
        """Read `embeddings`."""
        return [Item(None, values) for values in answer["embeddings"]]


def make(settings: EmbedderSettings, transport: httpx2.BaseTransport | None = None) -> RemoteEmbedder:
    """Return the provider; asks nobody. Raises `ConfigError` for an unsafe address."""
    return RemoteEmbedder(settings, Ollama(), transport)
