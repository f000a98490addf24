"""OpenAI's embeddings, and those of every server that speaks the same (vLLM, LM Studio, llama.cpp, TEI)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from zapomni.embed._prefixes import prefixed
from zapomni.embed._remote import Item, RemoteEmbedder

if TYPE_CHECKING:
    import httpx2

    from zapomni.embed.base import Task
    from zapomni.settings import EmbedderSettings


class OpenAi:
    """The form of `POST /v1/embeddings`."""

    usual_url = "https://api.openai.com/v1"
    usual_model = "text-embedding-3-small"
    usual_batch = 64
    piece = 2_000

    def __init__(self, base_url: str | None) -> None:
        self._root = "" if base_url is None or urlsplit(base_url).path else "/v1"

    def sized(self, model: str) -> bool:
        """Only these can choose; others would refuse."""
        return model.startswith("text-embedding-3-")

    def request(self, model: str, texts: list[str], task: Task, dimension: int | None) -> tuple[str, dict[str, Any]]:
        """Return the path and the body."""
        body: dict[str, Any] = {"model": model, "input": prefixed(model, texts, task)}
        if dimension is not None:
            body["dimensions"] = dimension
        return f"{self._root}/embeddings", body

    def read(self, answer: dict[str, Any]) -> list[Item]:
        """Read `data`, whose items name their places."""
        return read_data(answer)


def read_data(answer: dict[str, Any]) -> list[Item]:
    """Return the items of an answer in OpenAI's form."""
    return [Item(item.get("index"), item["embedding"]) for item in answer["data"]]


def make(settings: EmbedderSettings, transport: httpx2.BaseTransport | None = None) -> RemoteEmbedder:
    """Return the provider; asks nobody. Raises `ConfigError` for an unsafe address."""
    return RemoteEmbedder(settings, OpenAi(settings.base_url), transport)
