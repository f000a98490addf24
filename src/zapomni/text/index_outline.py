"""The outline of a page: enough to put its lines back in their order, and not a word of what they say.

What a run keeps of an index must not outlive the memories that the index names, so of each line it keeps a hash, that
of the file it leads to, and how it ends. The words come from the pages as they are.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from zapomni.digests import digest16
from zapomni.text.index_page import parse_index, target_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zapomni.text.index_page import Line


def outline(text: str) -> list[list[str]]:
    """Return a page as one row a line: the hash of its words, that of its file, what stands before and behind them."""
    rows = []
    for line in parse_index(text).lines:
        words = line.words
        lead = line.text[: len(line.text) - len(line.text.lstrip("\ufeff"))] if words else ""
        rows.append([words_mark(line), target_mark(line), lead, line.text[len(lead) + len(words) :]])
    return rows


def rebuilt(outlines: Mapping[str, Sequence[Sequence[str]]], pages: Iterable[str]) -> dict[str, str]:
    """Return the pages of some outlines with the words that stand on some pages now.

    A line that was changed since is known by its file, each in place of one that is no more; one whose words are
    nowhere any more is left out.
    """
    known = {words for rows in outlines.values() for words, _, _, _ in rows}
    by_words = {_mark(""): ""}
    changed = defaultdict[str, deque[str]](deque)
    for line in (line for page in pages for line in parse_index(page).lines):
        words = line.words
        if line.entry and words_mark(line) not in known:
            changed[target_mark(line)].append(words)
        by_words.setdefault(words_mark(line), words)

    def words_of(row: Sequence[str]) -> str | None:
        words, file, _, _ = row
        return by_words[words] if words in by_words else changed[file].popleft() if changed[file] else None

    found = {path: [(words_of(row), row[2], row[3]) for row in rows] for path, rows in outlines.items()}
    return {
        path: "".join(f"{lead}{words}{end}" for words, lead, end in lines if words is not None)
        for path, lines in found.items()
    }


def words_mark(line: Line) -> str:
    """Return the hash of what a line says."""
    return _mark(line.words)


def target_mark(line: Line) -> str:
    """Return the hash of the file that an entry leads to, empty for other lines."""
    return _mark(target_key(line.entry.target)) if line.entry else ""


def _mark(words: str) -> str:
    return digest16(words.encode("utf-8", "surrogatepass")).hex()
