"""Growth: when a memory will have grown to a size, and how sure that is."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.growth import SHORTEST, WINDOW, Count, counts_of, growth, reached

ARTICLE = [Count(date(2026, 7, 8), 118), Count(date(2026, 7, 30), 124), Count(date(2026, 8, 11), 135)]
"""The record counts that the article on the two-level memory gives, and when it counted."""
COUNTS = st.lists(st.builds(Count, st.dates(date(2026, 1, 1), date(2026, 12, 31)), st.integers(0, 400)), max_size=8)


@pytest.mark.promise("vault.forecast")
def test_the_article_s_dates_follow_from_its_counts():
    lately = growth(ARTICLE)
    assert lately is not None
    assert (lately.came, lately.days, round(lately.a_day, 2)) == (11, 12, 0.92)  # "about one record a day"
    first, second = reached(lately, 150 - 135), reached(lately, 200 - 135)
    assert first is not None
    assert second is not None
    # "150 by the end of August": the day itself is in its last week, and the 31st lies in the range
    assert first.day == date(2026, 8, 27)
    assert first.latest is not None
    assert first.earliest <= date(2026, 8, 31) <= first.latest
    # "200 by the end of October"
    assert second.day == date(2026, 10, 21)
    assert second.latest is not None
    assert second.earliest <= date(2026, 10, 31) <= second.latest


@pytest.mark.promise("vault.forecast")
def test_the_range_holds_the_day_in_about_four_cases_of_five():
    chance = random.Random(5)
    held = told = 0
    for _ in range(600):
        day, births = date(2026, 1, 1), []
        moment = 0.0
        while len(births) < 90:
            moment += chance.expovariate(0.8)
            births.append(day + timedelta(days=int(moment)))
        now = day + timedelta(days=50)
        there = sum(birth <= now for birth in births)
        lately = growth(counts_of(births, now))
        if lately is None or there + 15 > len(births):
            continue
        came = reached(lately, 15)
        assert came is not None
        assert came.latest is not None
        told += 1
        held += came.earliest <= births[there + 14] <= came.latest
    assert told > 500
    assert 0.75 <= held / told <= 0.92


def test_counts_that_jump_more_make_the_range_wider():
    day = date(2026, 3, 1)
    even = [Count(day + timedelta(days=at), at) for at in range(29)]
    jumping = [Count(day + timedelta(days=at), 0 if at < 14 else 28) for at in range(29)]
    narrow, wide = (reached(lately, 20) for lately in (growth(even), growth(jumping)) if lately)
    assert narrow is not None
    assert wide is not None
    assert narrow.day == wide.day
    assert wide.earliest < narrow.earliest


@pytest.mark.parametrize(
    "counts",
    [
        [],
        [Count(date(2026, 3, 1), 5)],
        [Count(date(2026, 3, 1), 5), Count(date(2026, 3, SHORTEST), 50)],
        [Count(date(2026, 3, 1), 50), Count(date(2026, 3, 20), 50)],
        [Count(date(2026, 3, 1), 50), Count(date(2026, 3, 20), 40)],
    ],
)
def test_too_few_counts_too_close_ones_and_no_growth_give_no_forecast(counts):
    assert growth(counts) is None


@pytest.mark.promise("vault.forecast")
@given(COUNTS, st.floats(0.1, 500))
def test_a_day_lies_between_its_two_bounds_whatever_the_counts(counts, more):
    lately = growth(counts)
    if lately is None:
        return
    came = reached(lately, more)
    if came is not None:
        assert lately.until.day <= came.earliest <= came.day
        assert came.latest is None or came.day <= came.latest


@given(
    st.lists(st.dates(date(2026, 1, 1), date(2026, 6, 1)), max_size=60), st.dates(date(2026, 1, 1), date(2026, 6, 1))
)
def test_birthdays_are_counted_to_the_end_of_each_day(births, until):
    counts = counts_of(births, until)
    assert len(counts) <= WINDOW + 1
    for count in counts:
        assert count.records == len([birth for birth in births if birth <= count.day]) > 0
    if counts:
        assert counts[-1].day == until
