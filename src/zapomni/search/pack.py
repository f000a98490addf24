"""Fitting hits into a budget of tokens, best first, and naming what had no room."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from zapomni.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Hit
    from zapomni.model.document import DocumentHit

T = TypeVar("T", bound="Hit | DocumentHit")


def cost(hit: Hit | DocumentHit) -> int:
    """Return the estimated tokens of a hit as it is shown."""
    return estimate_tokens(hit.shown)


def pack(hits: Sequence[T], budget: int | None) -> tuple[list[T], list[T]]:
    """Return the hits that fit the budget, each as it is shown, and those left out.

    A hit too large for what remains is passed over, so that a smaller one behind it may still fit.
    """
    if budget is None:
        return list(hits), []
    kept: list[T] = []
    left_out: list[T] = []
    room = budget
    for hit in hits:
        price = cost(hit)
        if price <= room:
            kept.append(hit)
            room -= price
        else:
            left_out.append(hit)
    return kept, left_out
