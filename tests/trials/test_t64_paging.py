"""T64: pages of a large list whose memories all have one time, and odd limits and cursors.

There is no offset: pages are walked by cursor. Out of reach now: the web page and REST.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli import conftest as cli
from tests.trials import drivers_b as drive

if TYPE_CHECKING:
    from collections.abc import Callable

home, zap, world = cli.home, cli.zap, drive.world
COUNT = 1_205
AT = "2026-03-01T12:00:00Z"
LINES = [
    {
        "content": f"Row number {no}",
        "scope": f"project:p{no % 3}",
        "tags": ["seventh"] if no % 7 == 0 else [],
        "created_at": AT,
        "updated_at": AT,
    }
    for no in range(COUNT)
]
MOST = 30
"""More pages than there can be: a walk that is longer does not end."""


def walk(page: Callable[..., dict[str, Any]], limit: int = 100) -> list[str]:
    """Every id by pages; each page but the last is full, the total is stated and right, and the end is clear."""
    found: list[str] = []
    cursor: str | None = None
    totals = set()
    for _ in range(MOST):
        answer = page(limit, cursor)
        found += drive.ids(answer)
        totals.add(answer["total"])
        assert answer["count"] == len(answer["memories"])
        cursor = answer["next"]
        if cursor is None:
            break
        assert answer["count"] == limit
    assert cursor is None, "the walk does not end"
    assert totals == {len(found)}
    assert len(set(found)) == len(found)
    return found


@pytest.mark.promise("list.paging")
def test_the_command_shows_each_memory_once_whole_or_filtered_whatever_the_limit(zap: Any, home: Any) -> None:
    path = home / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in LINES), encoding="utf-8")
    assert zap("import", str(path), "--json").json["imported"] == COUNT

    def page_of(*options: str) -> Callable[..., dict[str, Any]]:
        def page(limit: int, cursor: str | None) -> dict[str, Any]:
            more = ("--cursor", cursor) if cursor else ()
            result = zap("list", "--json", "--limit", str(limit), *options, *more)
            assert result.status == 0, result
            answer: dict[str, Any] = result.json
            return answer

        return page

    assert len(walk(page_of("--scope", "all"))) == COUNT
    assert len(walk(page_of("--scope", "all"), 1_000)) == COUNT
    assert len(walk(page_of("--scope", "project:p1"))) == len(LINES[1::3])
    assert len(walk(page_of("--scope", "all", "--tag", "seventh"))) == len(LINES[::7])
    assert len(walk(page_of("--scope", "project:p0", "--tag", "seventh"), 3)) == len(LINES[::21])
    for odd in ("0", "-1", "5000", "many"):
        result = zap("list", "--json", "--limit", odd)
        assert result.status == 2
        assert "limit" in result.json["error"]["message"]
    for made_up in ("eyJhdCI6", "x", "0" * 500):
        assert zap("list", "--json", "--scope", "all", "--cursor", made_up).status == 2


@pytest.mark.promise("list.paging", "mcp.small")
def test_a_server_shows_each_memory_once_also_when_one_is_added_between_pages(world: drive.World) -> None:
    assert world.zap("import", str(world.lines("rows.jsonl", *LINES)))["imported"] == COUNT
    server = world.server()

    def page(limit: int, cursor: str | None, **where: Any) -> dict[str, Any]:
        return server.good("list_memories", limit=limit, scope="all", **where, **({"cursor": cursor} if cursor else {}))

    assert len(walk(page)) == COUNT
    assert len(walk(lambda limit, cursor: page(limit, cursor, tags=["seventh"]))) == len(LINES[::7])

    old = set(walk(page, 100))
    first = page(100, None)
    added = server.good("store_memory", content="Added between two pages", scope="project:p1")
    seen, cursor = drive.ids(first), first["next"]
    while cursor:
        answer = page(100, cursor)
        seen, cursor = seen + drive.ids(answer), answer["next"]
    assert len(seen) == len(set(seen))
    assert set(seen) - {added["id"]} == old

    most = server.call("list_memories", scope="all", limit=5_000)
    assert most["isError"]
    assert "1,000" in most["structuredContent"]["error"]["message"]
    large = server.good("list_memories", scope="all", limit=1_000)  # cut to fit a message, with a way on
    assert large["next"]
    assert large["total"] == COUNT + 1
    rest, cursor = drive.ids(large), large["next"]
    while cursor:
        answer = page(1_000, cursor)
        assert answer["count"]
        rest, cursor = rest + drive.ids(answer), answer["next"]
    assert len(rest) == len(set(rest)) == COUNT + 1
    for odd in ({"limit": 0}, {"limit": -1}, {"limit": 1e9}, {"cursor": "made up"}, {"offset": -1}, {"offset": 10**9}):
        refused = server.call("list_memories", **odd)
        assert refused["isError"], odd
        assert next(iter(odd)) in str(refused["structuredContent"]["error"])
