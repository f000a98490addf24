"""Items put into JSON with comments and taken out again without touching a character around them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from zapomni.agents.edits import Written, line_end, unsafe
from zapomni.agents.jsonc import Node, read, tail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Path = Sequence[str]

UNIT: Final = "  "
"""The indentation of a file that shows none."""
_FILE: Final = "*"
"""Under this name `blanks` keep a file that held no value at all."""
_INDENT: Final = re.compile(r"[ \t]*")


def at(text: str, path: Path) -> Node | None:
    """Return what stands at a path, None where nothing does; raises `Refused` where the way leads through no object."""
    node = read(text)
    for depth, key in enumerate(path):
        if node is None:
            return None
        if not isinstance(node.value, dict):
            raise unsafe(f"{'.'.join(path[:depth]) or 'the file'} is no object")
        item = node.member(key)
        node = item.node if item else None
    return node


def with_container(text: str, path: Path, kind: type) -> Written:
    """Return the text with an object or a list at a path, and which containers on the way were empty or missing.

    Raises `Refused` where something else stands there.
    """
    blanks: dict[str, str | None] = {}
    if read(text) is None:
        blanks[_FILE] = text
        end = line_end(text)
        text = f"{text}{end if text.strip() and not text.endswith(end) else ''}{{}}{end}"
    for depth in range(len(path) + 1):
        here = path[:depth]
        wanted = kind if depth == len(path) else dict
        node = at(text, here)
        if node is None:
            text = appended(text, here[:-1], here[-1], wanted())
            blanks["/".join(here)] = None
        elif not isinstance(node.value, wanted):
            raise unsafe(f"{'.'.join(here) or 'the file'} is no {'list' if wanted is list else 'object'}")
        elif not node.items and (here or _FILE not in blanks):
            blanks["/".join(here)] = _inside(text, node)
    return Written(text=text, blanks=blanks)


def tidied(text: str, path: Path, blanks: Mapping[str, str | None]) -> str:
    """Bring each empty container from a path upwards back to what it was, as far as `blanks` say it."""
    for depth in range(len(path), -1, -1):
        here = path[:depth]
        node = at(text, here)
        if node is None or node.items or "/".join(here) not in blanks:
            continue
        was = blanks["/".join(here)]
        if was is None:
            text = without(text, here[:-1], here[-1])
        elif was.strip() == _inside(text, node).strip():
            text = text[: node.start + 1] + was + text[node.end - 1 :]
    root, was = read(text), blanks.get(_FILE)
    if root is None or root.items or was is None:
        return text
    rest = text[root.end :].removeprefix(line_end(text))
    return was + rest if text[: root.start].strip() == was.strip() else text


def appended(text: str, path: Path, key: str | None, value: Any) -> str:
    """Add a member (with no key an item) at the end of the container at a path, laid out as its neighbours are."""
    holder = at(text, path)
    assert holder is not None
    last = holder.items[-1] if holder.items else None
    wide = "\n" in text[last.node.end : holder.end] if last else _is_wide(text, holder)
    indent = _indent_of_items(text, holder)
    gap = line_end(text) + indent if wide else " " if last else ""
    entry = gap + ("" if key is None else f"{json.dumps(key, ensure_ascii=False)}: ")
    entry += _shown(text, value, indent, wide=wide)
    if last is None:
        place = tail(text, holder.start + 1)
        closing = line_end(text) + _indent(text, holder.start) if wide and "\n" not in text[place : holder.end] else ""
        return text[:place] + entry + closing + text[place:]
    if last.comma is not None:
        place = tail(text, last.comma + 1)
        return f"{text[:place]}{entry},{text[place:]}"
    end, place = last.node.end, tail(text, last.node.end)
    return f"{text[:end]},{text[end:place]}{entry}{text[place:]}"


def replaced(text: str, path: Path, value: Any) -> str:
    """Put another value at a path where one stands."""
    holder = at(text, path[:-1])
    item = holder.member(path[-1]) if holder else None
    assert holder is not None
    assert item is not None
    wide = "\n" in text[item.node.start : item.node.end] or _is_wide(text, holder)
    shown = _shown(text, value, _indent(text, item.start), wide=wide)
    return text[: item.node.start] + shown + text[item.node.end :]


def without(text: str, path: Path, key: str | int) -> str:
    """Remove a member by its name, or an item by its place, with the comma that it brought."""
    holder = at(text, path)
    assert holder is not None
    items = holder.items
    place = key if isinstance(key, int) else max(i for i, item in enumerate(items) if item.key == key)
    item, before = items[place], items[place - 1] if place else None
    start = tail(text, before.end if before else holder.start + 1)
    if len(items) == 1:
        rest = text[item.end : holder.end - 1]
        head = text[holder.start + 1 : start]
        return text[:start] + (rest if (head + rest).strip() else "") + text[holder.end - 1 :]
    if before and place == len(items) - 1 and item.comma is None:
        comma = before.end - 1
        return text[:comma] + text[comma + 1 : start] + text[item.end :]
    return text[:start] + text[item.end :]


# --- layout ---------------------------------------------------------------------------------------------
def _inside(text: str, node: Node) -> str:
    return text[node.start + 1 : node.end - 1]


def _is_wide(text: str, holder: Node) -> bool:
    """Tell whether what is put into an empty container gets lines of its own: as the file does it, or else yes."""
    root = read(text)
    return root is None or root.start == holder.start or "\n" in text[root.start : root.end]


def _indent(text: str, place: int) -> str:
    """Return the white space with which the line of a place begins."""
    start = max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1
    found = _INDENT.match(text, start)
    return found[0] if found else ""


def _indent_of_items(text: str, holder: Node) -> str:
    last = holder.items[-1] if holder.items else None
    if last and _indent(text, last.start) == text[text.rfind("\n", 0, last.start) + 1 : last.start]:
        return _indent(text, last.start)
    return _indent(text, holder.start) + _unit(text)


def _unit(text: str) -> str:
    root = read(text)
    if root is None or not root.items:
        return UNIT
    indent = _indent(text, root.items[0].start)
    return indent.removeprefix(_indent(text, root.start)) or UNIT


def _shown(text: str, value: Any, indent: str, *, wide: bool) -> str:
    if not wide:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (line_end(text) + indent).join(lines)
