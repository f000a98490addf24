"""Fitting hits into a budget of tokens, best first, and naming what had no room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Hit


def cost(hit: Hit) -> int:
    """Return the estimated tokens of a hit as it is shown: title, description and content."""
    memory = hit.memory
    return estimate_tokens("\n".join(part for part in (memory.title, memory.description, memory.content) if part))


def pack(hits: Sequence[Hit], budget: int | None) -> tuple[list[Hit], list[Hit]]:
    """Return the hits that fit the budget and those left out.

    A hit too large for what remains is passed over, so that a smaller one behind it may still fit.
    """
    if budget is None:
        return list(hits), []
    kept: list[Hit] = []
    left_out: list[Hit] = []
    room = budget
    for hit in hits:
        price = cost(hit)
        if price <= room:
            kept.append(hit)
            room -= price
        else:
            left_out.append(hit)
    return kept, left_out
