"""Growth: how fast a memory grows, and when it will have grown to a size, with how far off that may be.

The counts are taken for a Poisson process: records come one by one, at a rate of their own. Over a window of T days in
which n records came, the rate is n / T, and the next k records take `T · k / n` days. The logarithm of that time is off
by a standard error of `sqrt(D · (1/n + 1/k))`: the delta method for the ratio of two Poisson counts (Rothman, Greenland
and Lash, Modern Epidemiology, 3rd ed., ch. 14; the exact form is the F interval of Hahn and Meeker, Statistical
Intervals, ch. 7, which it matches within a few per cent). D is how much more the counts jump than a Poisson process
does: Pearson's chi-square over its degrees of freedom (McCullagh and Nelder, Generalized Linear Models, 2nd ed., 4.5),
at least 1; it is 1 where the window holds only two counts.
"""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise
from math import exp, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WINDOW: Final = 28
"""Days that count as lately: four whole weeks, so that no weekday weighs more than another."""
SHORTEST: Final = 7
"""Fewest days between the first and the last count of a window that say anything of a rate."""
SURE: Final = 0.8
"""Share of cases in which the day lies between the two that are told: four of five."""
_REACH: Final = NormalDist().inv_cdf((1 + SURE) / 2)
_FAR: Final = 36_500
"""Days behind which nothing is told: a hundred years."""


class Count(NamedTuple):
    """So many records there were on a day, at its end."""

    day: date
    records: int


class Growth(Struct, frozen=True, kw_only=True):
    """How a memory grew lately: `came` records from one day to another; `spread` is D of this module."""

    since: Count
    until: Count
    spread: float

    @property
    def days(self) -> int:
        """The length of the window."""
        return (self.until.day - self.since.day).days

    @property
    def came(self) -> int:
        """How many records came in it, less those that went."""
        return self.until.records - self.since.records

    @property
    def a_day(self) -> float:
        """Records a day."""
        return self.came / self.days


class Forecast(Struct, frozen=True, kw_only=True):
    """The day on which a size will be reached, and the two between which it lies in four cases of five.

    `latest` is None when it may take more than a hundred years.
    """

    day: date
    earliest: date
    latest: date | None


def growth(counts: Iterable[Count]) -> Growth | None:
    """Return how a memory grew in the last `WINDOW` days before its last count.

    Where only the last count lies in them, the one before is taken too. None when there are no two counts, when they
    are less than `SHORTEST` days apart, or when nothing came.
    """
    known = sorted({count.day: count for count in sorted(counts)}.values())
    recent = [count for count in known if (known[-1].day - count.day).days <= WINDOW]
    window = recent if len(recent) > 1 else known[-2:]
    if len(window) < 2:  # noqa: PLR2004 - a rate lies between two counts
        return None
    found = Growth(since=window[0], until=window[-1], spread=_spread(window))
    return found if found.days >= SHORTEST and found.came > 0 else None


def reached(lately: Growth, more: float) -> Forecast | None:
    """Return when `more` records (above 0) will have come after the last count; None when a hundred years away."""
    days = more / lately.a_day
    off = exp(_REACH * sqrt(lately.spread * (1 / lately.came + 1 / more)))
    day, earliest, latest = (_after(lately, days * by) for by in (1, 1 / off, off))
    if day is None or earliest is None:
        return None
    return Forecast(day=day, earliest=earliest, latest=latest)


def counts_of(births: Iterable[date], until: date) -> list[Count]:
    """Return how many records there were at the end of each day of the window before `until`, from their birthdays."""
    born = sorted(births)
    first = until - timedelta(days=WINDOW)
    return [
        Count(day, sum(birth <= day for birth in born))
        for day in (first + timedelta(days=gone) for gone in range(WINDOW + 1))
        if born and day >= born[0]
    ]


def _spread(window: Sequence[Count]) -> float:
    steps = [(after.records - before.records, (after.day - before.day).days) for before, after in pairwise(window)]
    a_day = sum(came for came, _ in steps) / max(1, sum(days for _, days in steps))
    if len(steps) < 2 or a_day <= 0:  # noqa: PLR2004 - one step has nothing to differ from
        return 1.0
    square = sum((came - a_day * days) ** 2 / (a_day * days) for came, days in steps)
    return max(1.0, square / (len(steps) - 1))


def _after(lately: Growth, days: float) -> date | None:
    return lately.until.day + timedelta(days=round(days)) if days < _FAR else None
