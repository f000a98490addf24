from __future__ import annotations

import base64

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zapomni.errors import InvalidInput
from zapomni.model import Filter, Verb
from zapomni.store.sqlite import open_sqlite


def pages(bench, limit, between=lambda _: None):
    seen, cursor, number = [], None, 0
    while True:
        page = bench.store.page(Filter(), limit, cursor)
        seen.append(page)
        cursor = page.next
        if cursor is None:
            return seen
        between(number)
        number += 1


@pytest.mark.promise("list.paging")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hours=st.lists(st.integers(0, 3), max_size=25), limit=st.integers(1, 8), grow=st.booleans())
def test_pages_show_each_memory_once_newest_first_whatever_is_added_between(bench, hours, limit, grow):
    with bench.undone() as tx:

        def add(name, hour):
            memory = bench.memory(name, created_at=bench.later(hours=hour))
            tx.put(None, memory, verb=Verb.CREATE, actor=bench.actor, at=bench.now)

        for at, hour in enumerate(hours):
            add(f"m{at}", hour)
        found = pages(bench, limit, lambda number: add(f"new{number}", 3) if grow else None)
        ids = [memory.id for page in found for memory in page.memories]
        assert ids == sorted((f"m{at}" for at in range(len(hours))), key=lambda m: (-hours[int(m[1:])], -int(m[1:])))
        assert all(len(page.memories) == limit for page in found[:-1])
        assert [page.total for page in found] == [len(hours) + (at if grow else 0) for at in range(len(found))]


@pytest.mark.promise("list.paging")
def test_twelve_hundred_memories_of_one_time_come_once_each(bench):
    bench.add(*(bench.memory(f"m{at:04}", "x") for at in range(1205)))
    found = pages(bench, 100)
    ids = [memory.id for page in found for memory in page.memories]
    assert len(ids) == len(set(ids)) == found[0].total == 1205
    assert len(found) == 13
    assert len(bench.store.page(Filter(), 5000).memories) == 1205


@pytest.mark.promise("list.paging")
@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "1205",
        "?",
        "ё",
        "AAAA",
        base64.urlsafe_b64encode(b'12345678["2026",3]').decode(),
        "💥",
        "a" * 5000,
        "=",
        "\x00",
    ],
)
def test_a_made_up_cursor_is_an_error(bench, cursor):
    with pytest.raises(InvalidInput, match="cursor"):
        bench.store.page(Filter(), 10, cursor)


def test_a_cursor_of_another_store_or_a_changed_one_is_an_error(bench, tmp_path):
    bench.add(*(bench.memory(name) for name in "abc"))
    cursor = bench.store.page(Filter(), 1).next
    other = open_sqlite(tmp_path / "other.db")
    with pytest.raises(InvalidInput):
        other.page(Filter(), 1, cursor)
    other.close()
    for at in range(len(cursor)):
        changed = cursor[:at] + ("A" if cursor[at] != "A" else "B") + cursor[at + 1 :]
        if base64.urlsafe_b64decode(changed + "==") != base64.urlsafe_b64decode(cursor + "=="):
            with pytest.raises(InvalidInput):
                bench.store.page(Filter(), 1, changed)


def test_a_cursor_outlives_the_memory_it_stands_at(bench):
    bench.add(*(bench.memory(name) for name in "abcd"))
    cursor = bench.store.page(Filter(), 2).next
    bench.put(bench.get("c"), None, Verb.ERASE)
    assert [m.id for m in bench.store.page(Filter(), 2, cursor).memories] == ["b", "a"]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_an_error(bench, limit):
    with pytest.raises(InvalidInput, match="limit"):
        bench.store.page(Filter(), limit)
