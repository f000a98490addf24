"""Dates that a text says, or that can be reckoned from its words and from the day on which it was said.

`yesterday`, `через две недели`, `on Friday` and `3 May` name days only together with that day. How far from it they may
lie is told by the widest of the words that count time: a text that speaks of weeks bears out a day of the next weeks,
not one of another year. That is a bound and no reading: whether the right one of those days was reckoned is not told.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING, Final

from zapomni.text.figures import Figure, read_dates, read_numbers
from zapomni.text.fold import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEAR: Final = 2
"""Days that are borne out without a word: the day itself wherever on earth, the one before and the one behind it."""
_WEEKDAY: Final = 14
_REACHES: Final = tuple(
    (re.compile(rf"(?<!\w)(?:{words})(?!\w)"), days)
    for words, days in (
        (r"days?|дн(?:и|я|ей|ям|ями|ях)|weekends?|weeks?|недел\w*|выходн\w*|soon|recently|lately|скоро|недавно", 31),
        (
            r"months?|месяц\w*|quarters?|квартал\w*|spring|summer|autumn|winter|весн\w*|лет(?:о|а|ом)|осен\w*|зим\w*",
            366,
        ),
        (r"years?|год\w*|decades?|лет", 3_660),
    )
)
"""How many days away the words lead that count time without a number."""
_LENGTHS: Final = {"day": 1, "week": 7, "month": 31, "year": 366}
_FARTHEST: Final = 36_600
_DAYS: Final = 31
_NAMED: Final = 200
"""Most days of a text from which others are reckoned: a calendar bears out every day anyway."""
_SPAN = tuple[date, date]


class Reckoning:
    """The days that one text bears out, which was said on a day."""

    def __init__(self, text: str, said: date) -> None:
        dates, rest = read_dates(text)
        numbers, _ = read_numbers(rest)
        self._said = said
        self._dates = [*dates, *(one for one in numbers if one.kind == "date")]
        reach = _reach_of(text, numbers)
        bare = {int(str(one.value[0])) for one in numbers if _is_day(one)}
        beside = min(reach, _DAYS) if reach > _NEAR else 0
        self._spans = [_around(said, reach)]
        self._spans += [_around(day, beside) for day in islice(_named(self._dates, bare, said), _NAMED)]
        self._spans += [_around(day, 0) for day in _on_weekdays(self._dates, said)]

    def bears(self, figure: Figure) -> bool:
        """Tell whether a date stands in the text or can be reckoned; a time of day must stand there."""
        if any(figure.stands_in(other) for other in self._dates):
            return True
        year, month, day, weekday, time = figure.value
        if time is not None and not any(other.value[-1] == time for other in self._dates):
            return False
        if year is None and month is None:
            return weekday is None or any(_has(span, weekday) for span in self._spans)
        years = (year,) if isinstance(year, int) else range(self._said.year - 1, self._said.year + 2)
        if month is not None and day is None and any(other.value[:3] == (None, month, None) for other in self._dates):
            return any(abs(one - self._said.year) <= 1 for one in years)
        spans = [span for one in years if (span := _days_of(one, month, day)) is not None]
        return any(first <= end and start <= last for first, last in spans for start, end in self._spans)


def _days_of(year: int, month: object, day: object) -> _SPAN | None:
    """Return the first and the last day of a day, month or year; None for one that no calendar has."""
    first, last = (month, month) if isinstance(month, int) else (1, 12)
    try:
        if isinstance(day, int):
            return date(year, first, day), date(year, first, day)
        return date(year, first, 1), date(year, last, monthrange(year, last)[1])
    except ValueError:
        return None


def _around(day: date, days: int) -> _SPAN:
    return date.fromordinal(max(1, day.toordinal() - days)), date.fromordinal(
        min(date.max.toordinal(), day.toordinal() + days)
    )


def _has(span: _SPAN, weekday: object) -> bool:
    start, end = (day.toordinal() for day in span)
    return any(date.fromordinal(one).isoweekday() == weekday for one in range(start, min(end, start + 6) + 1))


def _on_weekdays(dates: list[Figure], said: date) -> Iterator[date]:
    """Yield the days of these and the next weeks on whose weekdays a text names."""
    wanted = {one.value[3] for one in dates}
    start, end = _around(said, _WEEKDAY)
    for one in range(start.toordinal(), end.toordinal() + 1):
        if date.fromordinal(one).isoweekday() in wanted:
            yield date.fromordinal(one)


def _reach_of(text: str, numbers: list[Figure]) -> int:
    """Return how many days before or behind the day on which it was said a text leads."""
    low = fold(text)
    counted = [
        int(float(str(one.value[0])) * _LENGTHS[str(one.value[1])]) + _LENGTHS[str(one.value[1])]
        for one in numbers
        if one.kind == "number" and one.value[1] in _LENGTHS and abs(float(str(one.value[0]))) <= _FARTHEST
    ]
    words = [days for words, days in _REACHES if words.search(low)]
    return min(max([_NEAR, *counted, *words]), _FARTHEST)


def _named(dates: list[Figure], bare: set[int], said: date) -> Iterator[date]:
    """Yield the days that a text names by month and day, in the years around when none is named."""
    for one in dates:
        year, month, day, *_ = one.value
        if isinstance(month, int) and isinstance(day, int):
            for which in (year,) if isinstance(year, int) else range(said.year - 1, said.year + 2):
                for number in (day, *sorted(bare)):
                    try:
                        yield date(which, month, number)
                    except ValueError:
                        continue


def _is_day(figure: Figure) -> bool:
    number = str(figure.value[0])
    return figure.value[1:] == (None,) and number.isdecimal() and 1 <= int(number) <= _DAYS
