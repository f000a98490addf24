"""What a task may cost, without a model at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.llm.base import Text, Usage
from zapomni.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from zapomni.llm.base import Task
    from zapomni.llm.checked import Turn

IMAGE_TOKENS: Final = 1_600
"""What an image takes: the most that Anthropic counts for one (its documentation of vision)."""


def estimate_usage(task: Task, turn: Turn | None, reply: str) -> Usage:
    """Return about what a request and its reply take, for providers that count nothing and for dry runs."""
    texts = [task.instructions, *(part.text for part in task.parts if isinstance(part, Text)), *(turn or ())]
    images = sum(not isinstance(part, Text) for part in task.parts)
    read = sum(map(estimate_tokens, texts)) + images * IMAGE_TOKENS
    return Usage(tokens_in=read, tokens_out=estimate_tokens(reply))
