"""The only source of the present time, so that tests can pass their own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

Clock = Callable[[], datetime]
"""Returns the present as an aware datetime in UTC."""


def system_clock() -> datetime:
    """Return the machine's present time in UTC."""
    return datetime.now(UTC)


class LocalZone(tzinfo):
    """The machine's own time zone, with its changes between summer and winter time."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        """Return how far local time is ahead of UTC at this local time."""
        return None if dt is None else _local(dt).utcoffset()

    def dst(self, dt: datetime | None) -> timedelta | None:
        """Return zero: `utcoffset` holds the whole difference."""
        return None if dt is None else timedelta(0)

    def tzname(self, dt: datetime | None) -> str | None:
        """Return the zone's abbreviation at this local time."""
        return None if dt is None else _local(dt).tzname()

    def fromutc(self, dt: datetime) -> datetime:
        """Return the local time of this time in UTC."""
        return dt.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


def _local(dt: datetime) -> datetime:
    """Return a local time with its zone; at the ends of the calendar, where the system knows none, in UTC."""
    try:
        return dt.replace(tzinfo=None).astimezone()
    except (OverflowError, ValueError, OSError):
        return dt.replace(tzinfo=UTC)
