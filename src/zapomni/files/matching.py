"""Matching: in which lines of a text a query stands, as it is written or as a pattern."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Self

from zapomni.errors import InvalidInput
from zapomni.text.fold import fold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

QUERY_LIMIT: Final = 1_000
"""Most characters of a query."""
LINE_CUT: Final = 2_000
"""Characters of a line that a pattern sees."""
PATTERN_SECONDS: Final = 10.0
"""Seconds that one search has for a pattern: the clients of the MCP server wait for sixty."""

_CHILD: Final = Path(__file__).with_name("_regex_child.py")


class Spot(NamedTuple):
    """Where a query stands: the index of the line, and about the character of it."""

    line: int
    at: int


class Matcher(Protocol):
    """Finds the lines in which a query stands."""

    def find(self, lines: Sequence[str]) -> list[Spot] | None:
        """Return the first spot of each line that has one, None when the time is over."""


class Words:
    """A query as it is written; unless letter case counts, texts compare folded (`text.fold`): ё is е."""

    def __init__(self, query: str, *, ignore_case: bool) -> None:
        """Raise `InvalidInput` for a query that is empty, or of several lines."""
        self._form = _folded if ignore_case else _composed
        self._query = self._form(_checked(query))
        if not self._query:
            raise InvalidInput("query", "it is empty", remedy="Say what to look for")

    def find(self, lines: Sequence[str]) -> list[Spot] | None:
        """Return the first spot of each line that has one."""
        found = ((no, self._form(line).find(self._query)) for no, line in enumerate(lines))
        return [Spot(no, at) for no, at in found if at >= 0]


class Pattern:
    """A query as a regular expression of Python, matched by a process that is ended when its time is over.

    Holds the process until `close`; lines are cut at `LINE_CUT`.
    """

    def __init__(self, query: str, *, ignore_case: bool) -> None:
        """Raise `InvalidInput` for what is no pattern."""
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        asked = {"pattern": _checked(query), "ignore_case": ignore_case}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_CHILD)], stdin=pipe, stdout=pipe, stderr=quiet
        )
        self._timer = Timer(PATTERN_SECONDS, self._process.kill)
        self._timer.daemon = True
        self._timer.start()
        problem = self._ask(asked)
        if problem != "":
            self.close()
            remedy = "Write it as Python's re module does, or search without regex"
            raise InvalidInput("query", f"it is no pattern: {problem or 'reading it takes too long'}", remedy=remedy)

    def find(self, lines: Sequence[str]) -> list[Spot] | None:
        """Return the first spot of each line that has one, None when the time is over."""
        found = self._ask([line[:LINE_CUT] for line in lines])
        return [Spot(*pair) for pair in found] if isinstance(found, list) else None

    def close(self) -> None:
        """End the process."""
        self._timer.cancel()
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _ask(self, value: object) -> object:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(value).encode() + b"\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())
        except (OSError, ValueError):  # it was ended: its pipe is closed, or its answer broken off
            return None


def _checked(query: str) -> str:
    if len(query) > QUERY_LIMIT:
        raise InvalidInput("query", f"it has more than {QUERY_LIMIT:,} characters", remedy="Look for less")
    if "\n" in query:
        raise InvalidInput("query", "it has several lines", remedy="Look for one line; files are searched by lines")
    if not query:
        raise InvalidInput("query", "it is empty", remedy="Say what to look for")
    return query


def _folded(text: str) -> str:
    # Folding knows ё, but takes its slow way for it.
    return fold(text.replace("ё", "е").replace("Ё", "Е"))


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
