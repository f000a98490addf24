"""Quotes: where in a text stands what somebody says he took from it word for word."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from zapomni.text.pieces import pieces

_ALIKE: Final = str.maketrans({
    "ё": "е", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‐": "-", "‑": "-", "–": "-",
    "—": "-", "−": "-",
})  # fmt: skip
"""Characters that a model writes for one another."""
_ROUND: Final = re.compile(r'^[\s"…]+|^\.{3}\s*|[\s"…]+$|\s*\.{3}$')
"""What a model puts around a quote."""


class Place(NamedTuple):
    """Where something stands in a text, in characters."""

    start: int
    end: int

    def moved(self, by: int) -> Place:
        """Return the place in a text that begins so many characters before this one."""
        return Place(self.start + by, self.end + by)


class Quotable:
    """A text that is looked through for quotes, once as it is and then folded."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded, self._origin = "", [0]

    def find(self, quote: str) -> Place | None:
        """Return where a quote stands first: word for word, else whatever its case, white space and dashes.

        None for a quote that is blank or stands nowhere.
        """
        bare = quote.strip()
        if not bare:
            return None
        at = self._text.find(bare)
        return Place(at, at + len(bare)) if at >= 0 else self._find_folded(bare)

    def _find_folded(self, quote: str) -> Place | None:
        if not self._folded:
            self._folded, self._origin = _folded(self._text)
        wanted = _ROUND.sub("", _folded(quote)[0])
        at = self._folded.find(wanted) if wanted else -1
        if at < 0:
            return None
        return Place(self._origin[at], self._origin[at + len(wanted) - 1] + 1)


def places(text: str, size: int) -> list[Place]:
    """Return where the `pieces` of a text stand in it."""
    found, at = [], 0
    for piece in pieces(text, size):
        start = text.index(piece, at)  # nothing but white space stands between them, and none begins with it
        at = start + len(piece)
        found.append(Place(start, at))
    return found


def _folded(text: str) -> tuple[str, list[int]]:
    """Return a text as quotes are compared, and for each of its characters where it comes from."""
    folded: list[str] = []
    origin: list[int] = []
    for at, char in enumerate(text):
        if char.isspace():
            if folded and folded[-1] != " ":
                folded.append(" ")
                origin.append(at)
            continue
        for one in char.casefold().translate(_ALIKE):
            folded.append(one)
            origin.append(at)
    return "".join(folded), origin
