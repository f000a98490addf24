"""Pieces of what people read: every value as text that is safe to print, lists, tables, times and excerpts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

from zapomni.text.clean import ELLIPSIS, cut, preview, printable
from zapomni.text.clusters import edge_before

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from zapomni.model import Part
    from zapomni.services.review.misses import Alarm

INDENT: Final = "  "
PREVIEW_LINES: Final = 3
WIDEST: Final = 100
TOLD: Final = 20
"""Lines of a file, or files of a folder, that are named to a person; JSON names all."""


# --- texts ----------------------------------------------------------------------------------------------
def one_line(value: object, limit: int = 400) -> str:
    """Return a value as one line that is safe to print."""
    return printable(preview(str(value), limit))


def field_text(value: Any) -> str:
    """Return the value of a field in one line, nothing for none and for no; a number is told even when it is 0."""
    if isinstance(value, list):
        return "; ".join(one_line(item) for item in value)
    if isinstance(value, dict):
        return "; ".join(f"{one_line(name)}={one_line(item)}" for name, item in value.items())
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else one_line(value)


def paragraphs(text: str) -> list[str]:
    """Return the lines of a text, safe to print."""
    return printable(text).split("\n")


def wrapped(text: str) -> Iterator[str]:
    """Show the beginning of a text as a few lines, broken at spaces or else between two clusters."""
    room = _room()
    rest = one_line(text, 2 * room * PREVIEW_LINES)
    for _ in range(PREVIEW_LINES - 1):
        if len(rest) > room:
            end = rest.rfind(" ", 1, room + 1)
            end = end if end > 0 else edge_before(rest, room) or room
            yield INDENT + rest[:end]
            rest = rest[end:].lstrip(" ")
    yield INDENT + cut(rest, room)


def excerpt(text: str, words: Collection[str]) -> str:
    """Return a text from the line on in which most of some stems stand close together."""
    from zapomni.text.words import similar_words

    wanted = frozenset(words)
    spots = [(run.start(), found) for run in re.finditer(r"\S+", text) if (found := wanted & similar_words(run[0]))]
    if not spots:
        return text
    reach = _room() * (PREVIEW_LINES - 1)

    def held(start: int) -> int:
        return len(frozenset().union(*(found for at, found in spots if start <= at < start + reach)))

    best = max((at for at, _ in spots), key=held)  # the first of the best
    line = text.rfind("\n", 0, best) + 1
    start = line if best - line < reach // 2 else best
    return f"{ELLIPSIS} {text[start:]}" if text[:start].strip() else text


def bold(text: str, *, before: str) -> str:
    """Return a title in bold behind something, nothing for none."""
    return before + click.style(one_line(text), bold=True) if text else ""


def _room() -> int:
    from shutil import get_terminal_size

    return max(20, min(WIDEST, get_terminal_size().columns)) - len(INDENT)


# --- lists and tables -----------------------------------------------------------------------------------
def explained(parts: Sequence[Part]) -> Iterator[str]:
    """Show each part of a score."""
    names = max((len(part.name) for part in parts), default=0)
    for part in parts:
        line = f"{one_line(part.name):<{names}}  {part.value:8.4f}  {one_line(part.why)}"
        yield click.style(f"{INDENT * 2}{line}", dim=True)


def table(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Show names and values in two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        yield f"{click.style(f'{name:<{width}}', dim=True)}  {value}"


def counted(counts: Mapping[str, int]) -> str:
    """Return counts in one line, the largest first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{one_line(name)} {count:,}" for name, count in ordered)


def listed(counts: Mapping[str, Any]) -> str:
    """Return the counts that are not zero, in their order."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count) or "nothing"


def many(count: int, one: str, more: str = "") -> str:
    """Return a number with its noun; `more` is the plural where it does not end in s."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


def memories(count: int) -> str:
    """Return a number of memories with the word for them."""
    return many(count, "memory", "memories")


# --- the alarm ---------------------------------------------------------------------------------------
def alarm_lines(alarms: Sequence[Alarm]) -> Iterator[str]:
    """Say of each scope that has misses or many memories how it stands."""
    for one in alarms:
        if not (one.crowded or one.misses):
            continue
        state = "ALARM" if one.rings else "no alarm"
        size = f"{memories(one.records)} ({'over' if one.crowded else 'not over'} {one.most})"
        late = f"{many(one.misses, 'miss', 'misses')} in {many(one.recalls, 'recall', 'recalls')}"
        rate = f"in 30 days {late}, before {one.misses_before:,} in {one.recalls_before:,}"
        yield f"{one_line(one.scope)}: {state}: {size}; {rate} ({'' if one.rising else 'not '}rising)"


# --- times ----------------------------------------------------------------------------------------------
def moment(at: datetime) -> str:
    """Return a time to the second, in the zone of this machine."""
    return _local(at).strftime("%Y-%m-%d %H:%M:%S")


def day(at: datetime) -> str:
    """Return a day, in the zone of this machine."""
    return _local(at).strftime("%Y-%m-%d")


def _local(at: datetime) -> datetime:
    """Return a time in the zone of this machine; the very first and last days stay in UTC."""
    try:
        return at.astimezone()
    except (OverflowError, ValueError, OSError):
        return at
