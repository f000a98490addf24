"""The tokenizer of multilingual-e5-small: SentencePiece Unigram, found by Viterbi word by word.

No piece holds the word mark anywhere but at its start (checked over all 250,002), so the best path through
a text is the best path through each of its words, and words repeat.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK: Final = "\u2581"
"""SentencePiece writes it for a space, at the start of each word."""
UNKNOWN_PENALTY: Final = 10.0
"""How far below the rarest piece one unknown character scores (SentencePiece's `kUnkPenalty`)."""
REMEMBERED: Final = 20_000
"""Words whose pieces are kept: about 10 MB."""
LONGEST_REMEMBERED: Final = 32


class Tokenizer:
    """Cuts text into the numbers of the model's pieces.

    `pieces` and `scores` are by number, `unknown` is the piece for what no other covers, `norm` is the
    model's own table of what one character is replaced with.
    """

    def __init__(self, pieces: Sequence[str], scores: Sequence[float], unknown: int, norm: Mapping[int, str]) -> None:
        self._number = {piece: number for number, piece in enumerate(pieces) if number != unknown}
        self._scores = scores
        self._unknown = unknown
        self._unknown_score = min(scores) - UNKNOWN_PENALTY
        self._longest = max(map(len, pieces))
        self._norm = norm
        self._word = lru_cache(REMEMBERED)(self._search)

    def __call__(self, text: str) -> list[int]:
        """Return the pieces of a text in order, without end marks."""
        text = re.sub(" {2,}", " ", text.translate(self._norm))
        marked = text.replace(" ", MARK) if text.startswith(" ") else MARK + text.replace(" ", MARK)
        numbers: list[int] = []
        for word in marked.split(MARK)[1:]:
            find = self._word if len(word) < LONGEST_REMEMBERED else self._search
            numbers += find(MARK + word)
        return numbers

    def _search(self, word: str) -> tuple[int, ...]:
        """Return the pieces of one word whose scores add up to the most (Viterbi over its characters)."""
        end = len(word)
        best = [0.0] + [-1e30] * end
        step: list[tuple[int, int]] = [(0, 0)] * (end + 1)
        for start in range(end):
            base = best[start]
            for stop in range(start + 1, min(end, start + self._longest) + 1):
                number = self._number.get(word[start:stop])
                if number is not None and base + self._scores[number] > best[stop]:
                    best[stop], step[stop] = base + self._scores[number], (number, start)
            if base + self._unknown_score > best[start + 1]:
                best[start + 1], step[start + 1] = base + self._unknown_score, (self._unknown, start)
        found: list[int] = []
        while end:
            number, end = step[end]
            found.append(number)
        return tuple(reversed(found))
