"""Dates as people write them, turned into instants: one rule for every field, filter and surface.

The rule: a time with a zone (`Z`, `+02:00`) means what it says; without one it is local, in the zone passed in.
A bare day, month or year is local too; a day may also be written `30.11.2026`: day, month, year. In the hour that
a clock skips, a time means the moment as far past the skip; in the hour it repeats, the first of the two.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, Final

from zapomni.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import tzinfo

_ISO: Final = re.compile(
    r"""(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d)
    (?:[T\ ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?)?
    \ ?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?)?""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_DOTTED: Final = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})(?=$|[T ])", re.ASCII | re.IGNORECASE)
_AGO: Final = re.compile(r"(\d{1,4}) ?(min|мин|[hdwчдн])", re.ASCII | re.IGNORECASE)
_DAYS: Final = {"today": 0, "сегодня": 0, "yesterday": 1, "вчера": 1}
_MINUTE: Final = timedelta(minutes=1)
_STEPS: Final = {
    **dict.fromkeys(("min", "мин"), _MINUTE),
    **dict.fromkeys("hч", 60 * _MINUTE),
    **dict.fromkeys("dд", timedelta(days=1)),
    **dict.fromkeys("wн", timedelta(weeks=1)),
}
"""The length of each unit of a span; `m` alone is none, for it means months to some and minutes to others."""
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)
_FORMS: Final = "Write 2026-03-29, 29.03.2026, 2026-03-29T12:00, 2026-03-29T12:00+02:00, 2026-03, 2026"
_WORDS: Final = ", today or yesterday (сегодня, вчера)"
_SPANS: Final = ", or a span: 90min, 12h, 7d, 2w (90мин, 12ч, 7д, 2н)"


def parse_bound(text: str, now: datetime, zone: tzinfo, *, field: str = "date") -> tuple[datetime, datetime]:
    """Return the half-open interval that a date names, in UTC: from its first instant to before its second.

    A year, month or day is all of it, as long as it really is (23 hours on the day the clocks go forward);
    a time is the minute, second or microsecond it is written to. `today`, `yesterday`, `сегодня` and `вчера`
    are local days; `90min`, `12h`, `7d` and `2w` (`90мин`, `12ч`, `7д`, `2н`) run from so long ago until now.
    Raises `InvalidInput` naming `field` for anything else.
    """
    word = text.strip().lower()
    if word in _DAYS:
        day = datetime.combine(now.astimezone(zone).date() - timedelta(days=_DAYS[word]), time())
        return _local(day, zone), _local(day + timedelta(days=1), zone)
    if ago := _AGO.fullmatch(word):
        return now.astimezone(UTC) - int(ago[1]) * _STEPS[ago[2]], now.astimezone(UTC)
    return _iso(text, zone, field, _FORMS + _WORDS + _SPANS)


def parse_instant(text: str, zone: tzinfo, *, now: datetime | None = None, field: str = "date") -> datetime:
    """Return the first instant of the date or time that is written, in UTC; with `now` also of `today` and its like.

    Raises `InvalidInput` naming `field` when it is none of them.
    """
    if now is not None and is_day_word(text):
        return parse_bound(text, now, zone, field=field)[0]
    return _iso(text, zone, field, _FORMS + _WORDS)[0]


def is_day_word(text: str) -> bool:
    """Tell whether a text names a day by where it lies from now: `today`, `yesterday`, `сегодня`, `вчера`."""
    return text.strip().lower() in _DAYS


def _iso(text: str, zone: tzinfo, field: str, remedy: str) -> tuple[datetime, datetime]:
    found = _ISO.fullmatch(_DOTTED.sub(_turned, text.strip(), count=1))
    if found is None:
        raise InvalidInput(field, f"{text!r} is not a date", remedy=remedy)
    fraction = (found["fraction"] or "")[:6].ljust(6, "0")
    try:
        start = datetime(  # noqa: DTZ001 - its zone comes with `_local`
            int(found["year"]),
            int(found["month"] or 1),
            int(found["day"] or 1),
            int(found["hour"] or 0),
            int(found["minute"] or 0),
            int(found["second"] or 0),
            int(fraction),
        )
        there = _zone(found["zone"]) if found["zone"] else zone
    except ValueError as error:
        raise InvalidInput(field, f"{text!r} is not a date: {error}", remedy=remedy) from error
    return _local(start, there), _end(start, there, found)


def _turned(found: re.Match[str]) -> str:
    """Return a day written with dots as ISO writes it; only one at the very beginning."""
    day, month, year = found.groups()
    return found[0] if found.start() else f"{year}-{month:0>2}-{day:0>2}"


def _end(start: datetime, zone: tzinfo, found: re.Match[str]) -> datetime:
    try:
        if found["hour"]:
            step = "microseconds" if found["fraction"] else "seconds" if found["second"] else "minutes"
            return _local(start, zone) + timedelta(**{step: 1})
        if found["day"]:
            return _local(start + timedelta(days=1), zone)
        year, month = divmod(start.year * 12 + start.month - 1 + (1 if found["month"] else 12), 12)
        return _local(start.replace(year=year, month=month + 1), zone)
    except (OverflowError, ValueError):  # beyond the year 9999
        return _LAST


def _zone(text: str) -> tzinfo:
    if text in "Zz":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _local(at: datetime, zone: tzinfo) -> datetime:
    """Return the instant of a local time, at most the ends of the calendar: 9999-12-31 is a way to say never."""
    try:
        return at.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return _FIRST if at.year == _FIRST.year else _LAST
