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
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from zapomni.text.index_page import Line

ABOVE: Final = 24
"""Lines above a removed one by which its place is found again: most of them would have to go as well to lose it. As
many again are of those that had gone before it."""

_BOM: Final = "\ufeff"
_WENT: Final = "-"
"""Stands before the mark of a line that had gone before: alone it does not tell a place, for it may never come back."""


def lines_of(
    pages: Mapping[str, str], paths: Collection[str], went: Collection[KeptLine] = ()
) -> dict[str, tuple[KeptLine, ...]]:
    """Return the entries that lead to files, by those, in their order on each page.

    Of two paths that are spellings of one the last has them all.
    `went` are lines that have gone before: what stood above a line is told with them, so that lines that went one after
    the other come back in their order whichever comes first.
    """
    keys = {target_key(path): path for path in paths}
    found: dict[str, list[KeptLine]] = {path: [] for path in paths}
    before = [one for one in went if target_key(one.path) not in keys]
    for page, text in pages.items():
        rows = _with_gone(parse_index(text).lines, [one for one in before if one.page == page])
        for at, (_, line) in enumerate(rows):
            path = keys.get(target_key(line.entry.target)) if line is not None and line.entry else None
            if path is not None and line is not None:
                above = _above([mark for mark, _ in rows[:at]])
                found[path].append(KeptLine(path=path, page=page, text=line.text, above=above))
    return {path: tuple(lines) for path, lines in found.items()}


def _with_gone(lines: Iterable[Line], went: Iterable[KeptLine]) -> list[tuple[str, Line | None]]:
    """Return the lines of a page with their marks, and the marks of those that have gone where these would stand."""
    rows: list[tuple[str, Line | None]] = [(_mark(line), line) for line in lines]
    marks = [mark for mark, _ in rows]
    waiting = {_mark(parse_index(one.text).lines[0]): one.above for one in went}
    waiting = {mark: above for mark, above in waiting.items() if mark not in marks}
    while waiting:
        # A line may have stood below another one that has gone: that one first.
        known = [mark for mark, above in waiting.items() if _is_known(marks, above)] or [*waiting]
        for mark in known:
            place = _place(marks, waiting.pop(mark))
            marks.insert(place, mark)
            rows.insert(place, (f"{_WENT}{mark}", None))
    return rows


def with_lines_of(
    pages: Mapping[str, str], kept: Iterable[KeptLine], path: str, away: Collection[KeptLine] = ()
) -> dict[str, str]:
    """Return the pages with the lines of a file that is back at `path`, each behind what stood above it.

    `away` are lines that are gone still: what stood above may be among them. Where nothing of it is known any more the
    line comes to the end, and to the index if its page is gone. A line that stands on the page already is not put there
    again.
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
            after[page] = _with_line(after[page], text, one.above, [other for other in away if other.page == page])
    return after


def _above(marks: Sequence[str]) -> tuple[str, ...]:
    """Return the nearest marks of either sort, the last one first."""
    seen, above = Counter[bool](), list[str]()
    for mark in reversed(marks):
        went = mark.startswith(_WENT)
        seen[went] += 1
        if seen[went] <= ABOVE:
            above.append(mark)
    return tuple(above)


def _mark(line: Line) -> str:
    """Return what a line is known by: an entry by its file, for its words may change."""
    return target_mark(line) or (words_mark(line) if line.words else "")


def _with_line(page: str, text: str, above: Sequence[str], away: Iterable[KeptLine]) -> str:
    """Return a page with a line in its place, each line of it with an end but the last where it had none."""
    lines = parse_index(page).lines
    ending = "\r\n" if lines and lines[0].text.endswith("\r\n") else "\n"
    rows = _with_gone(lines, away)
    among = _place([mark.removeprefix(_WENT) for mark, _ in rows], above)
    place = sum(1 for _, line in rows[:among] if line is not None)
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
    bare = [mark.removeprefix(_WENT) for mark in above]
    nearest = next((at for at, mark in enumerate(bare) if mark and mark in marks), None)
    if not _is_known(marks, above):
        return len(marks)
    place, blanks = 0, bare[:nearest].count("")
    if nearest is not None:
        alike = [at for at, mark in enumerate(marks) if mark == bare[nearest]]
        place = max(alike, key=lambda at: _same(reversed(marks[: at + 1]), bare[nearest:])) + 1
    while blanks and place < len(marks) and not marks[place]:
        place, blanks = place + 1, blanks - 1
    return place


def _is_known(marks: Sequence[str], above: Sequence[str]) -> bool:
    """Tell whether a line stood on top of its page, or some line of those above it stands there."""
    real = any(mark and not mark.startswith(_WENT) for mark in above)
    return not real or any(mark and mark.removeprefix(_WENT) in marks for mark in above)


def _same(some: Iterable[str], others: Iterable[str]) -> int:
    """Return with how many equal marks two rows begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(some, others, strict=False)))
