"""JSON as clients write it, with comments and trailing commas, read with the place of every part.

Settings files are edited by people, so they are never written anew: an edit inserts or deletes characters at the
places that are found here. Our own reader, because the libraries that keep comments rewrite the white space.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from zapomni.agents.edits import unreadable

DEPTH: Final = 100
"""Most objects and lists inside each other."""

_COMMENT: Final = r"//[^\r\n]*|/\*.*?\*/"
_TRIVIA: Final = re.compile(rf"(?:[ \t\r\n]+|{_COMMENT})*", re.DOTALL)
_SAME_LINE: Final = re.compile(rf"(?:[ \t]*(?:{_COMMENT}))*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR: Final = re.compile(r"-?\d[\d.eE+-]*|true|false|null")


class Node(Struct, frozen=True):
    """A value, where it begins and ends, and its items where it is an object or a list."""

    start: int
    end: int
    value: Any
    items: tuple[Item, ...] = ()

    def member(self, key: str) -> Item | None:
        """Return the member of an object that readers see under a key: the last one."""
        return next((item for item in reversed(self.items) if item.key == key), None)


class Item(Struct, frozen=True):
    """A member of an object or an item of a list: where it begins, its value, and the comma behind it."""

    start: int
    key: str | None
    node: Node
    comma: int | None

    @property
    def end(self) -> int:
        """Where it ends, its comma included."""
        return self.node.end if self.comma is None else self.comma + 1


@lru_cache(maxsize=4)  # one edit looks at the same text many times, and Claude Code's state file has megabytes
def read(text: str) -> Node | None:
    """Return the value that a text holds, None when it holds none; raises `Refused` for what is no JSON."""
    reader = _Reader(text)
    try:
        start = reader.trivia(0)
        if start == len(text):
            return None
        return reader.whole(start)
    except ValueError as error:
        raise unreadable("JSON", error) from None


def tail(text: str, at: int) -> int:
    """Return where the comments end that stand behind a place on its line."""
    found = _SAME_LINE.match(text, at)
    return found.end() if found else at


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def trivia(self, at: int) -> int:
        found = _TRIVIA.match(self.text, at)
        return found.end() if found else at

    def whole(self, start: int) -> Node:
        node = self.value(start, 0)
        if self.trivia(node.end) != len(self.text):
            raise ValueError(f"more than one value, at character {node.end:,}")
        return node

    def value(self, at: int, depth: int) -> Node:
        if depth > DEPTH:
            raise ValueError(f"more than {DEPTH} levels")
        opening = self.text[at : at + 1]
        if opening in {"{", "["}:
            return self.container(at, depth, "}" if opening == "{" else "]")
        found = (_STRING if opening == '"' else _SCALAR).match(self.text, at)
        if found is None:
            raise ValueError(f"something else than a value at character {at:,}")
        return Node(at, found.end(), json.loads(found[0], strict=False))

    def container(self, start: int, depth: int, closing: str) -> Node:
        items: list[Item] = []
        at = self.trivia(start + 1)
        while not self.text.startswith(closing, at):
            if items and items[-1].comma is None:
                raise ValueError(f"a comma is missing at character {at:,}")
            item = self.item(at, depth, named=closing == "}")
            items.append(item)
            at = self.trivia(item.end)
        value: Any = {i.key: i.node.value for i in items} if closing == "}" else [i.node.value for i in items]
        return Node(start, at + 1, value, tuple(items))

    def item(self, start: int, depth: int, *, named: bool) -> Item:
        key, at = None, start
        if named:
            found = _STRING.match(self.text, start)
            colon = self.trivia(found.end()) if found else 0
            if found is None or not self.text.startswith(":", colon):
                raise ValueError(f"a name and a colon are missing at character {start:,}")
            key, at = json.loads(found[0], strict=False), self.trivia(colon + 1)
        node = self.value(at, depth + 1)
        comma = self.trivia(node.end)
        return Item(start, key, node, comma if self.text.startswith(",", comma) else None)
