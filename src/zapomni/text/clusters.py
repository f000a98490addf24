"""Clusters: where a text may be cut without breaking what a reader sees as one character."""

from __future__ import annotations

import unicodedata
from typing import Final

_REACH: Final = 64
"""Most characters of one cluster; longer heaps of accents or joiners are cut anywhere."""
_FLAG_REACH: Final = 1024
"""How far back the halves of flags are counted."""
_JOINER: Final = "\u200d"
_FLAG: Final = ("\U0001f1e6", "\U0001f1ff")
_HALVES: Final = "".join(map(chr, range(ord(_FLAG[0]), ord(_FLAG[1]) + 1)))
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
    """Return the last edge at or before `at`; 0 when the first cluster reaches beyond it.

    Where none is among the last `_REACH` characters, `at` itself.
    """
    edges = (edge for edge in range(at, at - _REACH, -1) if is_edge(text, edge))
    return max(next(edges, at), 0)


def _within(char: str, ranges: tuple[tuple[str, str], ...]) -> bool:
    return any(low <= char <= high for low, high in ranges)


def _flags_before(text: str, at: int) -> int:
    before = text[max(0, at - _FLAG_REACH) : at]
    return len(before) - len(before.rstrip(_HALVES))
