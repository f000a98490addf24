"""The pack of a session's start: what an agent should know before it is asked anything, in few characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.model import Trust
from zapomni.text.clean import preview
from zapomni.text.fence import fence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zapomni.model import Memory, Scope
    from zapomni.store.sessions import Opening

PACK_LIMIT: Final = 9_000
"""Most characters of what a hook hands over: clients cut or drop what is longer than 10,000 (integrations, 0.5)."""
MOST: Final = 40
"""Memories of one sort that are looked at."""
_MARKS: Final = 400
"""Characters kept for the marks around a text and its label."""
_CLOSING: Final = 900
"""Characters kept for what the index holds and what was left out."""
_LINE: Final = 300
_RULE: Final = 600
_TITLE: Final = 90
_HEADING: Final = "Remembered by zapomni. Its tools recall more and store what is decided."


class Pack(NamedTuple):
    """A text to be handed over, fenced, and the ids of the memories that it shows whole or in part."""

    text: str
    shown: tuple[str, ...] = ()


class Section(NamedTuple):
    """One part of a pack: its heading, its memories, how many there are of the sort, its share of the room."""

    heading: str
    memories: Sequence[Memory]
    total: int
    share: float
    line: int = _LINE


def session_pack(opening: Opening, lessons: Sequence[Memory], *, scopes: Sequence[Scope]) -> Pack:
    """Return the pack, at most `PACK_LIMIT` characters; an empty one where nothing is remembered.

    Each section has its share of the room and what those before it left; the last lines count what the memory holds
    and say what was left out.
    """
    if not opening.kinds and not lessons:
        return Pack("")
    seen: set[str] = set()
    room = PACK_LIMIT - _MARKS - _CLOSING - len(_HEADING)
    lines, left_out, carried = [_HEADING], [], 0.0
    for section in _sections(opening, lessons):
        fresh = [memory for memory in section.memories if memory.id not in seen]
        budget = int(carried + room * section.share)
        written, kept = _filled(section, fresh, budget)
        lines += written
        seen.update(memory.id for memory in kept)
        carried = budget - sum(len(line) + 1 for line in written)
        missing = section.total - len(section.memories) + len(fresh) - len(kept)
        if missing > 0:
            left_out.append(f"{missing} of {section.heading.partition(' (')[0].lower()}")
    lines += _closing(opening, left_out)
    return Pack(fence("\n".join(lines), _label(scopes))[:PACK_LIMIT], tuple(seen))


def relevant_pack(memories: Sequence[Memory], *, scopes: Sequence[Scope], limit: int) -> Pack:
    """Return those memories that have room in `limit` characters, best first; an empty pack where there is none."""
    section = Section("Relevant to this prompt", memories, len(memories), 1)
    lines, kept = _filled(section, memories, limit - _MARKS)
    if not kept:
        return Pack("")
    return Pack(fence("\n".join(lines), _label(scopes)), tuple(memory.id for memory in kept))


def _sections(opening: Opening, lessons: Sequence[Memory]) -> list[Section]:
    return [
        Section("Rules (pinned)", *opening.pinned, 0.4, _RULE),
        Section("Lessons handed over to you", lessons, len(lessons), 0.12, _RULE),
        Section("Open working notes", *opening.working, 0.12),
        Section("Captured from the latest sessions (not reviewed)", *opening.captured, 0.14),
        Section("State of the project", *opening.project, 0.14),
        Section("Newest memories (titles)", opening.newest.memories, 0, 0.08, _TITLE),
    ]


def _filled(section: Section, memories: Iterable[Memory], budget: int) -> tuple[list[str], list[Memory]]:
    """Return the lines of a section that fit, under its heading, and the memories in them."""
    lines, kept = [f"{section.heading}:"], []
    left = budget - len(lines[0]) - 1
    for memory in memories:
        line = _told(memory, section.line)
        if len(line) + 1 > left:
            break
        lines.append(line)
        kept.append(memory)
        left -= len(line) + 1
    return (lines, kept) if kept else ([], [])


def _told(memory: Memory, limit: int) -> str:
    text = (memory.title or memory.content) if limit == _TITLE else _whole(memory)
    doubt = " (disputed)" if memory.trust is Trust.DISPUTED else ""
    return f"- {preview(text, limit)}{doubt} [{memory.id}]"


def _whole(memory: Memory) -> str:
    title = memory.title
    return f"{title}: {memory.content}" if title and not memory.content.startswith(title) else memory.content


def _closing(opening: Opening, left_out: Sequence[str]) -> list[str]:
    kinds = ", ".join(f"{count} {kind}" for kind, count in opening.kinds.items())
    lines = [f"The memory holds {sum(opening.kinds.values())}: {kinds}."]
    if opening.topics:
        topics = ", ".join(f"{preview(topic, 30)} ({count})" for topic, count in opening.topics.items())
        lines.append(preview(f"Topics of the latest: {topics}.", _CLOSING - 300))
    if left_out:
        lines.append(f"Left out for want of room: {', '.join(left_out)}; recall finds them.")
    return lines


def _label(scopes: Sequence[Scope]) -> str:
    return preview(f"memory of {', '.join(map(str, scopes))}", 200)
