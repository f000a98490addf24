"""Chunks: a document cut into the pieces that are searched, at the edges its writer made.

The cut is our own, like that of `pieces`, for it takes linear time: semantic_text_splitter 0.29 keeps fenced blocks and
words whole too, but a run of 20,000 blank lines takes it 16 seconds.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise, takewhile
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple
from zlib import crc32

from msgspec import Struct

from zapomni.model.document import Chunk
from zapomni.text.clusters import edge_before
from zapomni.text.headings import Heading, even, outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zapomni.text.headings import Fence

TRAIL_LIMIT: Final = 6
"""Most headings above a piece: the levels that CommonMark has."""
CONTENTS_WEIGHT: Final = 0.3
"""Tables of contents: they hold the words of every section and say nothing about any."""
SOURCES_WEIGHT: Final = 0.5
"""Lists of references and links, licences, and what machines wrote for machines: met by chance more than asked for."""
CHANGES_WEIGHT: Final = 0.7
"""Changelogs: they name everything once, and are at times what is asked for."""

_JOINED: Final = 4
"""Small sections are joined up to one part in so many of the size; more would blur what each is about."""
_RUN: Final = 8
"""One small section in about so many begins a piece whatever stands before it, so that no change is felt far."""
_AHEAD: Final = 100
"""Characters behind an edge that are looked at to tell its sort."""
_TYPED: Final = 40
"""Characters of a word of ASCII that no person types: hashes have 40 and more."""

_PARAGRAPH: Final = re.compile(r"\n(?=[^\S\n]*\n)")
_ITEM: Final = re.compile(r"\n(?=[^\S\n]*(?:[-*+>|]|\d{1,9}[.)]|```|~~~))")
_SENTENCE: Final = re.compile(r"""[.!?…]["'»”)\]]*(?=\s+[^a-zа-яё\s])|[。！？](?=\w)""")
_LINE: Final = re.compile(r"\n")
_SPACE: Final = re.compile(r"\s")
_INK: Final = re.compile(r"\S")
_WRITTEN: Final = (_PARAGRAPH, _ITEM, _SENTENCE, _LINE)
_LINES: Final = (_PARAGRAPH, _LINE)

_NUMBERING: Final = re.compile(r"^[\W\d_]+|[\W_]+$")
_NAMES: Final = {
    CONTENTS_WEIGHT: (
        "contents", "table of contents", "toc", "on this page",
        "содержание", "оглавление", "алфавитный указатель", "предметный указатель",
    ),
    SOURCES_WEIGHT: (
        "references", "bibliography", "works cited", "links", "external links", "see also", "further reading",
        "license", "licence", "licensing", "copyright",
        "список литературы", "литература", "библиография", "источники", "список источников",
        "список использованных источников", "ссылки", "полезные ссылки", "смотрите также", "см. также", "лицензия",
    ),
    CHANGES_WEIGHT: (
        "changelog", "change log", "changes", "release notes", "release history", "version history", "revision history",
        "журнал изменений", "список изменений", "история изменений", "история версий", "изменения",
    ),
}  # fmt: skip
_NAMED: Final = {name: weight for weight, names in _NAMES.items() for name in names}
_LINK: Final = re.compile(r"\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,300}\])|https?://[^\s<>]+")
_LEADERS: Final = ("...", "…", ". .", "___")
_FEW: Final = 3  # links or leaders that make no list yet


class _Section(NamedTuple):
    """What stands from one heading to the next: `trail` ends with its own, `home` is that of its neighbours."""

    start: int
    end: int
    home: tuple[str, ...] = ()
    trail: tuple[str, ...] = ()
    weight: float = 1.0


def chunks(
    text: str,
    *,
    layout: str,
    start: int = 0,
    size: int = 2000,
    overlap: int = 200,
    pages: Sequence[int] = (),
    lined: bool = True,
) -> list[Chunk]:
    r"""Return the pieces of a document from `start` on, in its order; white space alone is none.

    Each is `text[start:end]` with its line ends `\n`, at most `size` characters, and stands in one section and
    on one page. A section that fits is one piece, with its heading; a larger one is cut at paragraphs, items,
    sentences (`lines`: at blank lines, lines), else words, each piece but the first repeating up to `overlap`
    characters of the one before. No cluster, word or fenced block is cut that fits. A heading with nothing
    below it opens the section below; small neighbours under one heading are joined, and their trail is what
    they share. How one section is cut depends on it alone, so its pieces stay when others change.

    `size` is 200 to 8,000, `overlap` less than half of it. `pages` are the places where pages begin. Lines
    count from 1, and are 0 unless `lined`. Takes linear time.
    """
    flat = even(text)
    known = outline(flat, layout=layout, start=start)
    code = layout == "lines"
    cut = _Cut(flat=flat, fences=known.fences, edges=_LINES if code else _WRITTEN, size=size, overlap=overlap)
    sections = _sections(flat, known.headings, start, named=not code)
    found: list[Chunk] = []
    line, counted = 1, 0
    for section in _paged(_joined(sections, size // _JOINED), pages):
        for begin, end in cut.spans(section.start, section.end):
            line, counted = line + flat.count("\n", counted, begin), begin
            page = bisect_right(pages, begin)
            found.append(_chunk(text[begin:end], begin, section, line=line if lined else 0, page=page))
    return found


def _chunk(raw: str, start: int, section: _Section, *, line: int, page: int) -> Chunk:
    content = raw.replace("\r\n", "\n").replace("\r", "\n")
    return Chunk(
        text=content,
        start=start,
        end=start + len(raw),
        first_line=line,
        last_line=line and line + content.count("\n"),
        page=page,
        trail=section.trail[:TRAIL_LIMIT],
        weight=min(section.weight, _weight(content)),
    )


def _sections(flat: str, headings: list[Heading], start: int, *, named: bool) -> Iterator[_Section]:
    path: list[Heading] = []
    first, last = Heading(start, start, -1, ""), Heading(len(flat), len(flat), -1, "")
    for heading, below in pairwise([first, *headings, last]):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        if below.level > heading.level and not flat[heading.end : below.start].strip():
            continue  # it says nothing alone
        home, trail = _titles(path[:-1]), _titles(path)
        yield _Section(start, below.start, home, trail, _named_weight(trail) if named else 1.0)
        start = below.start


def _titles(path: list[Heading]) -> tuple[str, ...]:
    return tuple(heading.title for heading in path if heading.title)


def _joined(sections: Iterable[_Section], limit: int) -> Iterator[_Section]:
    group: _Section | None = None
    for section in sections:
        if group and section.end - group.start <= limit and _joins(group, section):
            shared = takewhile(lambda pair: pair[0] == pair[1], zip(group.trail, section.trail, strict=False))
            group = group._replace(end=section.end, trail=tuple(title for title, _ in shared))
            continue
        if group:
            yield group
        group = section
    if group:
        yield group


def _joins(group: _Section, section: _Section) -> bool:
    depth = len(group.home)
    stands_under_it = len(section.trail) > depth and section.trail[:depth] == group.home
    return stands_under_it and section.weight == group.weight and crc32(ascii(section.trail).encode()) % _RUN > 0


def _paged(sections: Iterable[_Section], pages: Sequence[int]) -> Iterator[_Section]:
    for section in sections:
        inside = pages[bisect_right(pages, section.start) : bisect_left(pages, section.end)]
        for start, end in pairwise([section.start, *inside, section.end]):
            yield section._replace(start=start, end=end)


class _Cut(Struct, frozen=True, kw_only=True):
    """How one text is cut: what stays whole, and at which edges, the better ones first."""

    flat: str
    fences: Sequence[Fence]
    edges: tuple[re.Pattern[str], ...]
    size: int
    overlap: int

    def spans(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield where each piece of a section begins and ends, without blank lines or space around it."""
        stop = start + len(self.flat[start:stop].rstrip())
        before = at = start
        while at < stop:
            word = self._word(at, stop)
            before, at = self._piece(before, at, word, stop)
            yield before, before + len(self.flat[before:at].rstrip())

    def _piece(self, before: int, at: int, word: int, stop: int) -> tuple[int, int]:
        for begin in self._begins(before, at, word):
            end = self._end(begin, word, stop)
            if end > word:
                return begin, end
        return word, max(edge_before(self.flat, word + self.size), word + 1)

    def _begins(self, before: int, at: int, word: int) -> Iterator[int]:
        """Yield where a piece may begin whose new text begins at `word`: with what is repeated, indented, bare."""
        if before < at and (repeated := self._repeated(max(before + 1, at - self.overlap), at)) < at:
            yield repeated
        yield self._indented(at, word)
        yield word

    def _repeated(self, low: int, at: int) -> int:
        """Return where the text before `at` may begin again, not before `low`; `at` where it is one long word."""
        for edge in (*self._edges(at), _SPACE):
            first = min(self._ends(edge, low, at), default=at)
            word = self._word(first, at)
            if word < at:
                return self._indented(first, word)
        return at

    def _end(self, begin: int, word: int, stop: int) -> int:
        """Return the best edge for a piece to end at; `word` where nothing behind it can be kept whole."""
        limit = begin + self.size
        if stop <= limit:
            return stop
        fence = self._fence(limit)
        if fence and self._fits(fence):
            limit = fence.start
        half = max(word + 1, begin + (limit - begin) // 2)
        for edge in self._edges(limit):
            if ends := self._ends(edge, half, limit):
                return ends[-1]
        spaces = [space.start() for space in _SPACE.finditer(self.flat, word, limit + 1)]
        return spaces[-1] if spaces else word

    def _edges(self, at: int) -> tuple[re.Pattern[str], ...]:
        return _LINES if self._fence(at) else self.edges

    def _ends(self, edge: re.Pattern[str], low: int, high: int) -> list[int]:
        """Return the edges of one sort from `low` to `high`, none of them inside a fence that stays whole."""
        ends = [found.end() for found in edge.finditer(self.flat, low - 1, high + _AHEAD) if found.end() <= high]
        return [end for end in ends if not ((fence := self._fence(end)) and self._fits(fence))] if self.fences else ends

    def _fence(self, at: int) -> Fence | None:
        """Return the fence that a cut at `at` would break."""
        before = bisect_left(self.fences, at, key=itemgetter(0)) - 1
        return self.fences[before] if before >= 0 and at < self.fences[before].end else None

    def _fits(self, fence: Fence) -> bool:
        return fence.end - fence.start <= self.size

    def _word(self, at: int, stop: int) -> int:
        found = _INK.search(self.flat, at, stop)
        return found.start() if found else stop

    def _indented(self, at: int, word: int) -> int:
        """Return where the line of `word` begins if that is not before `at`, for indentation means something."""
        line = self.flat.rfind("\n", max(at - 1, 0), word) + 1
        return line if line >= at else word


def _named_weight(trail: tuple[str, ...]) -> float:
    return min((_NAMED.get(_NUMBERING.sub("", title).casefold(), 1.0) for title in trail), default=1.0)


def _weight(content: str) -> float:
    """Return what a piece is worth by its looks: lines that lead to pages, runs that no person types, links alone."""
    if any(leader in content for leader in _LEADERS):
        lines = content.split("\n")
        leading = sum(map(_leads, lines))
        if leading >= _FEW and 2 * leading > sum(map(bool, lines)):
            return CONTENTS_WEIGHT
    words = content.split()
    ink = sum(map(len, words))
    if 2 * sum(len(word) for word in words if len(word) >= _TYPED and word.isascii()) > ink:
        return SOURCES_WEIGHT
    rest, links = _LINK.subn("", content)
    return SOURCES_WEIGHT if links >= _FEW and 4 * sum(map(len, rest.split())) < ink else 1.0


def _leads(line: str) -> bool:
    """Tell whether a line leads to a page, as in `Installation ..... 12`."""
    bare = line.rstrip()
    number = len(bare) - len(bare.rstrip("0123456789"))
    return number > 0 and bare[:-number].rstrip().endswith(_LEADERS)
