"""What open models were trained to see before a question and before a text, from their model cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.embed.base import Task

WEB_SEARCH: Final = "Given a web search query, retrieve relevant passages that answer the query"
PREFIXES: Final[dict[str, dict[Task, str]]] = {
    "embeddinggemma": {"query": "task: search result | query: ", "passage": "title: none | text: "},
    "multilingual-e5": {"query": "query: ", "passage": "passage: "},
    "mxbai-embed-large": {"query": "Represent this sentence for searching relevant passages: "},
    "nomic-embed-text": {"query": "search_query: ", "passage": "search_document: "},
    "qwen3-embedding": {"query": f"Instruct: {WEB_SEARCH}\nQuery:"},
    "snowflake-arctic-embed2": {"query": "query: "},
}
"""By the start of the model's name, its owner left out. A change here needs a higher `preparation`."""


def prefixed(model: str, texts: Sequence[str], task: Task) -> list[str]:
    """Return the texts as the model wants to see them."""
    name = model.lower().rpartition("/")[2]
    prefix = next((by_task.get(task, "") for start, by_task in PREFIXES.items() if name.startswith(start)), "")
    return [prefix + text for text in texts]
