"""The outline of a page: enough to put its lines back in their order, and not a word of what they say.

What a run keeps of an index must not outlive the memories that the index names, so of each line it keeps a hash, that
of the file it leads to, and how it ends. The words come from the pages as they are.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from zapomni.text.index_page import parse_index, target_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zapomni.text.index_page import Line

_EDGES: Final = "\ufeff\r\n"


def outline(text: str) -> list[list[str]]:
    """Return a page as one row a line: the hash of its words, that of its file, what stands before and behind them."""
    rows = []
    for line in parse_index(text).lines:
        words = line.text.strip(_EDGES)
        lead = line.text[: len(line.text) - len(line.text.lstrip("\ufeff"))] if words else ""
        rows.append([words_mark(line), target_mark(line), lead, line.text[len(lead) + len(words) :]])
    return rows


def rebuilt(rows: Iterable[Sequence[str]], pages: Iterable[str]) -> str:
    """Return the page of an outline with the words that stand on some pages now.

    A line that was changed since is known by its file; one whose words are nowhere any more is left out.
    """
    by_words: dict[str, str] = {}
    by_file: dict[str, str] = {}
    for page in pages:
        for line in parse_index(page).lines:
            words = line.text.strip(_EDGES)
            by_words.setdefault(_mark(words), words)
            by_file.setdefault(target_mark(line), words)
    by_words[_mark("")] = ""
    by_file.pop("", None)
    lines = ((by_words.get(words, by_file.get(file)), lead, end) for words, file, lead, end in rows)
    return "".join(f"{lead}{words}{end}" for words, lead, end in lines if words is not None)


def words_mark(line: Line) -> str:
    """Return the hash of what a line says."""
    return _mark(line.text.strip(_EDGES))


def target_mark(line: Line) -> str:
    """Return the hash of the file that an entry leads to, empty for other lines."""
    return _mark(target_key(line.entry.target)) if line.entry else ""


def _mark(words: str) -> str:
    return blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
