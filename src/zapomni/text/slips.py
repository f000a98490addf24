"""Slips: how few strokes lie between two words, and the spellings of one that Russian itself allows."""

from __future__ import annotations

from typing import Final

_FLEETING: Final = ("о", "е")
_SHORTEST: Final = 3


def strokes(one: str, other: str, most: int) -> int:
    """Return how many letters must be put in, taken out, changed or swapped with the next; `most` + 1 when more.

    Optimal string alignment (Damerau's four slips, no letter touched twice; L. Boytsov, "Indexing methods for
    approximate dictionary searching", 2011), worked out in the band of `most` around the diagonal (E. Ukkonen, 1985).
    """
    far = most + 1
    if abs(len(one) - len(other)) > most:
        return far
    before: list[int] = []
    row = [at if at <= most else far for at in range(len(other) + 1)]
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [far] * (len(other) + 1)
        if i <= most:
            row[0] = i
        for j in range(max(1, i - most), min(len(other), i + most) + 1):
            same = letter == other[j - 1]
            row[j] = min(before[j - 1] + (not same), before[j] + 1, row[j - 1] + 1, far)
            if not same and i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == other[j - 1]:
                row[j] = min(row[j], last[j - 2] + 1)
        if min(row) > most:
            return far
    return row[-1]


def spellings(stem: str) -> list[str]:
    """Return what a Russian stem may be spelt like: `кеш` and `кэш`, `ветк` and `веток` (the fleeting vowel)."""
    if len(stem) < _SHORTEST or not "а" <= stem[-1] <= "я":
        return []
    swaps = {"е": "э", "э": "е"}
    found = [stem[:at] + swaps[letter] + stem[at + 1 :] for at, letter in enumerate(stem) if letter in swaps]
    if len(stem) > _SHORTEST and stem[-2] in _FLEETING:
        found.append(stem[:-2] + stem[-1])
    return found + [stem[:-1] + vowel + stem[-1] for vowel in _FLEETING]
