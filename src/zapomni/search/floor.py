"""The floor: an unrelated question returns nothing, however near the nearest memory happens to lie."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol, TypeVar

from zapomni.search.constants import (
    GATE,
    GATE_ACROSS,
    GATE_ACROSS_GROWTH,
    GATE_BEHIND,
    GATE_GROWTH,
    WORD_EVIDENCE,
    WORDS_ALONE,
)
from zapomni.text.language import is_russian

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.search.lexical import WordScore


class Judged(Protocol):
    """What can be judged: its number in the store and its text."""

    @property
    def no(self) -> int: ...  # noqa: D102

    @property
    def text(self) -> str: ...  # noqa: D102


T = TypeVar("T", bound=Judged)


def above_floor(ranked: Sequence[T], shares: Sequence[float]) -> list[T]:
    """Return the hits that are evidence enough by their shares of the gate; none unless one passes the whole of it."""
    if max(shares, default=0.0) < 1:
        return []
    return [item for item, share in zip(ranked, shares, strict=True) if share >= GATE_BEHIND]


def shares_of_gate(
    ranked: Sequence[Judged],
    question: str,
    words: Mapping[int, WordScore],
    cosines: Mapping[int, float],
    visible: int,
) -> list[float]:
    """Return the evidence for each hit as a share of what is asked of the best one.

    `visible` is how many items could have been found. An item without a vector is judged by its words.
    """
    russian = is_russian(question)
    held = []
    for item in ranked:
        said = words.get(item.no), cosines.get(item.no)
        share, lower = (_share_of_gate(*said, visible, across=across) for across in (False, True))
        # The gate across languages is the lower one: only where the two disagree does it matter which one it is.
        if share < 1 and lower >= GATE_BEHIND and is_russian(item.text) != russian:
            share = lower
        held.append(share)
    return held


def _share_of_gate(words: WordScore | None, cosine: float | None, visible: int, *, across: bool) -> float:
    """Return the evidence for a hit as a share of what is asked of it."""
    own, near = (words.own, words.near) if words is not None else (0.0, 0.0)
    among = math.log(max(visible, 1))
    if cosine is None:
        return max(own, near) / (WORDS_ALONE + GATE_GROWTH * among)
    base, growth = (GATE_ACROSS, GATE_ACROSS_GROWTH) if across else (GATE, GATE_GROWTH)
    return (cosine + WORD_EVIDENCE * near) / (base + growth * among)
