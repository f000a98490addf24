"""What a file is called: the ending of its name, its first heading, and how a title is kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from zapomni.text.clean import clean, preview

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE_LENGTH: Final = 200
"""Most characters of a title; a longer one is cut at a word."""
HEAD: Final = 64 * 1024
"""Characters in which a heading is looked for: what begins later is no title."""

_FENCE: Final = re.compile(r"(`{3,}|~{3,})")
_RULE: Final = re.compile(r"={3,}|-{3,}")


def ending(name: str) -> str:
    """Return the ending of a file's name in lower case with its dot, or nothing: `.gitignore` has none."""
    stem, dot, last = name.rpartition(".")
    return f".{last.lower()}" if stem and dot else ""


def stem(name: str) -> str:
    """Return a file's name without its ending."""
    return name[: len(name) - len(ending(name))]


def shown(title: str) -> str:
    """Return a title as one storable line of at most `TITLE_LENGTH` characters."""
    return clean(preview(title[: 10 * TITLE_LENGTH], TITLE_LENGTH))[0]


def first_heading(text: str, start: int = 0) -> str:
    """Return the first level-one heading of a Markdown text, `# so` or underlined by `===`; code is passed over."""
    before, fence = "", ""
    for line in _lines(text, start):
        opened = _FENCE.match(line)
        if fence:
            closes = opened and opened[1].startswith(fence) and not line.strip(fence[0])
            fence = "" if closes else fence
        elif opened:
            fence = opened[1]
        elif line.startswith(("# ", "#\t")):
            return shown(_without_closing(line[1:].strip()))
        elif before and line and not line.strip("="):
            return shown(before)
        before = "" if fence or opened else line
    return ""


def first_underlined(text: str) -> str:
    """Return the first line that a line of at least three `=` or `-` underlines, as reStructuredText has titles."""
    before = ""
    for line in _lines(text, 0):
        if before and _RULE.fullmatch(line) and not _RULE.fullmatch(before):
            return shown(before)
        before = line
    return ""


def _lines(text: str, start: int) -> Iterator[str]:
    return (line.strip() for line in text[start : start + HEAD].split("\n"))


def _without_closing(heading: str) -> str:
    bare = heading.rstrip("#")
    return bare.rstrip() if bare != heading and (not bare or bare[-1].isspace()) else heading
