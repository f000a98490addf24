"""Days and spans of days as people speak of them, in Russian and English: `on 1 February`, `на прошлой неделе`.

A day or month without a year is the latest one that has begun. `last week` is the calendar week before this one,
`the last two weeks` end today. Weeks begin on Monday; days are those of the zone passed in.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.text.dates import parse_bound

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, tzinfo

    Days = tuple[date, date]
    """From a day on and before another one."""
    Span = tuple[date | None, date | None]
    """The same, open to one side where that is None."""


class Told(NamedTuple):
    """The bounds that a text names, None where it names none, and the text without the words for them."""

    since: datetime | None
    until: datetime | None
    rest: str


class _Period(NamedTuple):
    start: int
    end: int
    days: Days


def _numbered(words: str, first: int = 1) -> dict[str, int]:
    return {word: number for number, word in enumerate(words.split(), first)}


_MONTHS: Final = {
    **_numbered("jan feb mar apr may jun jul aug sep oct nov dec"),
    **_numbered("янв фев мар апр май июн июл авг сен окт ноя дек"),
    **dict.fromkeys(("мая", "мае", "маю"), 5),
}
"""The number of a month by its first three letters."""
_MONTH: Final = (
    r"(?P<month>(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|(?:январ|феврал|апрел|июн|июл|сентябр|октябр|ноябр|декабр)[ьяею]"
    r"|(?:март|август)[аеу]?|ма[йяею])\b)"
)
_WEEKDAYS: Final = _numbered("mon tue wed thu fri sat sun", 0) | _numbered("пон вто сре чет пят суб вос", 0)
_WEEKDAY: Final = (
    r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day|понедельник|вторник|сред[уы]|четверг|пятниц[уы]"
    r"|суббот[уы]|воскресенье)\b"
)
_ENGLISH: Final = _numbered(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_RUSSIAN: Final = _numbered(
    "первого второго третьего четвертого пятого шестого седьмого восьмого девятого десятого одиннадцатого"
    " двенадцатого тринадцатого четырнадцатого пятнадцатого шестнадцатого семнадцатого восемнадцатого"
    " девятнадцатого двадцатого"
)


_ONES: Final = range(1, 10)


def _ordinals() -> dict[str, int]:
    """Return the days of a month by their words; `первое` is `первого` too."""
    found = _ENGLISH | _RUSSIAN | {"thirtieth": 30, "тридцатого": 30, "тридцать первого": 31}
    found |= {f"twenty{joint}{word}": 20 + no for joint in "- " for word, no in _ENGLISH.items() if no in _ONES}
    found |= {f"thirty{joint}first": 31 for joint in "- "}
    found |= {f"двадцать {word}": 20 + no for word, no in _RUSSIAN.items() if no in _ONES}
    return found | {
        word.removesuffix("го").removesuffix("е") + "е": no for word, no in found.items() if word[-1] == "о"
    }


_ORDINALS: Final = _ordinals()
_DAY: Final = rf"(?:\d\d?(?:st|nd|rd|th|-?го|-?е|-?ое)?|{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"
_YEAR: Final = r"(?P<year>(?:19|20|21)\d\d)(?!\d)(?: ?г\b\.?| год[ау]?\b)?"
_COUNTS: Final = {
    **_numbered("one two three four five six seven eight nine ten"),
    **_numbered("один два три четыре пять шесть семь восемь девять десять"),
    **dict.fromkeys(("a", "an", "одну"), 1),
    **dict.fromkeys(("couple of", "две", "пару"), 2),
}
_COUNT: Final = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_UNIT: Final = r"(?P<unit>days?|weeks?|months?|years?|день|дн[яей]{1,2}|недел[ьюияе]|месяц(?:а|е|ев)?|год[ау]?|лет)\b"
_UNITS: Final = {"d": "d", "w": "w", "m": "m", "y": "y", "д": "d", "н": "w", "м": "m", "г": "y", "л": "y"}
_BEFORE_MONTH: Final = "in during since from until till before after of for last this за в с до после прошлом этом"
"""Words behind which a month without a day is meant as one: `may` and `march` mean other things too."""
_SINCE: Final = re.compile(r"\b(?:since|starting|с|со) (?:the )?$")
"""`from` is none of them: notes from Monday are those of Monday, and `from … to` is known by both."""
_AFTER: Final = re.compile(r"\b(?:after|после) (?:the )?$")
_BEFORE: Final = re.compile(r"\b(?:before|until|till|prior to|до|перед|раньше) (?:the )?$")
_JOINT: Final = re.compile(r" ?(?:-|–|—|to|till|until|through|and|по|до|и) ?(?:the )?")
_FIRST_DAY: Final = rf"(?:(?:between|from|между|со?) (?:the )?)?(?P<first>{_DAY}){_JOINT.pattern}"


# --- what each phrase names -----------------------------------------------------------------------------
def _number(word: str) -> int:
    digits = re.match(r"\d+", word)
    return int(digits[0]) if digits else _ORDINALS[word]


def _day(found: re.Match[str], today: date) -> Days:
    month, number = _MONTHS[found["month"][:3]], _number(found["day"])
    year = int(found["year"] or 0) or today.year
    first = date(year, month, number)
    if first > today and not found["year"]:
        first = date(year - 1, month, number)
    return first, first + timedelta(days=1)


def _days(found: re.Match[str], today: date) -> Days:
    last, end = _day(found, today)
    return last.replace(day=_number(found["first"])), end


def _month(found: re.Match[str], today: date) -> Days:
    month = _MONTHS[found["month"][:3]]
    year = int(found["year"] or 0) or today.year - (month > today.month)
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def _year(found: re.Match[str], _: date) -> Days:
    year = int(found["year"])
    return date(year, 1, 1), date(year + 1, 1, 1)


def _near_day(found: re.Match[str], today: date) -> Days:
    word = found[0]
    back = 2 if word in {"day before yesterday", "позавчера"} else 1 if word in {"yesterday", "вчера"} else 0
    return _calendar("d", today, back)


def _near_unit(found: re.Match[str], today: date) -> Days:
    this = found["which"].startswith(("this", "current", "эт", "текущ"))
    return _calendar(_UNITS[found["unit"][0]], today, 0 if this else 1)


def _ago(found: re.Match[str], today: date) -> Days:
    return _calendar(_UNITS[found["unit"][0]], today, _counted(found["count"]))


def _rolling(found: re.Match[str], today: date) -> Days:
    unit, count = _UNITS[found["unit"][0]], _counted(found["count"])
    length = {"d": 1, "w": 7, "m": 30, "y": 365}[unit] * count
    return today - timedelta(days=length), today + timedelta(days=1)


def _weekday(found: re.Match[str], today: date) -> Days:
    back = (today.weekday() - _WEEKDAYS[found["weekday"][:3]]) % 7
    past = found["past"] is not None
    return _calendar("d", today, back or (7 if past else 0))


def _iso(found: re.Match[str], _: date) -> Days:
    first = date(int(found["y"]), int(found["m"]), int(found["d"]))
    return first, first + timedelta(days=1)


def _counted(word: str | None) -> int:
    return 1 if word is None else _COUNTS[word] if word in _COUNTS else int(word)


def _calendar(unit: str, today: date, back: int) -> Days:
    """Return the day, week, month or year that lies so many of them back."""
    match unit:
        case "d":
            first = today - timedelta(days=back)
            return first, first + timedelta(days=1)
        case "w":
            first = today - timedelta(days=today.weekday() + 7 * back)
            return first, first + timedelta(days=7)
        case "m":
            year, month = divmod(today.year * 12 + today.month - 1 - back, 12)
            return date(year, month + 1, 1), date(year + (month + 1) // 12, (month + 1) % 12 + 1, 1)
        case _:
            return date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1)


_AFTER_WORD: Final = "|".join(rf"(?<=\b{word} )" for word in _BEFORE_MONTH.split())
_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Days]], ...]] = tuple(
    (re.compile(pattern), rule)
    for pattern, rule in (
        (r"(?<![\d.-])(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?![\d-])", _iso),
        (r"(?<![\d.])(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{4})(?![\d.])", _iso),
        (rf"\b{_FIRST_DAY}(?P<day>{_DAY})(?: of)? {_MONTH}(?:,? {_YEAR})?", _days),
        (rf"\b(?P<day>{_DAY})(?: of)? {_MONTH}(?:,? {_YEAR})?", _day),
        (rf"\b{_MONTH} (?:the )?(?P<day>{_DAY})(?!\d)(?:,? {_YEAR})?", _day),
        (rf"\b{_MONTH},? {_YEAR}", _month),
        (rf"(?:{_AFTER_WORD}){_MONTH}(?P<year>(?!))?", _month),
        (r"\b(?:day before yesterday|yesterday|today|позавчера|вчера|сегодня)\b", _near_day),
        (rf"\b(?:{_COUNT} )?{_UNIT} (?:ago|назад)\b", _ago),
        (rf"\b(?:last|past|последни[ехй]|последн(?:юю|яя|ее)) {_COUNT} {_UNIT}", _rolling),
        (rf"\b(?:past|последн(?:юю|ий|ие|ей|ем)) (?P<count>(?!))?{_UNIT}", _rolling),
        (rf"\b(?P<which>this|last|current|previous|эт[оаиу]\w?|текущ\w+|прошл\w+|предыдущ\w+) {_UNIT}", _near_unit),
        (rf"(?:(?<=\bon )|(?<=\bв )|(?<=\bво )|\b(?P<past>(?:last|прошл\w+) )){_WEEKDAY}", _weekday),
        (rf"(?:(?<=\bin )|(?<=\bduring )|(?<=\bsince )|(?<=\bв )|(?<=\bза )|(?<=\bс )){_YEAR}(?!-)", _year),
    )
)
"""Phrases with what they name; what an earlier one has taken a later one does not see."""


# --- a whole text ---------------------------------------------------------------------------------------
def told_bounds(text: str, now: datetime, zone: tzinfo) -> Told:
    """Return the time that a text speaks of; `text` is as `fold.name_key` leaves it.

    Two days with a word between them are the span from one to the other, several are the least span that holds
    them all. `since`, `after`, `before`, `с`, `после` and `до` open a span to one side.
    """
    periods, rest = _periods(text, now.astimezone(zone).date())
    if not periods:
        return Told(None, None, rest)
    if all(_JOINT.fullmatch(text[one.end : other.start]) for one, other in pairwise(periods)) and len(periods) > 1:
        spans: list[Span] = [one.days for one in periods]
    else:
        spans = [_span(text, one) for one in periods]
        spans = [span for span in spans if None in span] or spans
    since = min((first for first, _ in spans if first), default=None)
    until = max((end for _, end in spans if end), default=None)
    return Told(_instant(since, now, zone), _instant(until, now, zone), rest)


def _periods(text: str, today: date) -> tuple[list[_Period], str]:
    periods: list[_Period] = []
    for pattern, rule in _RULES:
        for found in pattern.finditer(text):
            try:
                days = rule(found, today)
            except (ValueError, OverflowError):  # no such day
                continue
            periods.append(_Period(found.start(), found.end(), days))
            text = text[: found.start()] + "\0" * len(found[0]) + text[found.end() :]
    return sorted(periods), " ".join(text.replace("\0", " ").split())


def _span(text: str, period: _Period) -> Span:
    """Return the days of one period, open to the side that the word before it says."""
    before = text[: period.start]
    first, end = period.days
    if _SINCE.search(before):
        return first, None
    if _AFTER.search(before):
        return end, None
    if _BEFORE.search(before):
        return None, first
    return first, end


def _instant(day: date | None, now: datetime, zone: tzinfo) -> datetime | None:
    return None if day is None else parse_bound(day.isoformat(), now, zone)[0]
