"""Our entry in a mapping of a YAML file, put in as lines of its own and taken out again.

PyYAML tells the places, lines are inserted and deleted there, and the result must say what the file said before and
our entry, and nothing else.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from zapomni.agents.edits import NAME, Named, State, Written, line_end, taken, unreadable, unsafe
from zapomni.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import yaml


class Entry(Named, frozen=True, kw_only=True):
    """Our entry in the mapping `parent` of the root, such as `extensions`."""

    parent: str

    def state(self, text: str) -> State:
        """Tell what stands under our name."""
        entries = _read(text).get(self.parent) or {}
        if not isinstance(entries, dict):
            raise unsafe(f"{self.parent} is no mapping")
        return self.standing(entries[NAME]) if NAME in entries else State.ABSENT

    def put(self, text: str) -> Written:
        """Add the entry as the first of its mapping, in the place of another version of it."""
        state = self.state(text)
        if state is State.FOREIGN:
            raise taken(f"an entry of {self.parent}")
        if state is State.WIRED:
            return Written(text=text)
        if state is State.CHANGED:
            value = self.renewed(_read(text)[self.parent][NAME], self.value)
            return replace(self, value=value).put(self.drop(text, {}))
        for after, made in self._ways(text):
            if self._says(after, text, with_ours=True):
                return Written(text=after, blanks={self.parent: None} if made else {})
        raise unsafe(f"{self.parent} is written in an unusual way")

    def drop(self, text: str, blanks: Mapping[str, str | None]) -> str:
        """Remove the entry, and its mapping where that was made for it and is empty now."""
        if self.state(text) in {State.ABSENT, State.FOREIGN}:
            return text
        for after in self._ways_back(text, made=self.parent in blanks):
            if self._says(after, text, with_ours=False):
                return after
        raise unsafe(f"{self.parent} is written in an unusual way")

    def _ways(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield texts that may hold the entry, the best first, with whether the mapping is new in them."""
        end, root = line_end(text), _compose(text)
        found = _find(root, self.parent)
        if found is None:
            lines = f"{self.parent}:{end}" + self._lines("  ", end)
            column = " " * (root.value[0][0].start_mark.column if root is not None and root.value else 0)
            lines = "".join(column + line for line in lines.splitlines(keepends=True))
            if text and not text.endswith("\n"):
                yield text + end + lines.removesuffix(end), True
            yield text + lines, True
            if root is not None and root.value:
                yield _inserted(text, _line(text, root.value[0][0].start_mark.index), lines), True
            return
        key, holder = found
        inner = holder.value if isinstance(holder.value, list) else []
        if holder.start_mark.index < len(text) and text[holder.start_mark.index] == "{":
            flow = f"{NAME}: {json.dumps(self.value, ensure_ascii=False)}{', ' if inner else ''}"
            yield _inserted(text, holder.start_mark.index + 1, flow), False
            return
        column = " " * (inner[0][0].start_mark.column if inner else key.start_mark.column + 2)
        below = text.find("\n", key.end_mark.index) + 1
        if below:
            yield _inserted(text, below, self._lines(column, end)), False
        else:
            yield text + end + self._lines(column, end).removesuffix(end), False

    def _ways_back(self, text: str, *, made: bool) -> Iterator[str]:
        root = _compose(text)
        found = _find(root, self.parent)
        entry = _find(found[1], NAME) if found else None
        assert found is not None
        assert entry is not None
        holder, mine = found[1], entry[0].start_mark.index
        if text[holder.start_mark.index] == "{":
            gone = re.compile(r"\s*,\s?").match(text, entry[1].end_mark.index)
            yield text[:mine] + text[gone.end() if gone else entry[1].end_mark.index :]
            return
        alone = made and len(holder.value) == 1
        start = _line(text, found[0].start_mark.index if alone else mine)
        end = text.find("\n", _last(entry[1]) - 1) + 1
        if end:
            yield text[:start] + text[end:]
        else:
            yield re.sub(r"\r?\n\Z", "", text[:start])

    def _lines(self, indent: str, end: str) -> str:
        rows = [f"{NAME}:", *(f"  {key}: {_shown(value)}" for key, value in self.value.items())]
        return "".join(indent + row + end for row in rows)

    def _says(self, after: str, before: str, *, with_ours: bool) -> bool:
        """Tell whether two texts say the same but for our entry."""
        try:
            got, wanted = _read(after), _read(before)
            entries = got.get(self.parent) or {}
            others = {key: value for key, value in entries.items() if key != NAME}
            old = {key: value for key, value in (wanted.get(self.parent) or {}).items() if key != NAME}
        except (Refused, AttributeError):
            return False
        rest = [{key: value for key, value in said.items() if key != self.parent} for said in (got, wanted)]
        return rest[0] == rest[1] and others == old and (NAME in entries) == with_ours


def _read(text: str) -> dict[Any, Any]:
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise unreadable("YAML", " ".join(str(error).split())) from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise unsafe("the file is no mapping")
    return found


def _compose(text: str) -> yaml.Node | None:
    import yaml

    return yaml.compose(text, Loader=yaml.SafeLoader)


def _find(root: yaml.Node | None, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    for name, value in root.value if root is not None and isinstance(root.value, list) else ():
        if name.value == key:
            return name, value
    return None


def _last(node: yaml.Node) -> int:
    """Return where the last scalar or flow collection inside a node ends."""
    if isinstance(node.value, list) and node.value and not getattr(node, "flow_style", False):
        last = node.value[-1]
        return _last(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _line(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _inserted(text: str, place: int, what: str) -> str:
    return text[:place] + what + text[place:]


def _shown(value: Any) -> str:
    """Return a value in the flow style of YAML, which JSON is a part of; plain words stand without quotes."""
    if isinstance(value, str) and re.fullmatch(r"[a-z][a-z_]*", value) and value not in {"true", "false", "null"}:
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
