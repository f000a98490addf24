from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from zapomni.model import About, Filter, Kind, Link, LinkKind, Scope, ScopeKind, Trust, Verb
from zapomni.text.fold import name_key

OTHER = Scope(kind=ScopeKind.PROJECT, name="other")
USER = Scope(kind=ScopeKind.USER)
TEAM = Scope(kind=ScopeKind.TEAM, name="never written")
HOURS = st.none() | st.integers(-2, 2)


def shows(where: Filter, memory, memories, links, now) -> bool:
    """The filter once more, in plain words."""
    at = where.as_of or now
    stands = memory.observed_at or memory.created_at
    tags, entities = set(map(name_key, memory.tags)), set(map(name_key, memory.entities))
    return all(
        (
            where.deleted or memory.deleted_at is None,
            not where.scopes or memory.scope in where.scopes,
            not where.kinds or memory.kind in where.kinds,
            where.about is None or memory.about is where.about,
            not where.tags or tags & set(map(name_key, where.tags)),
            tags >= set(map(name_key, where.all_tags)),
            not where.entities or entities & set(map(name_key, where.entities)),
            where.path is None or f"{memory.path or ''}.".startswith(f"{where.path}."),
            where.source is None or memory.source == where.source,
            where.importance_from is None or memory.importance >= where.importance_from,
            where.pinned is None or memory.pinned == where.pinned,
            where.since is None or stands >= where.since,
            where.until is None or stands < where.until,
            where.expired or memory.valid_until is None or memory.valid_until > at,
            where.expired or memory.valid_from is None or memory.valid_from <= at,
            trusted(where, memory, memories, links, at),
        )
    )


def trusted(where, memory, memories, links, at) -> bool:
    if where.trusts:
        return memory.trust in where.trusts
    if memory.trust is not Trust.SUPERSEDED:
        return memory.trust is not Trust.REJECTED
    return not any(
        successor.deleted_at is None
        and successor.trust is not Trust.REJECTED
        and (where.expired or (successor.valid_from or successor.created_at) <= at)
        for successor in (memories[source] for source, target in links if target == memory.id)
    )


NAMES = st.lists(
    st.sampled_from(["log", "logistics", "a_b", "aXb", "50%", "a,b", "C++", "OPS", " ops ", "Ёж"]), max_size=2
)


@st.composite
def fields(draw):
    hour = lambda: draw(HOURS)  # noqa: E731
    return {
        "scope": draw(st.sampled_from([USER, OTHER])),
        "kind": draw(st.sampled_from([Kind.SEMANTIC, Kind.WORKING])),
        "about": draw(st.sampled_from([None, About.USER])),
        "path": draw(st.sampled_from([None, "a", "a.b", "ab", "a.b.c", "a/b"])),
        "source": draw(st.sampled_from([None, "s"])),
        "tags": tuple(draw(NAMES)),
        "entities": tuple(draw(NAMES)),
        "importance": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "pinned": draw(st.booleans()),
        "trust": draw(st.sampled_from([*Trust, Trust.SUPERSEDED])),
        "hours": [hour() for _ in range(5)],
    }


@st.composite
def filters(draw):
    some = lambda strategy: draw(st.none() | strategy)  # noqa: E731
    hour = lambda: draw(HOURS)  # noqa: E731
    return {
        "scopes": tuple(draw(st.lists(st.sampled_from([USER, OTHER, TEAM]), max_size=2))),
        "kinds": tuple(draw(st.lists(st.sampled_from([Kind.SEMANTIC, Kind.WORKING]), max_size=1))),
        "about": some(st.just(About.USER)),
        "tags": tuple(draw(NAMES)),
        "all_tags": tuple(draw(st.lists(st.sampled_from(["log", "ops"]), max_size=1))),
        "entities": tuple(draw(st.lists(st.sampled_from(["c++", "еж"]), max_size=1))),
        "path": some(st.sampled_from(["a", "a.b"])),
        "source": some(st.just("s")),
        "importance_from": some(st.just(0.5)),
        "pinned": some(st.booleans()),
        "trusts": tuple(draw(st.lists(st.sampled_from(Trust), max_size=2))),
        "expired": draw(st.booleans()),
        "deleted": draw(st.booleans()),
        "hours": [hour() for _ in range(3)],
    }


def memory_of(bench, no, given):
    given = dict(given)
    hours = [None if hour is None else bench.now + timedelta(hours=hour) for hour in given.pop("hours")]
    created = hours[0] or bench.now
    times = dict(zip(("observed_at", "valid_from", "valid_until", "deleted_at"), hours[1:], strict=True))
    return bench.memory(f"m{no}", "pebble", created_at=created, **times, **given)


def filter_of(bench, given):
    given = dict(given)
    hours = [None if hour is None else bench.now + timedelta(hours=hour) for hour in given.pop("hours")]
    return Filter(since=hours[0], until=hours[1], as_of=hours[2], **given)


@pytest.mark.promise("recall.filters")
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(fields(), min_size=1, max_size=6),
    asked=st.lists(filters(), min_size=1, max_size=4),
    pairs=st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=4),
)
def test_every_reading_lets_through_what_the_filter_says(bench, vectors, drawn, asked, pairs):
    memories = {f"m{no}": memory_of(bench, no, given) for no, given in enumerate(drawn)}
    links = [(f"m{a}", f"m{b}") for a, b in pairs if a != b and max(a, b) < len(drawn)]
    with bench.undone() as tx:
        for memory in memories.values():
            tx.put(None, memory, verb=Verb.CREATE, actor=bench.actor, at=bench.now)
        tx.link([Link(source=a, target=b, kind=LinkKind.SUPERSEDES) for a, b in links])
        tx.link([Link(source=b, target=a, kind=LinkKind.RELATES) for a, b in links])
        for given in asked:
            where = filter_of(bench, given)
            want = {m.id for m in memories.values() if shows(where, m, memories, links, bench.now)}
            page = bench.store.page(where, 10)
            assert (set(ids(page.memories)), page.total) == (want, len(want))
            assert set(ids(bench.store.get(list(memories), where))) == want
            assert set(bench.store.match_id("m", where)) == want
            whole = {
                m.id for m in memories.values() if shows(replace(where, deleted=True), m, memories, links, bench.now)
            }
            counted = bench.store.stats(where)
            assert (counted.memories, counted.deleted) == (
                len(want),
                sum(memories[name].deleted_at is not None for name in whole),
            )
            assert set(bench.found("pebble", where)) == {name for name in want if memories[name].deleted_at is None}


def ids(memories):
    return [memory.id for memory in memories]


@pytest.mark.promise("scope.isolation")
def test_a_scope_is_matched_by_its_whole_name_and_case(bench):
    scopes = [Scope(kind=ScopeKind.PROJECT, name=name) for name in ("a", "A", "ab", "a b")]
    scopes.append(Scope(kind=ScopeKind.TEAM, name="a"))
    bench.add(*(bench.memory(f"m{at}", scope=scope) for at, scope in enumerate(scopes)))
    for at, scope in enumerate(scopes):
        assert bench.ids(Filter(scopes=(scope,))) == [f"m{at}"]


@pytest.mark.parametrize("tag", ["log", "logistics", "a_b", "aXb", "50%", "a,b", "C++", "Срочно", 'quo"te', "ops"])
def test_a_tag_matches_whole_and_folded(bench, tag):
    tags = ["log", "logistics", "a_b", "aXb", "50%", "a,b", "C++", "Срочно", 'quo"te', "ops"]
    bench.add(*(bench.memory(name, tags=(name,)) for name in tags))
    assert bench.ids(Filter(tags=(tag,))) == [tag]
    assert bench.ids(Filter(tags=(f"  {tag.upper()} ",))) == [tag]


def test_a_superseded_memory_reappears_when_its_successor_is_deleted(bench):
    bench.add(
        bench.memory("old", "pebble", trust=Trust.SUPERSEDED),
        bench.memory("new", "pebble", created_at=bench.later(hours=-1)),
    )
    with bench.store.write() as tx:
        tx.link([Link(source="new", target="old", kind=LinkKind.SUPERSEDES)])
    assert bench.ids() == bench.found("pebble") == ["new"]
    assert bench.ids(Filter(as_of=bench.later(hours=-2))) == ["old", "new"]
    assert bench.ids(Filter(trusts=(Trust.SUPERSEDED,))) == ["old"]
    new = bench.get("new")
    bench.put(new, replace(new, deleted_at=bench.now, version=2), Verb.DELETE)
    assert bench.ids() == bench.found("pebble") == ["old"]
