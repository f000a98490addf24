"""T56: a bare day is the local day on every surface, a written zone wins, and a 23-hour day is 23 hours long.

Out of reach now: the web page and consolidation. `yesterday` is asked with the product's own clock set by the test.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
from tests.cli import conftest as cli
from tests.trials import drivers_b as drive

from zapomni.app import Zapomni

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

home, zap, world = cli.home, cli.zap, drive.world
ZONES = ("Europe/Berlin", "UTC", "Asia/Tokyo")
WRITTEN = {
    "r1": "2026-03-28T22:30:00Z",
    "r2": "2026-03-29T00:30:00+01:00",
    "r3": "2026-03-29T03:30:00+02:00",
    "r4": "2026-03-29T23:59:59.999+02:00",
    "r5": "2026-03-29T22:30:00Z",
    "r6": "2026-03-29T12:00:00",  # no zone: local, as documented
    "r7": "2026-03-29",  # a bare day: its first local moment
}
LINES = [{"content": f"record {name}", "created_at": at, "updated_at": at} for name, at in WRITTEN.items()]


def instants(zone: str) -> dict[str, datetime]:
    read = {name: datetime.fromisoformat(at) for name, at in WRITTEN.items()}
    return {name: (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC) for name, at in read.items()}


def local(zone: str, day: int) -> datetime:
    return datetime(2026, 3, day, tzinfo=ZoneInfo(zone)).astimezone(UTC)


def offset(day: int, hours: int) -> datetime:
    return datetime(2026, 3, day, tzinfo=UTC) - timedelta(hours=hours)


FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
CASES: dict[str, tuple[dict[str, str], Callable[[str], tuple[datetime, datetime]]]] = {
    "on": ({"on": "2026-03-29"}, lambda zone: (local(zone, 29), local(zone, 30))),
    "since": ({"since": "2026-03-29"}, lambda zone: (local(zone, 29), LAST)),
    "until": ({"until": "2026-03-30"}, lambda zone: (FIRST, local(zone, 30))),
    "both": ({"since": "2026-03-29", "until": "2026-03-30"}, lambda zone: (local(zone, 29), local(zone, 30))),
    "zulu": (
        {"since": "2026-03-29T00:00:00Z", "until": "2026-03-30T00:00:00Z"},
        lambda _: (offset(29, 0), offset(30, 0)),
    ),
    "east": (
        {"since": "2026-03-29T00:00:00+02:00", "until": "2026-03-30T00:00:00+02:00"},
        lambda _: (offset(29, 2), offset(30, 2)),
    ),
}


def expected(zone: str, case: str) -> list[str]:
    """The records of a case, newest first, by arithmetic of the standard library."""
    first, end = CASES[case][1](zone)
    at = instants(zone)
    return sorted((name for name in at if first <= at[name] < end), key=at.__getitem__, reverse=True)


def names(memories: list[dict[str, Any]]) -> list[str]:
    return [memory["content"].removeprefix("record ") for memory in memories]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    def move(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def in_zone(here: Callable[[str], None], zap: Any, home: Any) -> Callable[[str], Any]:
    """Move to a zone, import the seven there and return the command."""

    def arrive(zone: str) -> Any:
        here(zone)
        path = home / "seven.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in LINES), encoding="utf-8")
        assert zap("import", str(path), "--json").json["imported"] == len(WRITTEN)
        return zap

    return arrive


@pytest.mark.promise("time.days")
@pytest.mark.parametrize("zone", ZONES)
def test_every_command_means_the_same_by_a_day_and_delete_takes_what_list_shows(in_zone: Any, zone: str) -> None:
    zap = in_zone(zone)
    for case, (bounds, _) in CASES.items():
        options = [word for name, value in bounds.items() for word in (f"--{name}", value)]
        wanted = expected(zone, case)
        assert names(zap("list", "--json", *options).json["memories"]) == wanted, case
        assert sorted(names(zap("recall", "record", "--json", *options).json["memories"])) == sorted(wanted), case
        assert zap("stats", "--json", *options).json["memories"] == len(wanted), case
        assert names(zap("delete", "--dry-run", "--json", *options).json["memories"]) == wanted, case
    if zone == "Europe/Berlin":
        assert set(expected(zone, "on")) == {"r2", "r3", "r4", "r6", "r7"}
    gone = zap("delete", "--yes", "--json", "--on", "2026-03-29").json
    assert gone["deleted"] == len(expected(zone, "on"))
    assert set(names(zap("list", "--json").json["memories"])) == WRITTEN.keys() - set(expected(zone, "on"))


@pytest.mark.promise("time.days")
@pytest.mark.parametrize("zone", ZONES)
def test_yesterday_begins_and_ends_and_today_is_not_in_it(
    in_zone: Any, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noon = datetime(2026, 3, 30, 12, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    monkeypatch.setitem(Zapomni.__init__.__kwdefaults__ or {}, "clock", lambda: noon)
    zap = in_zone(zone)
    zap("store", "record today")
    for word in ("yesterday", "вчера"):
        assert names(zap("list", "--json", "--on", word).json["memories"]) == expected(zone, "on")
        assert names(zap("delete", "--dry-run", "--json", "--on", word).json["memories"]) == expected(zone, "on")
    assert "today" in names(zap("list", "--json", "--on", "today").json["memories"])
    assert "today" not in names(zap("recall", "record", "--json", "--on", "yesterday").json["memories"])


@pytest.mark.promise("time.days")
@pytest.mark.parametrize("zone", ZONES)
def test_a_server_means_by_a_day_what_the_command_means(world: drive.World, zone: str) -> None:
    world.env["TZ"] = zone
    world.zap("import", str(world.lines("seven.jsonl", *LINES)))
    server = world.server()
    for case, (bounds, _) in CASES.items():
        assert names(server.good("list_memories", **bounds)["memories"]) == expected(zone, case), case
        recalled = server.good("recall_memory", query="record", limit=50, **bounds)
        assert sorted(names(recalled["memories"])) == sorted(expected(zone, case)), case
        assert server.good("memory_stats", **bounds)["memories"] == len(expected(zone, case))
    rows = {row["content"]: row["created_at"] for row in world.exported() if row.get("type") == "memory"}
    for name, at in instants(zone).items():
        assert datetime.fromisoformat(rows[f"record {name}"]) == at
