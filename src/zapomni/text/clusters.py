"""Clusters: where a text may be cut without breaking what a reader sees as one character."""

from __future__ import annotations

import unicodedata
from typing import Final

_JOINER: Final = "\u200d"
_FLAG: Final = ("\U0001f1e6", "\U0001f1ff")
_TAILS: Final = (
    ("\u200c", "\u200d"),  # joiners
    ("\u1160", "\u11ff"),  # vowels and finals of a Korean syllable written apart
    ("\ud7b0", "\ud7ff"),
    ("\udc00", "\udfff"),  # the second half of a pair that was never joined
    ("\U0001f3fb", "\U0001f3ff"),  # skin tones
    ("\U000e0020", "\U000e007f"),  # tags: the flag of Scotland
)


def is_edge(text: str, at: int) -> bool:
    """Tell whether `text` may be cut before position `at`; its two ends always are edges.

    A simplification of Unicode's grapheme clusters (UAX 29) that errs to the side of not cutting: accents,
    vowel signs, joined emoji, skin tones, flags, Korean syllables and CR LF stay together.
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after.isascii():
        return not (before == "\r" and after == "\n")
    if before == _JOINER or unicodedata.category(after)[0] == "M" or _within(after, _TAILS):
        return False
    return not (_within(before, (_FLAG,)) and _within(after, (_FLAG,)) and _flags_before(text, at) % 2)


def edge_before(text: str, at: int) -> int:
    """Return the last edge at or before `at`; 0 when the first cluster reaches beyond it."""
    while not is_edge(text, at):
        at -= 1
    return max(at, 0)


def _within(char: str, ranges: tuple[tuple[str, str], ...]) -> bool:
    return any(low <= char <= high for low, high in ranges)


def _flags_before(text: str, at: int) -> int:
    start = at
    while start and _within(text[start - 1], (_FLAG,)):
        start -= 1
    return at - start
