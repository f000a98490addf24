"""What is weak in a note: a description that no question would find, and dates that time has overtaken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.text.fold import fold, name_key
from zapomni.text.periods import told_bounds
from zapomni.text.words import query_words, similar_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

TELLING: Final = 3
"""Fewest words of its own (no stop words) by which a description is told from a title: the article's weak one has two
("архитектура памяти"), its strong one eight."""

_BEGINNINGS: Final = """
who whom whose what which when where why how can may must should is are do does did whether if
кто кого кому чей что чего какой какая какое какие как где куда откуда когда зачем почему сколько можно нужно надо
должен если
"""
_ASKING: Final = frozenset(_BEGINNINGS.split())
"""Words with which a question or a condition begins; such a description is a query, however short."""
_WEEKDAYS: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SPANS: Final = r"недел[яюией]|месяц[еа]?|год[ау]?|квартал[ае]?|понедельник|вторник|сред[уы]|четверг|пятниц[уы]"
_RELATIVE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|day (?:after tomorrow|before yesterday)"
    rf"|(?:next|last|this|coming) (?:week|month|quarter|year|weekend|{_WEEKDAYS})"
    r"|(?:\d+|a|an|one|two|three|few) (?:day|week|month|year)s? ago"
    r"|сегодня|завтра|послезавтра|вчера|позавчера"
    rf"|(?:прошл|следующ|будущ|ближайш|эт)(?:ую|ой|ом|ем|ей|ий|его|ого|у|от) (?:{_SPANS})"
    r"|(?:\d+ )?(?:день|дня|дней|недел[юиь]|месяц(?:а|ев)?|год|года|лет) назад)\b"
)
_AHEAD: Final = re.compile(
    r"\b(?:will|going to|plan(?:s|ned|ning)?|scheduled|upcoming|due|deadline|expected|until|by (?=\d)"
    r"|буд(?:ет|ем|ут|у|ешь|ете)|план(?:ируе(?:м|тся)|ируют|ом|е|ы)|запланирован\w*|намечен\w*|предсто\w+|ожида\w+"
    r"|срок\w*|дедлайн\w*|собира\w+|[дк]о? (?=\d))"
)
_YEAR: Final = re.compile(r"(?<!\d)20\d\d(?!\d)")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+")
_LONGEST: Final = 1_000
"""Characters of one sentence that are looked at; what is longer is no sentence."""


class Stale(NamedTuple):
    """A place in a body whose date no longer says what it meant: the line from 1, the words, and why."""

    line: int
    words: str
    why: str


def weakness(name: str, description: str) -> str | None:
    """Say why a description is a title and no query, None where it is one.

    It is a title when it is empty, when it says no more than the name does, or when it has fewer than `TELLING` words
    of its own and is no question. Forms of a word count once, Russian and English alike.
    """
    words = [word for word in query_words(description) if word.whole is None]
    if not words:
        return "it is empty"
    if {word.stem for word in words} <= similar_words(name):
        return "it says no more than the name"
    if len(words) < TELLING and not _asks(description):
        return f"it is a title of {len(words)} word{'s' if len(words) > 1 else ''}, not what somebody would ask"
    return None


def stale_dates(body: str, now: datetime, zone: tzinfo) -> Iterator[Stale]:
    """Yield dates that count from a day nobody knows any more, and days gone by that are spoken of as to come.

    A day needs its year for the second. One finding a sentence.
    """
    for number, line in enumerate(body.splitlines(), 1):
        for sentence in _SENTENCE.split(line):
            flat = name_key(sentence[:_LONGEST])
            relative = _RELATIVE.search(flat)
            if relative:
                yield Stale(number, relative[0], "it counts from the day of writing: give the date")
            elif _YEAR.search(flat) and _AHEAD.search(flat):
                until = told_bounds(flat, now, zone).until
                if until is not None and until <= now:
                    yield Stale(number, " ".join(sentence.split()), "it speaks of a day that is past as to come")


def _asks(description: str) -> bool:
    first = fold(description.split(maxsplit=1)[0]).strip("«\"'(")
    return first in _ASKING or description.rstrip().endswith("?")
