"""Answers: the structured object of a tool call and its copy as text, small enough for every client.

The object has the one shape of `surfaces.shapes`. Where it carries stored text, the copy is that text in
fences, so that a model reads it as quoted data with its provenance; otherwise the copy is the same JSON.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zapomni.errors import InvalidInput
from zapomni.surfaces.shapes import PREVIEW, error_shape
from zapomni.text.clean import cut
from zapomni.text.fence import fence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zapomni.errors import ZapomniError

REPLY_BYTES: Final = 88_000
"""Most bytes of one answer, object and text together, without the spaces and frames of the wire: clients refuse or
hide what is over 100 kB."""
PREVIEWS: Final = (PREVIEW, 500, 250, 100)
"""Characters of each memory, tried in this order until an answer of many fits."""
SIDE_LIMIT: Final = 500
"""Most characters of metadata, tags or entities in an answer of many."""
_SIDE_FIELDS: Final = ("metadata", "tags", "entities")
LISTS: Final = ("memories", "documents")
"""Fields of an answer that hold stored text, row by row; `count` is that of them all."""
_TOLD_BY_CITATION: Final = {"root", "first_line", "page", "start", "end"}
_BOOKKEEPING: Final = {"accessed_at", "access_count", "position"}
_TOOL_WORDS: Final = {
    "`list`": "list_memories",
    "`recall`": "recall_memory",
    "`--strict`": "strict",
    "`--mode semantic`": "mode=semantic",
    "by `zapomni undo ": "by the user's `zapomni undo ",
    "by `zapomni history ": "by the user's `zapomni history ",
    "`zapomni inbox`": "list_proposals",
    "`zapomni lessons`": "next_lessons",
}
"""What remedies say in the words of the command, and what a client of the tools can do instead."""
_USUAL: Final = {"trust": "confirmed", "pinned": False}


class Answer(Struct, frozen=True):
    """What a call comes to: the object, its text and whether the call failed."""

    shape: dict[str, Any]
    text: str
    failed: bool = False

    @property
    def size(self) -> int:
        """Its bytes on the wire: the object, and the text as a JSON string."""
        return len(compact(self.shape).encode()) + len(compact(self.text).encode())


def compact(value: Any) -> str:
    """Return JSON without spaces, letters of every language as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def plain(shape: dict[str, Any], *, failed: bool = False) -> Answer:
    """Return an answer that holds no stored text worth fencing: the copy is the same JSON."""
    return Answer(shape, compact(shape), failed)


def in_tool_words(text: str) -> str:
    """Return a remedy in the words of the tools."""
    for word, tool in _TOOL_WORDS.items():
        text = text.replace(word, tool)
    return text


def failure(error: ZapomniError) -> Answer:
    """Return the answer of a call that failed, with the argument that was to blame where there is one."""
    shape = error_shape(error)
    told = shape["error"]
    if "remedy" in told:
        told["remedy"] = in_tool_words(told["remedy"])
    if isinstance(error, InvalidInput):
        told["argument"] = error.field
    answer = plain(shape, failed=True)
    if answer.size <= REPLY_BYTES or "current" not in told:
        return answer
    current = told["current"]
    told["current"] = slim({**current, "content": cut(current["content"], PREVIEW), "cut": True})
    return plain(shape, failed=True)


def quoted(shape: dict[str, Any]) -> Answer:
    """Return an answer that carries memories or places in documents: a line about it, then each in its fence."""
    shape = {**shape, **{name: [slim(row) for row in shape[name]] for name in LISTS if name in shape}}
    head = compact({name: value for name, value in shape.items() if name not in LISTS})
    return Answer(shape, "\n".join([head, *(quote(row) for row in rows_of(shape))]))


def rows_of(shape: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what an answer of many carries, best first where scores tell, else as it stands."""
    rows = [row for name in LISTS for row in shape.get(name, ())]
    return sorted(rows, key=lambda row: -row.get("score", 0))


def quote(row: dict[str, Any]) -> str:
    """Return one memory or place as fenced data; its label says where it comes from."""
    return _quoted_place(row) if "citation" in row else _quoted_memory(row)


def _quoted_memory(memory: dict[str, Any]) -> str:
    date = str(memory.get("observed_at") or memory["created_at"])[:10]
    label = f"id={memory['id']} {memory['kind']} scope={memory['scope']} {date} origin={memory['origin']}"
    for name in ("score", "trust", "title", "tags"):
        if memory.get(name):
            value = ", ".join(memory[name]) if name == "tags" else memory[name]
            label += f" {name}={value}"
    if memory.get("cut"):
        label += f" cut, {memory['length']} characters; whole by list_memories id={memory['id']}"
    return fence(memory["content"], label)


def _quoted_place(place: dict[str, Any]) -> str:
    label = f"document={place['citation']} {place['kind']} score={place['score']}"
    if under := place.get("trail") or [place.get("title", "")]:
        label += f" under={' > '.join(under)}"
    if place.get("cut"):
        label += f" cut, {place['length']} characters"
    return fence(place["text"], label)


def fitted(build: Callable[[int], dict[str, Any]], told: Callable[[dict[str, Any]], Answer] = quoted) -> Answer:
    """Return the answer of many with the longest previews that keep it under the limit; `told` makes it of its object.

    The shortest ones may still be too long; the caller then has to answer with fewer.
    """
    answer = told(build(PREVIEWS[0]))
    for preview in PREVIEWS[1:]:
        if answer.size <= REPLY_BYTES:
            break
        answer = told(build(preview))
    return answer


def room_for(answer: Answer) -> int:
    """Return how many of its rows an answer can keep, at least one."""
    rows = rows_of(answer.shape)
    sizes = [len(compact(row).encode()) + len(compact(quote(row)).encode()) for row in rows]
    room = REPLY_BYTES - (answer.size - sum(sizes))
    count = len(rows)
    while count > 1 and sum(sizes[:count]) > room:
        count -= 1
    return count


def shortened(answer: Answer) -> Answer:
    """Return an answer with the best of its hits that there is room for; memories that have none are named."""
    rest = rows_of(answer.shape)[room_for(answer) :]
    if not rest:
        return answer
    kept: dict[str, Any] = {
        name: [row for row in answer.shape[name] if not any(row is other for other in rest)]
        for name in LISTS
        if name in answer.shape
    }
    shape = answer.shape | kept | {"count": sum(map(len, kept.values()))}
    if left_out := [row["id"] for row in rest if "id" in row] + shape.get("left_out", []):
        shape["left_out"] = left_out
    if places := sum("citation" in row for row in rest):
        shape["documents_left_out"] = places
    return quoted(shape)


def slim(row: dict[str, Any]) -> dict[str, Any]:
    """Return one of many without what is empty, usual or bookkeeping; `omitted` names what was too long."""
    if "citation" in row:
        return {name: value for name, value in row.items() if value and name not in _TOLD_BY_CITATION}
    kept = {
        name: value
        for name, value in row.items()
        if value not in (None, "", [], {}) and name not in _BOOKKEEPING and _USUAL.get(name) != value
    }
    long = [name for name in _SIDE_FIELDS if name in kept and len(compact(kept[name])) > SIDE_LIMIT]
    kept = {name: value for name, value in kept.items() if name not in long}
    return kept | {"omitted": long} if long else kept


def with_notes(answer: Answer, notes: Iterable[str], ignored: Iterable[str]) -> Answer:
    """Return the answer with what has to be told about its arguments, in the object and in the text."""
    given = {"notes": list(notes), "ignored": list(ignored)}
    told = {name: [*answer.shape.get(name, []), *lines] for name, lines in given.items() if lines}
    if not told:
        return answer
    shape = {**answer.shape, **told}
    same = answer.text == compact(answer.shape)
    return Answer(shape, compact(shape) if same else f"{answer.text}\n{compact(told)}", answer.failed)
