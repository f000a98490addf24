"""Notes: one memory as a file of Markdown, read as harnesses write it and changed without touching anything else.

A header between lines of `---` holds `name`, `description`, `metadata.type` and `metadata.pinned`; what is ours stands
under the one key `zapomni`. Any other key, every comment, the order, the line ends and a byte-order mark belong to
whoever wrote them. The body is the rest without the blank lines at its start and the line ends at its end.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec import Struct

from zapomni.errors import InvalidInput
from zapomni.model import UNSET, About, Kind
from zapomni.text.frontmatter import frontmatter
from zapomni.text.note_header import scalar, with_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zapomni.model import Unset
    from zapomni.text.note_header import Keys

Chosen = TypeVar("Chosen")

BOM: Final = "\ufeff"
OURS: Final = "zapomni"
"""The one key under which our own values stand."""
SLUG_LIMIT: Final = 60
"""Most characters of a name that is made of a title: file systems take 255 bytes, and Cyrillic takes two each."""

_ABOUTS: Final = {about.value: about for about in About}
_KINDS: Final = {kind.value: kind for kind in Kind}
_OWN_KEYS: Final = frozenset({"name", "title", "description", "metadata", OURS})
_LEAD: Final = re.compile(r"(?:[ \t]*[\r\n])*")
_LINE_END: Final = re.compile(r"\r+\n")
_LINK: Final = re.compile(r"\[\[(?<!\\\[\[)([^\[\]|#\n]{1,200})(?:[#|][^\[\]\n]{0,200})?\]\]")
_FENCED: Final = re.compile(r"^(`{3,}|~{3,}).*?^\1", re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"`[^`\n]+`")
_WORDS: Final = re.compile(r"[^\W_]+", re.UNICODE)
_DEVICES: Final = re.compile(r"con|prn|aux|nul|com\d|lpt\d|memory", re.IGNORECASE)
"""Names that Windows keeps for devices, and that of the index page."""
_SECOND: Final = "it has two headers"


class Note(Struct, frozen=True, kw_only=True):
    """What a note says.

    `name` is its title as its header has it, empty where that has none; `untitled` tells that the memory had none when
    its file was made. `header` is what stands before the body, fences included, empty for a note without a header that
    could be read. `kind`, `importance` and `tags` are None where the note does not speak of them. `problem` says why
    its header is read as body, with the line; `fixed` why it can be read and not changed.
    """

    name: str = ""
    description: str = ""
    about: About | None = None
    pinned: bool = False
    untitled: bool = False
    memory_id: str | None = None
    kind: Kind | None = None
    tags: tuple[str, ...] | None = None
    importance: float | None = None
    body: str
    links: tuple[str, ...] = ()
    header: str = ""
    problem: str | None = None
    fixed: str | None = None


class _Parts(Struct, frozen=True, kw_only=True):
    """A note cut up: what is joined gives it back, byte for byte."""

    mark: str
    header: str
    lead: str
    body: str
    tail: str
    values: Mapping[str, Any]
    problem: str | None
    fixed: str | None

    @property
    def end(self) -> str:
        first = (self.header or f"{self.lead}{self.body}{self.tail}").partition("\n")
        return "\r\n" if first[1] and first[0].endswith("\r") else "\n"


def parse_note(text: str) -> Note:
    """Read a note; never raises. A header that cannot be read is body, and `problem` names its line."""
    parts = _cut_up(text)
    values, body = parts.values, _plain_ends(parts.body)  # as `plain_body`: it was cut already
    metadata, ours = _mapping(values.get("metadata")), _mapping(values.get(OURS))
    return Note(
        name=_title(values, ours),
        description=_line(values.get("description")),
        about=_one_of(_ABOUTS, metadata.get("type", values.get("type"))),
        pinned=metadata.get("pinned") is True,
        untitled=not ours.get("title") and _line(values.get("name")) == _line(ours.get("named")) != "",
        memory_id=_line(ours.get("id")) or None,
        kind=_one_of(_KINDS, ours.get("kind")),
        tags=_tags(values["tags"] if "tags" in values else ours.get("tags")),
        importance=_share(ours.get("importance")),
        body=body,
        links=links_of(body),
        header=parts.header,
        problem=parts.problem,
        fixed=parts.fixed,
    )


def new_note(
    *,
    name: str,
    title: str,
    description: str,
    about: About | None,
    pinned: bool,
    body: str,
    memory_id: str,
    kind: Kind = Kind.SEMANTIC,
    tags: tuple[str, ...] = (),
    importance: float = 0.5,
) -> str:
    """Return a note of our own; `name` is the name of its file without the ending.

    Values that say what any memory says are left out; the title stands beside `name` where that does not say it, and
    for a memory without one `named` says that the name is none.
    """
    lines = ["---", f"name: {scalar(name)}"]
    lines += [f"description: {scalar(description)}"] if description else []
    lines += ["metadata:"] if about or pinned else []
    lines += [f"  type: {about.value}"] if about else []
    lines += ["  pinned: true"] if pinned else []
    lines += [f"{OURS}:", f"  id: {scalar(memory_id)}"]
    lines += [f"  named: {scalar(name)}"] if not title else []
    lines += [f"  title: {scalar(title)}"] if title and title != name else []
    lines += [f"  kind: {kind.value}"] if kind is not Kind.SEMANTIC else []
    lines += [f"  tags: {scalar(tags)}"] if tags else []
    lines += [f"  importance: {importance}"] if importance != 0.5 else []  # noqa: PLR2004 - what a draft has
    return "\n".join([*lines, "---", "", plain_body(body), ""])


def edited_note(
    text: str,
    *,
    title: str | Unset = UNSET,
    description: str | Unset = UNSET,
    about: About | Unset | None = UNSET,
    pinned: bool | Unset = UNSET,
    body: str | Unset = UNSET,
    memory_id: str | Unset = UNSET,
    kind: Kind | Unset = UNSET,
    tags: tuple[str, ...] | Unset = UNSET,
    importance: float | Unset = UNSET,
) -> str:
    """Return a note with some values changed, and every other byte as it was.

    Raises `InvalidInput` where the header cannot be changed safely: it cannot be read, there are two, or it is
    written in a form in which the change would touch another key; then nothing is to be written.
    """
    parts = _cut_up(text)
    refusal = parts.problem or parts.fixed
    if refusal:
        raise InvalidInput("frontmatter", refusal, remedy="Change the file by hand")
    wanted = {
        "title": title,
        "description": description,
        "about": about,
        "pinned": pinned,
        "memory_id": memory_id,
        "kind": kind,
        "tags": tags,
        "importance": importance,
    }
    changes = _changes(parts.values, {name: value for name, value in wanted.items() if value is not UNSET})
    header = _header(parts, changes) if changes else parts.header
    inner = parts.body if body is UNSET else _body(parts, body)
    lead = parts.lead or (parts.end if inner and not parts.body and header else "")
    gap = parts.end if inner and header and not header.endswith("\n") else ""
    after = f"{parts.mark}{header}{gap}{lead}{inner}{parts.tail}"
    _check(parts, after, body)
    return after


def plain_body(text: str) -> str:
    r"""Return a text as the body of a note says it: no blank lines before it, no line ends behind it, `\n` alone."""
    text = _plain_ends(text)
    start = _LEAD.match(text).end()  # type: ignore[union-attr] # it may be empty
    return text[start : _tail_of(text, start)]


def links_of(body: str) -> tuple[str, ...]:
    """Return the targets of the `[[links]]` of a body, each once, in order; those in code are none."""
    if "`" in body or "~" in body:  # there may be code; one sign is found in a tenth of the time of `~~~`
        if "[[" not in body:
            return ()
        body = _CODE.sub("", _FENCED.sub("", body))
    return tuple(dict.fromkeys(filter(None, map(str.strip, _LINK.findall(body)))))


def slug(title: str, otherwise: str) -> str:
    """Return the name of a file for a title: its words in lower case with dashes, in any script.

    A title without a word, and a name that a system keeps for itself, get `otherwise`.
    """
    words = _words_of(title)
    if not words:
        return otherwise
    return f"{words}-{otherwise}" if _DEVICES.fullmatch(words) else words


def fitting(title: str, name: str) -> str:
    """Return a name if it is one of a title (`so`, `so-2`, for a kept one `con-ID`), else the one that it makes."""
    words = _words_of(title)
    behind = r"-.+" if _DEVICES.fullmatch(words) else r"(?:-\d+)?"
    return name if re.fullmatch(f"{re.escape(words)}{behind}", name) else slug(title, name)


def _words_of(title: str) -> str:
    words = "-".join(_WORDS.findall(title.lower()))
    if len(words) > SLUG_LIMIT:
        words = words[: SLUG_LIMIT + 1].rpartition("-")[0] or words[:SLUG_LIMIT]
    return words


# --- reading --------------------------------------------------------------------------------------------
def _cut_up(text: str) -> _Parts:
    mark = BOM if text.startswith(BOM) else ""
    rest = text[len(mark) :]
    found, fixed = frontmatter(rest, blocks=1), None
    if found.start and not _OWN_KEYS & found.values.keys():
        both = frontmatter(rest)
        if both.start > found.start:
            found, fixed = both, _SECOND
    header = rest[: found.start]
    lead_end = _LEAD.match(rest, found.start).end()  # type: ignore[union-attr] # it may be empty
    tail_start = _tail_of(rest, lead_end)
    return _Parts(
        mark=mark,
        header=header,
        lead=rest[found.start : lead_end],
        body=rest[lead_end:tail_start],
        tail=rest[tail_start:],
        values=found.values,
        problem=found.problem,
        fixed=fixed,
    )


def _plain_ends(text: str) -> str:
    return _LINE_END.sub("\n", text) if "\r" in text else text


def _tail_of(text: str, start: int) -> int:
    """Return where the line ends behind a text begin; spaces at the end of its last line are its own."""
    end = len(text.rstrip(" \t\r\n"))
    for at in range(max(end, start), len(text)):
        if text[at] in "\r\n":
            return at
    return max(len(text), start)


def _title(values: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Return the title: the whole one that stands beside a name made of it, else the name."""
    name, whole = _line(values.get("name")), _line(ours.get("title"))
    if whole and (not name or name == fitting(whole, name)):
        return whole
    return name or _line(values.get("title"))


def _line(value: Any) -> str:
    """Return a value of a header as one line; what is no single value says nothing."""
    if value is None or isinstance(value, dict | list | bool):
        return ""
    return " ".join(str(value).split())


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _one_of(choices: Mapping[str, Chosen], value: Any) -> Chosen | None:
    return choices.get(value) if isinstance(value, str) else None


def _tags(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    if not isinstance(value, list):
        return None
    return tuple(dict.fromkeys(filter(None, (_line(one) for one in value))))


def _share(value: Any) -> float | None:
    return float(value) if type(value) in {int, float} and 0 <= value <= 1 else None


# --- changing -------------------------------------------------------------------------------------------
def _changes(values: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[tuple[Keys, Any]]:
    """Return which keys take which values."""
    ours = _mapping(values.get(OURS))
    changes: list[tuple[Keys, Any]] = []
    for name, value in wanted.items():
        match name:
            case "title" if not value:
                changes += [((OURS, "named"), _line(values.get("name")) or None), ((OURS, "title"), None)]
            case "title" if "title" in ours or "named" in ours:
                made = slug(value, _line(values.get("name")) or value)
                changes += [(("name",), made), ((OURS, "title"), value), ((OURS, "named"), None)]
            case "title":
                changes.append((("title",) if "title" in values and "name" not in values else ("name",), value))
            case "description":
                changes.append((("description",), value or None))
            case "about":
                flat = "type" in values and "metadata" not in values
                changes.append((("type",) if flat else ("metadata", "type"), value.value if value else None))
            case "pinned":
                changes.append((("metadata", "pinned"), value or None))
            case "memory_id":
                changes.append(((OURS, "id"), value))
            case "tags":
                changes.append((("tags",) if "tags" in values else (OURS, "tags"), value))
            case _:
                changes.append(((OURS, name), getattr(value, "value", value)))
    return changes


def _header(parts: _Parts, changes: list[tuple[Keys, Any]]) -> str:
    """Return the header with some values changed; a note without one gets none that it did not have."""
    if not parts.header:
        raise InvalidInput("frontmatter", "it has none", remedy="Write one into the file by hand")
    opening = parts.header.index("\n") + 1
    closing = _closing(parts.header, opening)
    inner = with_values(parts.header[opening:closing], changes, parts.end)
    return f"{parts.header[:opening]}{inner}{parts.header[closing:]}"


def _closing(header: str, opening: int) -> int:
    """Return where the line of the closing fence begins: it is the last one."""
    return max(header.rstrip("\r\n").rfind("\n") + 1, opening)


def _body(parts: _Parts, body: str) -> str:
    """Return the new body with the line ends of the old one; lines that stay keep their own."""
    new, old = plain_body(body).split("\n"), parts.body.split("\n")
    said = [line.rstrip("\r") if no < len(old) - 1 else line for no, line in enumerate(old)]
    same = 0
    while same < min(len(new), len(old)) - 1 and new[same] == said[same]:
        same += 1
    behind = 0
    while behind < min(len(new), len(old)) - same - 1 and new[-1 - behind] == said[-1 - behind]:
        behind += 1
    between = new[same : len(new) - behind]
    text = parts.end.join(between)
    kept = "\n".join(old[len(old) - behind :]) if behind else ""
    head = "".join(f"{line}\n" for line in old[:same])
    return f"{head}{text}{parts.end if behind else ''}{kept}"


def _check(before: _Parts, after: str, body: str | Unset) -> None:
    """Refuse what would be read as something else than it was to say, as a body that begins like a header."""
    parts = _cut_up(after)
    said = plain_body(before.body if body is UNSET else body)
    if plain_body(parts.body) != said or bool(parts.header) != bool(before.header) or parts.problem:
        raise InvalidInput(
            "content", "as the body of this note it would be read as a header", remedy="Change the file by hand"
        )
