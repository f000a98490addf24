"""The pack of a session's start: what an agent should know before it is asked anything, in few characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.model import Trust
from zapomni.text.clean import preview
from zapomni.text.fence import fence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zapomni.model import Memory, Scope
    from zapomni.services.review.handover import Lesson
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
_MARKED: Final = {
    Trust.CANDIDATE: " (not reviewed)",
    Trust.CONFIRMED: " (confirmed)",
    Trust.DISPUTED: " (disputed)",
}
"""How a line says that its memory is believed otherwise than its section."""
_HEADING: Final = "Remembered by zapomni. Its tools recall more and store what is decided."


class Pack(Struct, frozen=True):
    """A text to be handed over, fenced, and the ids of the memories and lessons that it shows."""

    text: str
    shown: tuple[str, ...] = ()


class Row(Struct, frozen=True):
    """One line of a pack and the id of what it shows."""

    id: str
    text: str


class Section(Struct, frozen=True):
    """One part of a pack: its heading, its lines, how many there are of the sort, its share of the room.

    Of `titles` no line shows a memory, so that a prompt may still bring it.
    """

    heading: str
    rows: Sequence[Row]
    total: int
    share: float
    titles: bool = False


def session_pack(opening: Opening, lessons: Sequence[Lesson], *, scopes: Sequence[Scope]) -> Pack:
    """Return the pack, at most `PACK_LIMIT` characters; an empty one where nothing is remembered.

    Each section has its share of the room and what those before it left; the last lines count what the memory holds
    and say what was left out.
    """
    if not opening.kinds and not lessons:
        return Pack("")
    seen: dict[str, bool] = {}
    room = PACK_LIMIT - _MARKS - _CLOSING - len(_HEADING)
    lines, left_out, carried = [_HEADING], [], 0.0
    for section in _sections(opening, lessons):
        fresh = [row for row in section.rows if row.id not in seen]
        budget = int(carried + room * section.share)
        written, kept = _filled(section, fresh, budget)
        lines += written
        seen.update(dict.fromkeys(kept, not section.titles))
        carried = budget - sum(len(line) + 1 for line in written)
        missing = section.total - len(section.rows) + len(fresh) - len(kept)
        if missing > 0:
            left_out.append(f"{missing} of {section.heading.partition(' (')[0].lower()}")
    lines += _closing(opening, left_out)
    return Pack(
        fence("\n".join(lines), _label(scopes))[:PACK_LIMIT], tuple(one for one, whole in seen.items() if whole)
    )


def relevant_pack(memories: Sequence[Memory], *, scopes: Sequence[Scope], limit: int) -> Pack:
    """Return those memories that have room in `limit` characters, best first; an empty pack where there is none."""
    section = Section("Relevant to this prompt", _told(memories), len(memories), 1)
    lines, kept = _filled(section, section.rows, limit - _MARKS)
    return Pack(fence("\n".join(lines), _label(scopes)), tuple(kept)) if kept else Pack("")


def _sections(opening: Opening, lessons: Sequence[Lesson]) -> list[Section]:
    return [
        Section("Rules (pinned)", _told(opening.pinned.memories, _RULE), opening.pinned.total, 0.4),
        Section("Lessons handed over to you", _lessons(lessons), len(lessons), 0.12),
        Section("Open working notes", _told(opening.working.memories), opening.working.total, 0.12),
        Section(
            "Captured from the latest sessions (not reviewed)",
            _told(opening.captured.memories, usual=Trust.CANDIDATE),
            opening.captured.total,
            0.14,
        ),
        Section("State of the project", _told(opening.project.memories), opening.project.total, 0.14),
        Section("Newest memories (titles)", _titles(opening.newest.memories), 0, 0.08, titles=True),
    ]


def _filled(section: Section, rows: Iterable[Row], budget: int) -> tuple[list[str], list[str]]:
    """Return the lines of a section that fit, under its heading, and the ids of what they show."""
    lines, kept = [f"{section.heading}:"], []
    left = budget - len(lines[0]) - 1
    for row in rows:
        line = f"- {row.text} [{row.id}]"
        if len(line) + 1 > left:
            break
        lines.append(line)
        kept.append(row.id)
        left -= len(line) + 1
    return (lines, kept) if kept else ([], [])


def _told(memories: Iterable[Memory], limit: int = _LINE, *, usual: Trust = Trust.CONFIRMED) -> list[Row]:
    return [
        Row(
            memory.id,
            preview(_whole(memory), limit) + (_MARKED.get(memory.trust, "") if memory.trust is not usual else ""),
        )
        for memory in memories
    ]


def _titles(memories: Iterable[Memory]) -> list[Row]:
    return [Row(memory.id, preview(memory.title or memory.content, _TITLE)) for memory in memories]


def _lessons(lessons: Iterable[Lesson]) -> list[Row]:
    rows = []
    for lesson in lessons:
        text = preview(_whole(lesson.memory), _RULE) if lesson.memory else "a memory that is gone"
        answer = f"Not taken up, because {preview(lesson.rejected, _LINE)}: " if lesson.rejected else ""
        rows.append(Row(lesson.id, answer + text))
    return rows


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
