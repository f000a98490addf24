"""Pieces: a long text cut into parts that an embedder takes, at the edges a writer made."""

from __future__ import annotations

import re
from typing import Final

from zapomni.text.clusters import edge_before

_EDGES: Final = (
    re.compile(r"\n[^\S\n]*\n\s*"),  # paragraphs
    re.compile(r"\n\s*"),  # lines
    re.compile(r"""[.!?…]["'»”)\]]*\s+|[。！？]"""),  # sentences
)
_SPACE: Final = re.compile(r"\s+")


def pieces(text: str, size: int) -> list[str]:
    """Return a text in parts of at most `size` characters, none of them blank or with white space at its ends.

    Each part reaches as far as it can and ends at the highest edge in its second half: paragraph, line,
    sentence; else at its last white space. A longer word is cut between clusters, a longer cluster anywhere.
    Nothing but white space between parts is lost. `size` below 1 counts as 1.
    """
    size = max(size, 1)
    parts = []
    start, stop = _stripped(text)
    while stop - start > size:
        end = _edge(text, start, start + size)
        parts.append(text[start:end].rstrip())
        space = _SPACE.match(text, end)
        start = space.end() if space else end
    if start < stop:
        parts.append(text[start:stop])
    return parts


def headed_pieces(heading: str, text: str, size: int) -> list[str]:
    """Return the pieces of a text, each with the heading above it; a long heading leaves half of `size` to the text."""
    room = max(size - len(heading) - 1, size // 2)
    return [f"{heading}\n{piece}" if heading else piece for piece in pieces(text, room)]


def _edge(text: str, start: int, limit: int) -> int:
    half = start + (limit - start) // 2
    for edge in _EDGES:
        ends = [found.end() for found in edge.finditer(text, half, limit)]
        if ends:
            return ends[-1]
    if text[limit].isspace():
        return limit
    spaces = [found.start() for found in _SPACE.finditer(text, start, limit)]
    if spaces:
        return spaces[-1]
    end = edge_before(text, limit)
    return end if end > start else limit


def _stripped(text: str) -> tuple[int, int]:
    return len(text) - len(text.lstrip()), len(text.rstrip())
