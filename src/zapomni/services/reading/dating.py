"""When a file was written, as far as it tells: what it calls "yesterday" is counted from then."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.errors import InvalidInput
from zapomni.text.dates import parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

_NAMED: Final = re.compile(
    r"(?<!\d)(?:(?P<year>(?:19|20)\d\d)(?P<by>[-_.]?)(?P<month>\d\d)(?P=by)(?P<day>\d\d)"
    r"|(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>(?:19|20)\d\d))(?!\d)",
    re.ASCII,
)
"""A day in a name: 2024-03-01, 2024_03_01, 2024.03.01, 20240301, 01.03.2024."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(NamedTuple):
    """By what a file's time is told: now, the zone of bare days, and when the file was changed, if it lies anywhere."""

    now: datetime
    zone: tzinfo
    modified_ns: int | None = None


def written_at(header: str, name: str, moment: Moment) -> datetime | None:
    """Return when a file was written: the date of its header, else in its name, else when it was changed.

    A day is its first instant. What is no date is passed over, and so is one that is still to come: a plan for May
    was not written in May. None where nothing tells.
    """
    return next((at for at in _told(header, name, moment) if _EPOCH < at <= moment.now), None)


def _told(header: str, name: str, moment: Moment) -> Iterator[datetime]:
    named = _NAMED.search(name)
    day = "-".join(part for part in named.group("year", "month", "day") if part) if named else ""
    dotted = "-".join(part for part in named.group("y", "m", "d") if part) if named else ""
    for text in (header, day or dotted):
        try:
            yield parse_instant(text, moment.zone)
        except InvalidInput:
            continue
    if moment.modified_ns is not None:
        try:
            yield _EPOCH + timedelta(microseconds=moment.modified_ns // 1_000)
        except OverflowError:  # beyond the calendar
            return
