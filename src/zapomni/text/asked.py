"""What a question says of time and names: `last meeting with Alice`, `что было первого февраля`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.text.fold import name_key
from zapomni.text.periods import told_bounds
from zapomni.text.stem import stem
from zapomni.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, tzinfo

_WORD: Final = re.compile(r"[^\W_]+")
_NEWEST: Final = re.compile(r"\b(?:last|latest|lately|newest|most recent|recently|последн\w+|недавн\w+)\b")


class Asked(Struct, frozen=True, kw_only=True):
    """The time and the names that a question speaks of.

    Bounds are half-open, in UTC; `entities` are known names as they were given; `newest` is true where the latest
    of something is asked for.
    """

    since: datetime | None = None
    until: datetime | None = None
    entities: tuple[str, ...] = ()
    newest: bool = False


def read_asked(question: str, names: Iterable[str], now: datetime, zone: tzinfo) -> Asked:
    """Return what a question says of time, and which of the known names occur in it, in any case of Russian.

    A name of several words is also known by one of them where the question writes it with a capital letter.
    """
    told = told_bounds(name_key(question), now, zone)
    words = [stem(word) for word in _WORD.findall(name_key(question))]
    capitals = {stem(name_key(word)) for word in _WORD.findall(question)[1:] if word[:1].isupper()}
    return Asked(
        since=told.since,
        until=told.until,
        entities=tuple(sorted({name for name in names if _occurs(name, words, capitals)})),
        newest=_NEWEST.search(told.rest) is not None,
    )


def _occurs(name: str, words: list[str], capitals: set[str]) -> bool:
    parts = _WORD.findall(name_key(name))
    wanted = [stem(part) for part in parts]
    if not wanted or all(part in STOP_WORDS for part in parts):
        return False
    if len(wanted) > 1 and capitals.intersection(wanted):
        return True
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1))
