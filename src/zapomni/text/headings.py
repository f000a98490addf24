"""Headings: what stands above each place of a text, and which blocks of code must stay whole."""

from __future__ import annotations

import re
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.text.clean import preview

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it import MarkdownIt

TITLE_LIMIT: Final = 200
"""Most characters of a heading that is shown above a piece."""

_READ: Final = 5 * TITLE_LIMIT  # characters of a heading that are looked at; its markup is shorter than the rest
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_MARKUP: Final = re.compile(
    r"""</?(?:a|b|br|code|em|i|img|kbd|small|span|strong|sub|sup)\b[^<>]*>  # inline HTML
    | [`*] | (?<!\w)_+ | _+(?!\w) | ~~                                      # code and emphasis
    | \\(?=[^\w\s])                                                         # escapes
    | \{[#.][^{}]*\}\s*$                                                    # an anchor: {#name}""",
    re.VERBOSE,
)
_UNDERLINED: Final = re.compile(
    r"""^[ ]{0,3}(?P<title>\S[^\n]{0,200})\n(?P<line>([=\-~^"'`#*+.:_])\3{2,})[ \t]*$""", re.MULTILINE
)
_SHORTEST: Final = 4  # docutils takes a shorter underline only below a title as short as that
_MODIFIER: Final = (
    r"export|default|declare|pub(?:\([a-z ]+\))?|public|private|protected|internal|static|final|abstract|async|virtual"
    r"|override|sealed|partial|data|open|inline|const|unsafe|extern|local"
)
_KEYWORD: Final = (
    r"def|class|function\*?|func|fun|fn|sub|interface|struct|enum(?:[ \t]+(?:class|struct))?|trait|impl|type|module"
    r"|namespace|object|protocol|record"
    r"|(?i:create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:table|view|function|procedure)(?:[ \t]+if[ \t]+not[ \t]+exists)?)"
)
_DEFINED: Final = re.compile(
    rf"""^(?P<indent>[ \t]*)(?:
    (?:(?:{_MODIFIER})[ \t]+)*(?:{_KEYWORD})
    (?:[ \t]*<[^<>\n]{{0,99}}>)?[ \t]+(?:\([^()\n]{{0,99}}\)[ \t]*)?        # type parameters, a receiver
    (?P<name>[\w$][\w$.:]*)
    (?=[ \t]*(?:[({{\[<:=;]|$)|[ \t]+(?:extends|implements|with|struct|interface|for|as|on)\b)
    | \[\[?(?P<table>[^\W\d][\w\ .:/"'-]{{0,99}})\]\]?[ \t]*$              # a table of INI or TOML
    )""",
    re.MULTILINE | re.VERBOSE,
)
_LEAD: Final = re.compile(r"[ \t]*(?:[@#*;%\[]|//|/\*|--)")
"""Lines above a definition that belong to it: comments, decorators, attributes."""


class Heading(NamedTuple):
    """A heading from `start` to behind its line end at `end`; a smaller `level` stands above a larger one."""

    start: int
    end: int
    level: int
    title: str


class Fence(NamedTuple):
    """A fenced block, both its marks included, without white space around it."""

    start: int
    end: int


class Outline(NamedTuple):
    """The headings and the fenced blocks of a text, each in the order of the text."""

    headings: list[Heading]
    fences: list[Fence]


def even(text: str) -> str:
    r"""Return the text with every line end `\n` and every character where it was: CR LF becomes a space and `\n`."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def outline(text: str, *, layout: str, start: int = 0) -> Outline:
    """Return the headings and fences of a text from `start` on, by the rules of its layout; line ends may be mixed.

    `markdown`: CommonMark; headings inside quotes and lists are none of the page. `lines`: definitions of code
    (`class`, `def`, `func` and their like) by indentation, with the comments right above them, and tables of
    INI and TOML. Any other: underlined titles as reStructuredText has them. Titles are bare of markup, on one
    line, at most `TITLE_LIMIT` characters. Takes linear time.
    """
    flat = even(text)
    if layout == "markdown":
        return _markdown(flat, start)
    if layout == "lines":
        return Outline(list(_definitions(flat, start)), [])
    return Outline(list(_underlined(flat, start)), [])


def _markdown(flat: str, start: int) -> Outline:
    body = flat[start:]
    lines = list(accumulate((len(line) + 1 for line in body.split("\n")), initial=start))
    found = Outline([], [])
    tokens = _parser().parse(body)
    for token, content in pairwise([*tokens, *tokens[-1:]]):
        if token.map is None:
            continue
        begin, end = (min(lines[at], len(flat)) for at in token.map)
        if token.type == "heading_open" and token.level == 0:
            found.headings.append(Heading(begin, end, int(token.tag[1]), _title(content.content)))
        elif token.type == "fence":
            found.fences.append(_fence(flat, begin, end))
    return found


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _fence(flat: str, begin: int, end: int) -> Fence:
    block = flat[begin:end]
    return Fence(begin + len(block) - len(block.lstrip()), begin + len(block.rstrip()))


def _title(content: str) -> str:
    plain = _LINK.sub(r"\1", content[:_READ])
    return preview(_MARKUP.sub("", plain), TITLE_LIMIT) or preview(plain, TITLE_LIMIT)


def _definitions(flat: str, start: int) -> Iterator[Heading]:
    below = start
    for found in _DEFINED.finditer(flat, start):
        end = flat.find("\n", found.end()) + 1 or len(flat)
        title = preview((found["name"] or found["table"]).rstrip(".:"), TITLE_LIMIT)
        yield Heading(_lead(flat, found.start(), below), end, len(found["indent"].expandtabs(4)), title)
        below = end


def _lead(flat: str, at: int, below: int) -> int:
    """Return where the lines begin that lead to the definition at `at`; none stands before `below`."""
    while at > below:
        line = max(flat.rfind("\n", below, at - 1) + 1, below)
        if not _LEAD.match(flat, line, at):
            break
        at = line
    return at


def _underlined(flat: str, start: int) -> Iterator[Heading]:
    levels: dict[str, int] = {}
    below = start
    for found in _UNDERLINED.finditer(flat, start):
        title, line = found["title"].strip(), found["line"]
        above = max(flat.rfind("\n", below, max(found.start() - 1, below)) + 1, below)
        over = flat[above : found.start()].strip()
        if _is_title(title, line) and over in {"", line}:
            # the sorts of line rank in the order in which they appear; one above and below is a sort of its own
            level = levels.setdefault(over[:1] + line[0], len(levels))
            below = min(found.end() + 1, len(flat))
            yield Heading(above if over else found.start(), below, level, preview(title, TITLE_LIMIT))


def _is_title(title: str, line: str) -> bool:
    return len(line) >= min(len(title), _SHORTEST) and any(map(str.isalnum, title))
