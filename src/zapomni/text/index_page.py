"""The index page of a memory folder: one line a memory, between lines that people wrote.

`- [Title](file.md) — hook` is the line that Claude Code writes and reads (features F-4): a list item, a link, a dash
and a few words. Of every other line, and of how lines end, nothing is ever changed.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

from msgspec import Struct

from zapomni.text.clean import cut, printable
from zapomni.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

LINE_LIMIT: Final = 150
"""Most characters of a line (features F-4): letters, not bytes, so that Russian has as many as English."""
LINES: Final = 200
BYTES: Final = 25_000
"""How much of its index Claude Code loads, whichever comes first; what is behind is not seen (integrations 2.4)."""
DASH: Final = " — "

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_TEXT: Final = r"(?:\\.|[^\[\]\\\r\n]|\[[^\[\]\r\n]*\])*"
_PLACE: Final = r"<(?P<{0}wide>[^<>\r\n]*)>|(?P<{0}plain>(?:\\.|[^()\s\\]|\([^()\s]*\))+)"
_ITEM: Final = re.compile(
    rf"\ufeff?[ \t]*[-*+][ \t]+(?:\[(?P<title>{_TEXT})\]\((?:{_PLACE.format('')})\)"
    r"|\[\[(?P<name>[^\[\]|#\r\n]+)(?:#[^\[\]|\r\n]*)?(?:\|(?P<alias>[^\[\]\r\n]*))?\]\])"
    r"(?:[ \t]*(?:—|–|--?|:)[ \t]*(?P<hook>[^\r\n]*?))?[ \t]*\r?\n?"
)
_LINK: Final = re.compile(
    rf"\[{_TEXT}\]\((?:{_PLACE.format('')})\)|\[\[(?P<name>[^\[\]|#\r\n]+)(?:[#|][^\[\]\r\n]*)?\]\]"
)
_FENCE: Final = re.compile(r"\ufeff?[ ]{0,3}(`{3,}|~{3,})")
_FOREIGN: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODED: Final = str.maketrans({odd: f"%{ord(odd):02X}" for odd in "%#:<>\\"})
"""What ends a link, begins another sort of one, or is read as something else."""
_FILE_NAME: Final = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*")


class Entry(Struct, frozen=True, kw_only=True):
    """One memory on the page: its title, its file as a path relative to the page, and what it is about."""

    title: str
    target: str
    hook: str = ""


def bare_line(text: str) -> str:
    """Return a line without its end, and without the byte-order mark that may stand at the beginning of a page."""
    return text.strip("\ufeff\r\n")


class Line(NamedTuple):
    """One line of a page with its end; `number` counts from 1, `entry` is None where a person wrote something else."""

    number: int
    text: str
    entry: Entry | None
    links: tuple[str, ...]
    """The files that it leads to, each as `target_key` gives it."""

    @property
    def words(self) -> str:
        """What it says: its text without an end and without the mark that may stand at the beginning of a page."""
        return bare_line(self.text)


class IndexPage(Struct, frozen=True, kw_only=True):
    """A page as its lines; joined they are the text again."""

    lines: tuple[Line, ...]

    @property
    def entries(self) -> tuple[Line, ...]:
        """The lines that stand for one file each."""
        return tuple(line for line in self.lines if line.entry is not None)


class Loaded(Struct, frozen=True, kw_only=True):
    """What a harness loads of a page: whole lines, their bytes in UTF-8, about how many tokens they take.

    `cut` holds the numbers of the lines that it does not load, or not whole.
    """

    lines: int
    bytes: int
    tokens: int
    cut: tuple[int, ...]


def entry_of(title: str, target: str, description: str) -> Entry:
    """Return a memory as an entry whose line has at most `LINE_LIMIT` characters.

    A title that looks like the name of a file (`tabs-not-spaces`) is written as words. Title and description are cut
    at a word, the title only where it would leave the description less than half of the room. The name of a file is
    never cut: one of more than `LINE_LIMIT` makes a longer line.
    """
    name, hook = _escaped(_one_line(_worded(title))), _one_line(description)
    room = max(0, LINE_LIMIT - len(_item("", target, "")))
    if not hook or hook == name:
        return Entry(title=cut(name, room), target=target)
    room = max(0, room - len(DASH))
    name = cut(name, max(room // 2, room - len(hook)))
    return Entry(title=name, target=target, hook=cut(hook, room - len(name)))


def line_of(entry: Entry) -> str:
    """Return an entry as its line, without the end of the line."""
    return _item(_escaped(entry.title), entry.target, entry.hook)


@lru_cache(maxsize=8)
def parse_index(text: str) -> IndexPage:
    """Read a page. Lines inside fenced code are nobody's entries. Never raises."""
    return IndexPage(lines=tuple(_lines(text)))


def with_entries(
    text: str,
    wanted: Sequence[Entry],
    *,
    former: Collection[str] = (),
    became: Mapping[str, str | None] | None = None,
) -> str:
    """Return the page with a line for each wanted entry, everything that people wrote kept byte for byte.

    A file that any line leads to already is there. Its line is written anew only where it is one of `former`: lines
    without their ends that the program wrote before, and that nobody has touched since. `became` says of files which
    name they have now, None for those that are no more: of the one the line is changed, of the other it goes. New
    entries come behind the last one, in the page's way of ending lines.
    """
    fresh = {target_key(entry.target): entry for entry in wanted}
    fate = {target_key(old): new for old, new in (became or {}).items()}
    lines = [kept for line in parse_index(text).lines if (kept := _renewed(line, fresh, former, fate)) is not None]
    known = {link for line in parse_index("".join(lines)).lines for link in line.links}
    return with_lines("".join(lines), [line_of(entry) for key, entry in fresh.items() if key not in known])


def with_lines(text: str, added: Sequence[str]) -> str:
    """Return the page with lines behind its last entry, or at the end of one that has none; they bring no line ends."""
    if not added:
        return text
    page = parse_index(text)
    ending = "\r\n" if page.lines and page.lines[0].text.endswith("\r\n") else "\n"
    last = max((line.number for line in page.entries), default=len(page.lines))
    above, below = ("".join(line.text for line in part) for part in (page.lines[:last], page.lines[last:]))
    block = ending.join(added)
    open_end = bool(above.strip("\ufeff")) and not above.endswith("\n")
    return f"{above}{ending}{block}{below}" if open_end else f"{above}{block}{ending}{below}"


def with_lines_back(text: str, written: Mapping[str, str], ours: Collection[str]) -> str:
    """Return the page with the line of each file as it was once written, where it is one of `ours` now.

    `written` has those lines by file, as `target_key` gives it; neither they nor `ours` have line ends.
    """

    def kept(line: Line) -> str:
        body = line.words
        back = written.get(target_key(line.entry.target)) if line.entry is not None and body in ours else None
        return line.text if back is None else line.text.replace(body, back, 1)

    return "".join(map(kept, parse_index(text).lines))


def without(text: str, targets: Collection[str]) -> str:
    """Return the page without the entries that lead to some files, each as `target_key` gives it."""
    lines = parse_index(text).lines
    return "".join(line.text for line in lines if line.entry is None or target_key(line.entry.target) not in targets)


def loaded(text: str, *, lines: int = LINES, bytes: int = BYTES) -> Loaded:  # noqa: A002 - the word for it
    """Return what a harness with these limits loads of a page, whichever limit comes first."""
    every = _LINE.findall(text)
    size, count = 0, 0
    for line in every[:lines]:
        if size + _size(line) > bytes:
            break
        size, count = size + _size(line), count + 1
    tokens = estimate_tokens("".join(every[:count]))
    return Loaded(lines=count, bytes=size, tokens=tokens, cut=tuple(range(count + 1, len(every) + 1)))


def target_key(target: str) -> str:
    """Return the form in which two spellings of one file's path are equal: NFC, without `./`."""
    return unicodedata.normalize("NFC", target).removeprefix("./")


# --- reading --------------------------------------------------------------------------------------------
def _lines(text: str) -> Iterator[Line]:
    every = _LINE.findall(text)
    marks = ((number, line, _FENCE.match(line)) for number, line in enumerate(every, 1))
    code = _code([(number, mark[1], line[mark.end() :].strip()) for number, line, mark in marks if mark])
    for number, line in enumerate(every, 1):
        if number in code:
            yield Line(number, line, None, ())
            continue
        found = _ITEM.fullmatch(line)
        yield Line(number, line, _entry(found) if found else None, tuple(_links(line)))


def _code(fences: Sequence[tuple[int, str, str]]) -> set[int]:
    """Return the numbers of the lines of fenced code; each fence is its line, its mark and the words behind that.

    What never closes is read as text, or else nothing could be written behind it.
    """
    inside: set[int] = set()
    ends, end = _ends(fences), 0
    for number, _, _ in fences:
        if number > end and number in ends:
            end = ends[number]
            inside.update(range(number, end + 1))
    return inside


def _ends(fences: Sequence[tuple[int, str, str]]) -> dict[int, int]:
    """Return for each fence the next bare one of its sort that is as long: from the end on, in one pass."""
    ends: dict[int, int] = {}
    ahead: dict[str, list[tuple[int, int]]] = {}  # lengths and lines, the longest first, the nearest last
    for number, mark, words in reversed(fences):
        waiting = ahead.setdefault(mark[0], [])
        fit = bisect_right(waiting, -len(mark), key=lambda one: -one[0])
        if fit:
            ends[number] = waiting[fit - 1][1]
        while not words and waiting and waiting[-1][0] <= len(mark):
            waiting.pop()
        if not words:
            waiting.append((len(mark), number))
    return ends


def _entry(found: re.Match[str]) -> Entry | None:
    """Return what a list item stands for; None for one that leads out of the folder, or to several files."""
    target = _target(found)
    hook = found["hook"] or ""
    if target is None or _LINK.search(hook):
        return None
    title = found["alias"] or found["name"] if found["name"] else _ESCAPE.sub(r"\1", found["title"])
    return Entry(title=title, target=target, hook=hook)


def _links(line: str) -> Iterator[str]:
    for found in _LINK.finditer(line):
        target = _target(found)
        if target is not None:
            yield target_key(target)


def _target(found: re.Match[str]) -> str | None:
    if found["name"]:
        name = found["name"].strip()
        return name if name.lower().endswith(".md") else f"{name}.md"
    written = found["wide"] if found["wide"] is not None else _ESCAPE.sub(r"\1", found["plain"])
    return None if not written or _FOREIGN.match(written) else unquote(written.partition("#")[0])


# --- writing --------------------------------------------------------------------------------------------
def _renewed(
    line: Line, fresh: Mapping[str, Entry], former: Collection[str], fate: Mapping[str, str | None]
) -> str | None:
    """Return what becomes of one line, None when it goes."""
    if line.entry is None:
        return line.text
    key = target_key(line.entry.target)
    new = fate.get(key, key) if key not in fresh else key
    if new is None:
        return None
    wanted = fresh.get(target_key(new))
    body = line.words
    if wanted is not None and body in former:
        return line.text.replace(body, line_of(wanted), 1)
    return line.text if new == key else _moved(line.text, new)


def _moved(line: str, target: str) -> str:
    """Return an entry's line with another file in it and nothing else changed."""
    found = _ITEM.fullmatch(line)
    assert found is not None
    if found["name"]:
        return line[: found.start("name")] + target.removesuffix(".md") + line[found.end("name") :]
    group = "wide" if found["wide"] is not None else "plain"
    edge = 1 if group == "wide" else 0
    return line[: found.start(group) - edge] + _place(target) + line[found.end(group) + edge :]


def _item(title: str, target: str, hook: str) -> str:
    return f"- [{title}]({_place(target)})" + (f"{DASH}{hook}" if hook else "")


def _place(target: str) -> str:
    """Return a path as it stands in a link."""
    coded = target.translate(_CODED)
    return f"<{coded}>" if re.search(r"[\s()]", coded) else coded


def _escaped(title: str) -> str:
    """Return a title as it stands between the brackets of a link."""
    return title.replace("\\", "/").replace("[", "(").replace("]", ")")


def _one_line(text: str) -> str:
    r"""Return a text as one line that holds no link of its own, which would lead to another memory."""
    flat = " ".join(printable(text).split())
    return _LINK.sub(lambda found: found["name"] or found[0][1:].partition("]")[0], flat)


def _worded(title: str) -> str:
    """Return the name of a file as words: `tabs-not-spaces` is `Tabs not spaces`; `DL-11` is none."""
    if title != title.lower() or not _FILE_NAME.fullmatch(title):
        return title
    words = re.sub("[-_]", " ", title)
    return words[:1].upper() + words[1:]


def _size(line: str) -> int:
    return len(line.encode("utf-8", "surrogatepass"))
