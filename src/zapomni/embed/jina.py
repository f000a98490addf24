"""Jina's embeddings: OpenAI's form with a task for each side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.embed._remote import Item, RemoteEmbedder
from zapomni.embed.openai import read_data

if TYPE_CHECKING:
    import httpx2

    from zapomni.embed.base import Task
    from zapomni.settings import EmbedderSettings

TASKS: Final = {"query": "retrieval.query", "passage": "retrieval.passage"}


class Jina:
    """The form of `POST /v1/embeddings` at Jina."""

    usual_url = "https://api.jina.ai/v1"
    usual_model = "jina-embeddings-v3"
    usual_batch = 50
    piece = 2_000

    def sized(self, model: str) -> bool:
        """From v3 on models have tasks and can choose."""
        return not model.startswith("jina-embeddings-v2")

    def request(self, model: str, texts: list[str], task: Task, dimension: int | None) -> tuple[str, dict[str, Any]]:
        """Return the path and the body, with the task for models that have adapters for it."""
        body: dict[str, Any] = {"model": model, "input": texts}
        if self.sized(model):
            body["task"] = TASKS[task]
        if dimension is not None:
            body["dimensions"] = dimension
        return "/embeddings", body

    def read(self, answer: dict[str, Any]) -> list[Item]:
        """Read `data`, whose items name their places."""
        return read_data(answer)


def make(settings: EmbedderSettings, transport: httpx2.BaseTransport | None = None) -> RemoteEmbedder:
    """Return the provider; asks nobody. Raises `ConfigError` for an unsafe address."""
    return RemoteEmbedder(settings, Jina(), transport)
