from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.errors import InvalidInput
from zapomni.text.dates import parse_bound, parse_instant

BERLIN, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 3, 30, 10, 0, tzinfo=UTC)
ZONES = st.sampled_from([UTC, BERLIN, TOKYO, ZoneInfo("America/Sao_Paulo"), timezone(timedelta(hours=-11))])


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("text", "zone", "start", "end"),
    [
        ("2026-03-29", UTC, "2026-03-29T00:00Z", "2026-03-30T00:00Z"),
        ("2026-03-29", BERLIN, "2026-03-28T23:00Z", "2026-03-29T22:00Z"),
        ("2026-03-29", TOKYO, "2026-03-28T15:00Z", "2026-03-29T15:00Z"),
        ("2026-03-29Z", BERLIN, "2026-03-29T00:00Z", "2026-03-30T00:00Z"),
        ("2026-03-29+02:00", TOKYO, "2026-03-28T22:00Z", "2026-03-29T22:00Z"),
        ("2026-03-29T12:00", BERLIN, "2026-03-29T10:00Z", "2026-03-29T10:01Z"),
        ("2026-03-29 12:00:05", BERLIN, "2026-03-29T10:00:05Z", "2026-03-29T10:00:06Z"),
        ("2026-03-29t12:00:00.25z", BERLIN, "2026-03-29T12:00:00.25Z", "2026-03-29T12:00:00.250001Z"),
        ("2026-03-29T12:00:00 +0200", TOKYO, "2026-03-29T10:00Z", "2026-03-29T10:00:01Z"),
        ("2026-03", UTC, "2026-03-01T00:00Z", "2026-04-01T00:00Z"),
        ("2026-12", BERLIN, "2026-11-30T23:00Z", "2026-12-31T23:00Z"),
        (" 2026 ", UTC, "2026-01-01T00:00Z", "2027-01-01T00:00Z"),
        ("30.11.2026", BERLIN, "2026-11-29T23:00Z", "2026-11-30T23:00Z"),
        ("3.9.2026 ", UTC, "2026-09-03T00:00Z", "2026-09-04T00:00Z"),
        ("30.11.2026 14:05", UTC, "2026-11-30T14:05Z", "2026-11-30T14:06Z"),
        ("today", BERLIN, "2026-03-29T22:00Z", "2026-03-30T22:00Z"),
        ("Yesterday", BERLIN, "2026-03-28T23:00Z", "2026-03-29T22:00Z"),
        ("сегодня", UTC, "2026-03-30T00:00Z", "2026-03-31T00:00Z"),
        ("Вчера", UTC, "2026-03-29T00:00Z", "2026-03-30T00:00Z"),
        ("7d", BERLIN, "2026-03-23T10:00Z", "2026-03-30T10:00Z"),
        ("1h", BERLIN, "2026-03-30T09:00Z", "2026-03-30T10:00Z"),
        ("36 Ч", BERLIN, "2026-03-28T22:00Z", "2026-03-30T10:00Z"),
        ("90min", BERLIN, "2026-03-30T08:30Z", "2026-03-30T10:00Z"),
        ("5 мин", BERLIN, "2026-03-30T09:55Z", "2026-03-30T10:00Z"),
        ("2w", BERLIN, "2026-03-16T10:00Z", "2026-03-30T10:00Z"),
        ("7 д", BERLIN, "2026-03-23T10:00Z", "2026-03-30T10:00Z"),
        ("2н", BERLIN, "2026-03-16T10:00Z", "2026-03-30T10:00Z"),
    ],
)
def test_a_date_names_a_half_open_interval(text: str, zone: tzinfo, start: str, end: str) -> None:
    assert parse_bound(text, NOW, zone) == (at(start), at(end))


def test_a_berlin_day_of_23_hours_holds_its_own_records() -> None:
    start, end = parse_bound("2026-03-29", NOW, BERLIN)
    records = ["2026-03-28T22:30:00Z", "2026-03-29T00:30:00+01:00", "2026-03-29T03:30:00+02:00",
               "2026-03-29T23:59:59.999+02:00", "2026-03-29T22:30:00Z"]  # fmt: skip
    assert [start <= parse_instant(text, TOKYO) < end for text in records] == [False, True, True, True, False]
    assert end - start == timedelta(hours=23)


def test_an_explicit_zone_means_the_same_instant_everywhere() -> None:
    assert {parse_instant("2026-03-29T12:00+02:00", zone) for zone in (UTC, BERLIN, TOKYO)} == {at("2026-03-29T10:00Z")}


def test_a_day_and_a_time_without_a_zone_are_local() -> None:
    assert parse_instant("2026-03-29", BERLIN) == at("2026-03-28T23:00Z")
    assert parse_instant("2026-03-29T12:00:00", BERLIN) == at("2026-03-29T10:00Z")


def test_a_skipped_and_a_repeated_hour_have_one_meaning_each() -> None:
    assert parse_instant("2026-03-29T02:30", BERLIN) == at("2026-03-29T01:30Z")
    assert parse_instant("2026-10-25T02:30", BERLIN) == at("2026-10-25T00:30Z")


@pytest.mark.parametrize(
    "text", ["9999-12-31", "9999-12-31T23:59:59", "9999-12", "9999", "0001-01-01", "9999-12-31T23:59:59.999999Z"]
)
def test_the_ends_of_the_calendar_can_be_named(text: str) -> None:
    for zone in (UTC, TOKYO, timezone(timedelta(hours=-11))):
        start, end = parse_bound(text, NOW, zone)
        assert start <= end


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2026-13-01", "2026-02-30", "2026-3-9", "29.03.26", "11.30.2026", "31.02.2026", "1.29.03.2026", "2026-29.03.2026", "2026-03-29T25:00", "2026-03-29T12", "0000", "2026-03Z",
     "2026-03-29T12:00+99:00", "99999d", "-7d", "3m", "1hour", "٢٠٢٦", "2026-03-29T12:00:00+02:00x"],
)  # fmt: skip
def test_anything_else_is_refused_by_the_name_of_its_field(text: str) -> None:
    for call in (lambda: parse_bound(text, NOW, UTC, field="since"), lambda: parse_instant(text, UTC, field="since")):
        with pytest.raises(InvalidInput, match="since"):
            call()


def test_words_for_days_are_instants_only_where_the_clock_is_known() -> None:
    with pytest.raises(InvalidInput, match="valid_from"):
        parse_instant("yesterday", UTC, field="valid_from")
    for word in ("yesterday", " Вчера "):
        assert parse_instant(word, BERLIN, now=NOW) == at("2026-03-28T23:00Z")
    assert parse_instant("сегодня", BERLIN, now=NOW) == at("2026-03-29T22:00Z")
    with pytest.raises(InvalidInput):
        parse_instant("7d", UTC, now=NOW)


def test_an_error_names_the_forms_and_the_russian_words() -> None:
    with pytest.raises(
        InvalidInput, match=r"29\.03\.2026.*today or yesterday \(сегодня, вчера\), or a span: 90min, 12h, 7d, 2w"
    ):
        parse_bound("soon", NOW, UTC)


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2100, 1, 1)), ZONES)  # noqa: DTZ001
def test_days_follow_each_other_without_gap_or_overlap(day: datetime, zone: tzinfo) -> None:
    _, end = parse_bound(day.strftime("%Y-%m-%d"), NOW, zone)
    start, _ = parse_bound((day + timedelta(days=1)).strftime("%Y-%m-%d"), NOW, zone)
    assert end == start


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_isoformat_writes_is_read_back(moment: datetime) -> None:
    assert parse_instant(moment.isoformat(), BERLIN) == moment
