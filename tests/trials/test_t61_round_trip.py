"""T61: export, import into an empty store, export again: equal, field by field, and nothing is dated anew.

The longest text is the documented limit of 100,000 characters. Consolidations stand as memories of that origin.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.trials import drivers_b as drive

world = drive.world
COUNT = 1_250
START = datetime(2024, 2, 29, 23, 30, tzinfo=UTC)
KINDS = ("episodic", "semantic", "procedural", "working")
ABOUT = ("user", "feedback", "project", "reference", None)
TEXTS = {
    1: "🦦 " + "👩‍👩‍👧‍👦" * 3,
    2: "д" * 100_000,
    3: 'line\nbreaks\tand "quotes", \\ and \u2028 too',
    4: "Ёлка и ёж" * 40,
}


def stamp(at: datetime) -> str:
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def record(no: int) -> dict[str, Any]:
    """One memory with every field filled."""
    at = START + timedelta(hours=no, microseconds=no)
    return {
        "type": "memory",
        "id": f"m{no:015d}",
        "kind": KINDS[no % 4],
        "scope": f"project:p{no % 3}",
        "content": TEXTS.get(no, f"Record number {no} of the archive"),
        "title": f"Title {no}",
        "description": f"What is number {no}?",
        "about": ABOUT[no % 5],
        "path": f"archive.box{no % 9}",
        "tags": ["a, b", "Кириллица", f"t{no % 11}"],
        "entities": ["Ада Лавлейс", f"Box {no % 9}"],
        "importance": (0.0, 1.0, 0.123)[no % 3],
        "pinned": no % 2 == 0,
        "trust": ("confirmed", "candidate", "disputed")[no % 3] if no != 7 else "superseded",
        "origin": "consolidation" if no in {20, 21} else ("user", "agent", "file", "session", "import")[no % 5],
        "source": f"shelf {no % 7}",
        "position": no,
        "key": f"key-{no}",
        "observed_at": stamp(at - timedelta(days=3)),
        "valid_from": stamp(at - timedelta(days=1)),
        "valid_until": None if no % 4 else stamp(at + timedelta(days=30)),  # long over
        "metadata": {"nested": {"list": [1, 2.5, None, True, {"глубже": "да"}]}, "no": no},
        "created_at": stamp(at),
        "updated_at": stamp(at + timedelta(minutes=5)),
        "accessed_at": stamp(at + timedelta(days=2)),
        "access_count": no % 17,
        "deleted_at": stamp(at + timedelta(days=9)) if no % 100 == 99 else None,
        "version": 1 + no % 5,
    }


def ident(no: int) -> str:
    return f"m{no:015d}"


LINKS = [
    {"type": "link", "source": ident(8), "target": ident(7), "kind": "supersedes"},
    *({"type": "link", "source": ident(20), "target": ident(no), "kind": "derived_from"} for no in (9, 12, 15)),
    *({"type": "link", "source": ident(21), "target": ident(no), "kind": "derived_from"} for no in (10, 13)),
    {"type": "link", "source": ident(30), "target": ident(31), "kind": "contradicts"},
    {"type": "link", "source": ident(40), "target": ident(41), "kind": "mentions"},
]
SCOPES = [{"type": "scope", "scope": f"project:p{no}", "identity": f"github.com/ada/p{no}"} for no in range(3)]


def original() -> list[dict[str, Any]]:
    memories = [record(no) for no in range(COUNT)]
    counts = {"scope": 3, "memory": COUNT, "link": len(LINKS), "run": 0, "revision": 0, "rejection": 0}
    header = {"format": "zapomni", "version": 1, "exported_at": stamp(START), "counts": counts}
    return [header, *SCOPES, *memories, *LINKS]


def plain(rows: list[dict[str, Any]]) -> list[str]:
    """The lines without the export's own time, each in one form; links and scopes in any order."""
    head, *rest = ({name: value for name, value in row.items() if name != "exported_at"} for row in rows)
    ordered = [row for row in rest if row["type"] == "memory"]
    others = [row for row in rest if row["type"] != "memory"]
    lines = [json.dumps(row, sort_keys=True) for row in (head, *ordered)]
    return lines + sorted(json.dumps(row, sort_keys=True) for row in others)


@pytest.mark.promise("exchange.lossless")
def test_every_field_of_a_full_store_survives_two_machines(world: drive.World) -> None:
    rows = original()
    came = world.zap("import", str(world.lines("e0.jsonl", *rows)))
    assert (came["imported"], came["links"], came["bad"], came["refused"]) == (COUNT, len(LINKS), [], [])
    written = world.zap("export", "e1.jsonl")
    assert (written["memories"] + written["deleted"], written["links"], written["scopes"]) == (COUNT, len(LINKS), 3)
    first = world.exported()
    assert plain(first) == plain(rows)
    other = world.elsewhere("other machine")
    assert other.zap("import", str(world.home / "e1.jsonl"))["imported"] == COUNT
    assert plain(other.exported()) == plain(first)
    alive = [row for row in rows if row.get("type") == "memory" and row["deleted_at"] is None]
    stats = other.zap("stats", "--scope", "all")
    known = {scope: sum(row["scope"] == scope for row in alive) for scope in stats["known_scopes"]}
    listed = other.zap("list", "--scope", "all", "--expired", "--limit", "1")["total"]
    assert listed == len([row for row in alive if row["trust"] != "superseded"])
    assert set(known) >= {"project:p0", "project:p1", "project:p2"}
    for no in range(3):
        shown = other.zap("list", "--scope", f"project:p{no}", "--expired", "--limit", "1")["total"]
        hidden = sum(row["trust"] == "superseded" and row["scope"] == f"project:p{no}" for row in alive)
        assert shown == known[f"project:p{no}"] - hidden
    other.healthy()

    again = other.zap("import", str(world.home / "e1.jsonl"))
    assert (again["imported"], again["updated"], again["skipped"]) == (0, 0, COUNT)
    assert plain(other.exported()) == plain(first)


@pytest.mark.promise("exchange.lossless")
def test_an_import_beside_other_memories_keeps_both(world: drive.World) -> None:
    own = [world.zap("store", f"My own note {no}")["id"] for no in range(5)]
    before = [row for row in world.exported() if row.get("id") in own]
    assert world.zap("import", str(world.lines("e1.jsonl", *original())))["imported"] == COUNT
    rows = world.exported()
    assert [row for row in rows if row.get("id") in own] == before
    assert sum(row.get("type") == "memory" for row in rows) == COUNT + 5


@pytest.mark.promise("exchange.lossless", "exchange.bad-lines")
def test_a_renamed_field_is_named_and_a_format_of_the_future_is_refused_before_any_change(world: drive.World) -> None:
    head, *rest = original()[:60]
    head["counts"] |= {"memory": 56, "link": 0}
    renamed = [
        {("text" if name == "content" and row.get("id") == ident(5) else name): value for name, value in row.items()}
        for row in rest
    ]
    future = world.zap("import", str(world.lines("v99.jsonl", head | {"version": 99}, *rest)), status=6)
    assert "99" in future["error"]["message"]
    assert world.contents() == []
    came = world.zap("import", str(world.lines("renamed.jsonl", head, *renamed)), status=2)
    assert came["imported"] == 55
    (bad,) = came["bad"]
    assert bad["line"] == 5 + 5
    assert "content" in bad["reason"]
    extra = [row | {"colour": "red"} if row.get("id") == ident(6) else row for row in rest]
    assert world.zap("import", str(world.lines("extra.jsonl", head, *extra)))["not_carried"] == ["colour"]
