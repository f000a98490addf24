"""Searching for agents: the lines of files in which something stands, within bounds on the work."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.errors import InvalidInput, Refused
from zapomni.files.matching import Pattern, Words
from zapomni.files.reading import below
from zapomni.files.walk import DEPTH_LIMIT

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from zapomni.files.guard import PathGuard, Place
    from zapomni.files.matching import Matcher, Spot

RESULTS: Final = 200
"""Most lines of one answer (features: 200)."""
FILE_LIMIT: Final = 2 * 2**20
"""Most bytes of a file that is searched (features: two megabytes)."""
FILES: Final = 20_000
"""Most files that one search opens."""
BYTES: Final = 200 * 10**6
"""Most bytes that one search reads: a large vault holds a tenth of that."""
LINE_SHOWN: Final = 300
"""Characters of a line that are shown."""

_BEFORE: Final = 60
"""Characters shown before a match in a longer line."""
_SNIFFED: Final = 8_192  # git calls a file binary if there is a NUL so far from its start


class TextMatch(Struct, frozen=True, kw_only=True):
    """A line in which the query stands: the file's path, the line's number from 1, the line or the part around."""

    path: str
    line: int
    text: str


class TextMatches(Struct, frozen=True, kw_only=True):
    """What a search came to: its lines, how many files it looked through, how many were too large or binary.

    `stopped` says why it ended before it had seen everything, None when it had.
    """

    matches: tuple[TextMatch, ...]
    files: int
    passed_over: int
    stopped: str | None


def search_text(
    guard: PathGuard,
    query: str,
    *,
    path: str = "",
    regex: bool = False,
    ignore_case: bool = True,
    limit: int = RESULTS,
) -> TextMatches:
    """Return the lines in which a query stands, by path and line, in a file, a folder or everything.

    Raises `InvalidInput` for a query that is empty or no pattern, `Refused` as the guard does.
    """
    if not 1 <= limit <= RESULTS:
        raise InvalidInput("limit", f"{limit} is not from 1 to {RESULTS}", remedy="Narrow the search by a path")
    places = below(guard, path, DEPTH_LIMIT)
    with _matcher(query, regex=regex, ignore_case=ignore_case) as matcher:
        search = _Search(guard, matcher, limit)
        stopped = next((why for place in places if not place.is_dir and (why := search.look_into(place))), None)
    return TextMatches(
        matches=tuple(search.matches), files=search.files, passed_over=search.passed_over, stopped=stopped
    )


class _Search:
    def __init__(self, guard: PathGuard, matcher: Matcher, limit: int) -> None:
        self._guard = guard
        self._matcher = matcher
        self._limit = limit
        self._bytes = 0
        self.matches: list[TextMatch] = []
        self.files = 0
        self.passed_over = 0

    def look_into(self, place: Place) -> str | None:
        """Search one file; return why the search ends here, None when it goes on."""
        if self.files + self.passed_over == FILES:
            return f"it looked through {FILES:,} files"
        if self._bytes >= BYTES:
            return f"it read {BYTES // 10**6} million bytes"
        lines = self._lines(place)
        if lines is None:
            self.passed_over += 1
            return None
        self.files += 1
        spots = self._matcher.find(lines)
        if spots is None:
            return "the pattern took too long; a simpler one may not"
        return self._take(place, lines, spots)

    def _take(self, place: Place, lines: list[str], spots: list[Spot]) -> str | None:
        for spot in spots:
            if len(self.matches) == self._limit:
                return f"there are more than {self._limit} lines"
            text = _around(lines[spot.line], spot.at)
            self.matches.append(TextMatch(path=place.shown, line=spot.line + 1, text=text))
        return None

    def _lines(self, place: Place) -> list[str] | None:
        """Return the lines of a file, None for one that is too large, binary, or gone."""
        if place.size > FILE_LIMIT:
            return None
        try:
            with self._guard.open(place) as file:
                raw = file.read(FILE_LIMIT + 1)
        except (Refused, OSError):
            return None
        self._bytes += len(raw)
        if len(raw) > FILE_LIMIT or b"\0" in raw[:_SNIFFED]:
            return None
        return [line.removesuffix("\r") for line in raw.decode("utf-8-sig", "replace").split("\n")]


def _matcher(query: str, *, regex: bool, ignore_case: bool) -> AbstractContextManager[Matcher]:
    if regex:
        return Pattern(query, ignore_case=ignore_case)
    return nullcontext(Words(query, ignore_case=ignore_case))


def _around(line: str, at: int) -> str:
    """Return a line, or the part of a longer one in which the match begins."""
    start = max(0, min(at - _BEFORE, len(line) - LINE_SHOWN)) if len(line) > LINE_SHOWN else 0
    return line[start : start + LINE_SHOWN]
