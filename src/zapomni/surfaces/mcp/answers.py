"""Answers: the structured object of a tool call and its copy as text, small enough for every client.

The object has the one shape of `surfaces.shapes`. Where it carries stored text, the copy is that text in
fences, so that a model reads it as quoted data with its provenance; otherwise the copy is the same JSON.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

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
MESSAGE_LIMIT: Final = 1_000
PREVIEWS: Final = (PREVIEW, 500, 250, 100)
"""Characters of each memory, tried in this order until an answer of many fits."""
SIDE_LIMIT: Final = 500
"""Most characters of metadata, tags or entities in an answer of many."""
_SIDE_FIELDS: Final = ("metadata", "tags", "entities")
_BOOKKEEPING: Final = {"accessed_at", "access_count", "position"}
_TOOL_WORDS: Final = {
    "`list`": "list_memories",
    "`recall`": "recall_memory",
}
"""What remedies say in the words of the command, and what a client of the tools can do instead."""
_USUAL: Final = {"trust": "confirmed", "pinned": False}


@dataclass(frozen=True, slots=True)
class Answer:
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
    told["message"] = cut(told["message"], MESSAGE_LIMIT)  # it quotes what was given, however long
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
    """Return an answer that carries memories: a line about the answer, then each memory in a fence of its own."""
    shape = {**shape, "memories": [slim(memory) for memory in shape["memories"]]}
    head = compact({name: value for name, value in shape.items() if name != "memories"})
    return Answer(shape, "\n".join([head, *(quote(memory) for memory in shape["memories"])]))


def quote(memory: dict[str, Any]) -> str:
    """Return one memory as fenced data; its label says where it comes from."""
    date = str(memory.get("observed_at") or memory["created_at"])[:10]
    label = f"id={memory['id']} {memory['kind']} scope={memory['scope']} {date} origin={memory['origin']}"
    for name in ("score", "trust", "title", "tags"):
        if memory.get(name):
            value = ", ".join(memory[name]) if name == "tags" else memory[name]
            label += f" {name}={value}"
    if memory.get("cut"):
        label += f" cut, {memory['length']} characters; whole by list_memories id={memory['id']}"
    return fence(memory["content"], label)


def fitted(build: Callable[[int], dict[str, Any]]) -> Answer:
    """Return the answer of many with the longest previews that keep it under the limit.

    The shortest ones may still be too long; the caller then has to answer with fewer.
    """
    answer = quoted(build(PREVIEWS[0]))
    for preview in PREVIEWS[1:]:
        if answer.size <= REPLY_BYTES:
            break
        answer = quoted(build(preview))
    return answer


def room_for(answer: Answer) -> int:
    """Return how many of its memories an answer can keep, at least one."""
    count = len(answer.shape["memories"])
    sizes = [
        len(compact(memory).encode()) + len(compact(quote(memory)).encode()) for memory in answer.shape["memories"]
    ]
    room = REPLY_BYTES - (answer.size - sum(sizes))
    while count > 1 and sum(sizes[:count]) > room:
        count -= 1
    return count


def slim(memory: dict[str, Any]) -> dict[str, Any]:
    """Return a memory of many without what is empty, usual or bookkeeping; `omitted` names what was too long."""
    kept = {
        name: value
        for name, value in memory.items()
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
