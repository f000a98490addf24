"""Lines that go from an index with their memory, and come back with it: where they were, as they were."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from zapomni.model.mirror import KeptLine
from zapomni.text.index_cut import INDEX
from zapomni.text.index_outline import target_mark, words_mark
from zapomni.text.index_page import bare_line, parse_index, target_key, with_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zapomni.text.index_page import Line

ABOVE: Final = 24
"""Lines above a removed one by which its place is found again: most of them would have to go as well to lose it."""

_BOM: Final = "\ufeff"


def lines_of(pages: Mapping[str, str], path: str) -> tuple[KeptLine, ...]:
    """Return the entries that lead to a file, in their order on each page."""
    key = target_key(path)
    return tuple(
        KeptLine(path=path, page=page, text=line.text, above=_above(lines[: line.number - 1]))
        for page, lines in ((page, parse_index(text).lines) for page, text in pages.items())
        for line in lines
        if line.entry is not None and target_key(line.entry.target) == key
    )


def with_lines_of(pages: Mapping[str, str], kept: Iterable[KeptLine], path: str) -> dict[str, str]:
    """Return the pages with the lines of a file that is back at `path`, each behind what stood above it.

    Where nothing of that stands any more it comes to the end, and to the index if its page is gone. A line that stands
    on the page already is not put there again.
    """
    after = {INDEX: "", **pages}
    there = {page: Counter(line.words for line in parse_index(text).entries) for page, text in after.items()}
    for one in kept:
        page = one.page if one.page in after else INDEX
        text = one.text if one.path == path else with_entries(one.text, [], became={one.path: path})
        words = bare_line(text)
        if there[page][words]:
            there[page][words] -= 1
        else:
            after[page] = _with_line(after[page], text, one.above)
    return after


def _above(lines: Sequence[Line]) -> tuple[str, ...]:
    """Return the marks of the nearest lines, the last one first."""
    return tuple(map(_mark, reversed(lines[-ABOVE:])))


def _mark(line: Line) -> str:
    """Return what a line is known by: an entry by its file, for its words may change."""
    return target_mark(line) or (words_mark(line) if line.words else "")


def _with_line(page: str, text: str, above: Sequence[str]) -> str:
    """Return a page with a line in its place, each line of it with an end but the last where it had none."""
    lines = parse_index(page).lines
    ending = "\r\n" if lines and lines[0].text.endswith("\r\n") else "\n"
    place = _place([_mark(line) for line in lines], above)
    before, behind = ("".join(line.text for line in part) for part in (lines[:place], lines[place:]))
    bare = text.removeprefix(_BOM)
    if before.strip(_BOM) and not before.endswith("\n"):
        before, bare = before + ending, bare.rstrip("\r\n")
    if behind.strip(_BOM) and not bare.endswith("\n"):
        bare += ending
    lead = _BOM if not before and _BOM in {page[:1], text[:1]} else ""
    return f"{lead}{before}{bare}{behind.removeprefix(_BOM) if not before else behind}"


def _place(marks: Sequence[str], above: Sequence[str]) -> int:
    """Return how many lines of a page stand before a line that had some above it.

    Of places that look alike it is the one with the most of those lines above it.
    """
    nearest = next((at for at, mark in enumerate(above) if mark and mark in marks), None)
    if nearest is None and any(above):
        return len(marks)
    place, blanks = 0, list(above[:nearest]).count("")
    if nearest is not None:
        alike = [at for at, mark in enumerate(marks) if mark == above[nearest]]
        place = max(alike, key=lambda at: _same(reversed(marks[: at + 1]), above[nearest:])) + 1
    while blanks and place < len(marks) and not marks[place]:
        place, blanks = place + 1, blanks - 1
    return place


def _same(some: Iterable[str], others: Iterable[str]) -> int:
    """Return with how many equal marks two rows begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(some, others, strict=False)))
