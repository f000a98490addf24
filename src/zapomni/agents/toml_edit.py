"""Our server as a table of its own in a TOML file, and that table taken out again.

A table appended to a file never touches what stands before it. `tomllib` checks every result: it must say what the
file said before and our entry, and nothing else.
"""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date, time
from typing import TYPE_CHECKING, Any, Final

from zapomni.agents.edits import NAME, Named, State, Written, line_end, taken, unreadable, unsafe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TOKEN: Final = re.compile(
    r"""#[^\n]*|\"{3}(?:[^\\]|\\.)*?\"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[\[\]{}\n]""", re.DOTALL
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


class Table(Named, frozen=True, kw_only=True):
    """Our entry in the table of tables `parent`, such as `mcp_servers`."""

    parent: str

    def state(self, text: str) -> State:
        """Tell what stands under our name."""
        servers = _read(text).get(self.parent, {})
        if not isinstance(servers, dict):
            raise unsafe(f"{self.parent} is no table")
        return self.standing(servers[NAME]) if NAME in servers else State.ABSENT

    def put(self, text: str) -> Written:
        """Append the table, in the place of another version of it."""
        state = self.state(text)
        if state is State.FOREIGN:
            raise taken(f"a table of {self.parent}")
        if state is State.WIRED:
            return Written(text=text)
        known = _read(text).get(self.parent, {}).get(NAME)
        value = self.value if known is None else self.renewed(known, self.value)
        before = self.drop(text, {})
        end = line_end(before)
        rows = [f"{_key(name)} = {_shown(inner)}" for name, inner in value.items()]
        table = end.join([f"[{self.parent}.{NAME}]", *rows])
        gap = "" if not before else end if before.endswith("\n") else end + end
        after = before + gap + table + (end if not before or before.endswith("\n") else "")
        self._check(after, before, ours=value)
        return Written(text=after)

    def drop(self, text: str, blanks: Mapping[str, str | None]) -> str:  # noqa: ARG002 - a table leaves no blanks
        """Remove the table, its inner tables, and the blank line that parted it from what stands before."""
        if self.state(text) in {State.ABSENT, State.FOREIGN}:
            return text
        after = text
        while spot := self._spot(after):
            after = after[: spot[0]] + after[spot[1] :]
        self._check(after, text, ours=None)
        return after

    def _spot(self, text: str) -> tuple[int, int] | None:
        """Return where our first table begins and ends."""
        headers = list(_headers(text))
        for index, (start, path) in enumerate(headers):
            if path[:2] == (self.parent, NAME):
                limit = headers[index + 1][0] if index + 1 < len(headers) else len(text)
                return _widened(text, start, _end_of_values(text, start, limit))
        return None

    def _check(self, after: str, before: str, *, ours: Mapping[str, Any] | None) -> None:
        """Raise `Refused` unless two texts say the same but for our entry, and that is what it should be."""
        wanted, _ = self._others(_read(before))
        try:
            got, found = self._others(tomllib.loads(after))
        except tomllib.TOMLDecodeError:
            raise unsafe(f"{self.parent} is written in one piece") from None
        if got != wanted or found != ours:
            raise unsafe(f"{self.parent} is written in an unusual way")

    def _others(self, table: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        servers = table.get(self.parent, {})
        others = {key: value for key, value in servers.items() if key != NAME}
        return {**table, self.parent: others}, servers.get(NAME)


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise unreadable("TOML", error) from None


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_shown(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):  # JSON has no word for one without end
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _headers(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield where the line of each table's header begins, and the table's path."""
    depth, line = 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] == "\n":
            line = token.end()
        elif token[0] in {"[", "{"}:
            if token[0] == "[" and depth == 0 and not text[line : token.start()].strip():
                yield line, _path(text[token.start() :].split("\n", 1)[0].rstrip("\r"))
            depth += 1
        elif token[0] in {"]", "}"}:
            depth -= 1


def _path(header: str) -> tuple[str, ...]:
    path: list[str] = []
    try:
        table: Any = tomllib.loads(header)
    except tomllib.TOMLDecodeError:  # the first line of a list of lists, not a header
        return ()
    while isinstance(table, dict) and table:
        key, table = next(iter(table.items()))
        path.append(key)
    return tuple(path)


def _end_of_values(text: str, start: int, limit: int) -> int:
    """Return where the last line of a table ends that is neither blank nor a comment."""
    end = start
    for line in re.finditer(r"[^\n]+", text[start:limit]):
        if line[0].strip() and not line[0].lstrip().startswith("#"):
            end = start + line.end()
    return end


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen the place of a table to the line end behind it and the blank line before it.

    The last table of a file without a line end at its end takes the line end before it instead.
    """
    blank = re.search(r"\r?\n\Z", text[:start])
    start_of_gap = blank.start() if blank and re.search(r"\n\r?\n\Z", text[:start]) else start
    if end == len(text):
        before = re.search(r"(?:\r?\n){0,2}\Z", text[:start])
        return (before.start() if before else start), end
    return start_of_gap, text.index("\n", end) + 1 if "\n" in text[end:] else end
