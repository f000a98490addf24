from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from zapomni.errors import Conflict, InvalidInput, Unavailable
from zapomni.model import (
    About,
    Filter,
    Kind,
    Link,
    LinkKind,
    Origin,
    Rejection,
    Run,
    Scope,
    ScopeKind,
    Trust,
    Verb,
)
from zapomni.record import from_record, to_record


def full(bench):
    return bench.memory(
        "full",
        'Ёлка "quoted" \x00 line\nend 🎄',
        kind=Kind.WORKING,
        scope=bench.other,
        title="Заголовок",
        description="what finds it",
        about=About.FEEDBACK,
        path="profile.skills.python",
        tags=("C++", "a,b", 'quo"te'),
        entities=("Анна",),
        importance=0.75,
        pinned=True,
        trust=Trust.DISPUTED,
        origin=Origin.SESSION,
        source="chat.jsonl",
        position=7,
        key="k1",
        observed_at=bench.later(days=-3),
        valid_from=bench.later(days=-2),
        valid_until=bench.later(days=2, microseconds=1),
        metadata={"n": 1, "nested": {"ключ": [True, None]}},
        updated_at=bench.later(hours=1),
        accessed_at=bench.later(hours=2),
        access_count=3,
        version=4,
    )


@pytest.mark.promise("write.verbatim")
def test_every_field_comes_back_as_it_was_put(bench):
    bench.add(full(bench))
    assert bench.get("full") == full(bench)


@pytest.mark.promise("write.verbatim")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200))
def test_any_text_comes_back_code_point_for_code_point(bench, text):
    found = None
    with bench.undone() as tx:
        tx.put(None, bench.memory("x", text), verb=Verb.CREATE, actor=bench.actor, at=bench.now)
        found = tx.get("x")
        revision = bench.store.latest_revision("x")
    assert found is not None
    assert found.content == text
    assert revision is not None
    assert revision.after == to_record(found)


def test_the_history_holds_records_in_the_one_form(bench):
    memory = full(bench)
    assert from_record(to_record(memory)) == memory
    bench.add(memory)
    (revision,) = bench.store.history("full")
    assert revision.before is None
    assert revision.after == to_record(memory)
    assert (revision.verb, revision.at, revision.actor) == (Verb.CREATE, bench.now, "test")


def test_what_a_memory_was_after_each_change_stands_in_its_history(bench):
    first = bench.memory("a", "one")
    bench.add(first)
    second = replace(first, content="два", version=2)
    bench.put(first, second)
    third = replace(second, content="three", version=3)
    bench.put(second, third)
    history = bench.store.history("a")
    assert [one.after["content"] for one in history] == ["one", "два", "three"]
    assert [one.before["content"] for one in history[1:]] == ["one", "два"]
    assert history[-1].after == to_record(third)


def test_an_erased_memory_has_no_history_of_its_text_even_when_its_id_comes_back(bench):
    first = bench.memory("a", "one")
    bench.add(first)
    bench.put(first, None, Verb.ERASE)
    bench.add(bench.memory("a", "снова"))
    history = bench.store.history("a")
    assert [one.after and one.after["content"] for one in history] == [None, None, "снова"]
    assert all(one.before is None for one in history)


def test_memories_come_in_the_order_asked_and_once(bench):
    bench.add(*(bench.memory(name) for name in "abc"))
    assert [m.id for m in bench.store.get(["c", "x", "a", "c"], Filter())] == ["c", "a"]


def test_an_error_takes_the_whole_transaction_back(bench):
    before = bench.store.generation()
    with bench.undone() as tx:
        tx.put(None, bench.memory("a"), verb=Verb.CREATE, actor=bench.actor, at=bench.now)
    assert bench.ids() == []
    assert bench.store.history("a") == []
    assert bench.store.scopes() == []
    assert bench.store.generation() == before
    assert bench.unwell() == []


@pytest.mark.promise("write.version")
def test_a_change_of_a_record_that_moved_on_is_a_conflict_with_both_versions(bench):
    first = bench.memory("a")
    bench.add(first)
    theirs = replace(first, content="theirs", version=2)
    bench.put(first, theirs)
    mine = replace(first, content="mine", version=2)
    with pytest.raises(Conflict) as error:
        bench.put(first, mine)
    assert (error.value.current, error.value.wanted) == (theirs, mine)
    with pytest.raises(Conflict):
        bench.put(first, None, Verb.ERASE)
    assert bench.get("a") == theirs


def test_an_id_or_key_that_is_taken_is_a_conflict(bench):
    bench.add(bench.memory("a", key="k"))
    with pytest.raises(Conflict, match="id a is taken"):
        bench.add(bench.memory("a"))
    with pytest.raises(Conflict, match="'k' of user"):
        bench.add(bench.memory("b", key="k"))
    bench.add(bench.memory("c", key="k", scope=bench.other))
    moved = bench.memory("c", key="k", version=2)
    with pytest.raises(Conflict, match="'k' of user"):
        bench.put(bench.get("c"), moved)
    assert bench.ids() == ["c", "a"]


def test_a_twin_is_found_by_digest_among_the_undeleted_of_its_scope(bench):
    from zapomni.text.fold import digest

    mark = digest("One  TEXT")
    bench.add(
        bench.memory("old", "one text", trust=Trust.SUPERSEDED),
        bench.memory("live", "One text"),
        bench.memory("gone", "one text", deleted_at=bench.now),
        bench.memory("there", "one text", scope=bench.other),
    )
    with bench.store.write() as tx:
        assert tx.find_digest(bench.user, mark).id == "live"
        assert tx.find_digest(bench.other, mark).id == "there"
        assert tx.find_digest(Scope(kind=ScopeKind.TEAM, name="never"), mark) is None


def test_a_key_is_found_among_the_deleted_too(bench):
    bench.add(bench.memory("gone", key="k", deleted_at=bench.now))
    with bench.store.write() as tx:
        assert tx.find_key(bench.user, "k").id == "gone"
        assert tx.find_key(bench.other, "k") is None


def test_a_refused_value_stays_as_it_was_first_refused(bench):
    first = Rejection(scope=bench.user, digest="ab" * 16, reason="wrong", at=bench.now, actor="me")
    with bench.store.write() as tx:
        tx.reject(first)
        tx.reject(replace(first, reason="later"))
    with bench.store.write() as tx:
        assert tx.rejection(bench.user, bytes.fromhex("ab" * 16)) == first
        assert tx.rejection(bench.other, bytes.fromhex("ab" * 16)) is None


def test_links_are_added_once_and_removed(bench):
    out = Link(source="a", target="b", kind=LinkKind.RELATES)
    back = Link(source="c", target="a", kind=LinkKind.MENTIONS)
    own = Link(source="a", target="a", kind=LinkKind.RELATES)
    with bench.store.write() as tx:
        tx.link([out, back, own])
        tx.link([out])
    assert sorted(map(str, bench.store.links("a"))) == sorted(map(str, [out, own, back]))
    with bench.store.write() as tx:
        tx.unlink([out, out])
    assert bench.store.links("b") == []


def test_a_run_gathers_its_revisions(bench):
    run = Run(id="r1", verb="import", actor="cli", started_at=bench.now, detail={"file": "x"})
    with bench.store.write() as tx:
        tx.start_run(run)
        seq = tx.put(None, bench.memory("a"), verb=Verb.CREATE, actor=bench.actor, at=bench.now, run="r1")
        tx.finish_run("r1", bench.later(minutes=1), {"created": 1})
    found, revisions = bench.store.run("r1")
    assert found == replace(run, finished_at=bench.later(minutes=1), detail={"created": 1})
    assert [revision.seq for revision in revisions] == [seq]
    assert bench.store.runs() == [found]
    assert bench.store.run("r2") is None
    assert bench.store.revision(seq) == bench.store.latest_revision("a") == revisions[0]
    assert bench.store.revision(seq + 1) is None


def test_a_scope_keeps_its_identity(bench):
    with bench.store.write() as tx:
        tx.register_scope(bench.other, "git@host:repo")
        tx.register_scope(bench.other, None)
        tx.register_scope(bench.user, None)
    assert bench.store.scope_identities() == {bench.other: "git@host:repo", bench.user: None}


def test_a_reserved_scope_is_known_from_the_first_write_on_with_its_identity(bench):
    with bench.store.write() as tx:
        tx.reserve_scope(bench.other, "git@host:repo")
        tx.reserve_scope(bench.other, "git@host:moved")
    assert (bench.store.scopes(), bench.store.scope_identities()) == ([], {bench.other: "git@host:moved"})
    with bench.store.write() as tx:
        tx.register_scope(bench.other, None)
    assert bench.store.scopes() == [bench.other]
    with bench.store.write() as tx:
        tx.reserve_scope(bench.other, "git@host:again")
    assert bench.store.scope_identities() == {bench.other: "git@host:again"}


def test_a_reading_inside_a_transaction_sees_what_it_wrote(bench):
    with bench.store.write() as tx:
        tx.put(None, bench.memory("a", "pebble"), verb=Verb.CREATE, actor=bench.actor, at=bench.now)
        assert bench.ids() == ["a"]
        assert bench.found("pebble") == ["a"]
        assert bench.store.latest_revision("a") is not None


def test_ids_match_by_their_beginning_and_an_exact_one_stands_alone(bench):
    bench.add(*(bench.memory(name) for name in ("ab", "abc", "abd", "b")), bench.memory("abe", scope=bench.other))
    assert bench.store.match_id("ab", Filter()) == ["ab"]
    assert bench.store.match_id("a", Filter(scopes=(bench.user,))) == ["ab", "abc", "abd"]
    assert bench.store.match_id("a", Filter(), limit=2) == ["ab", "abc"]
    assert bench.store.match_id("%", Filter()) == []


def test_a_counted_reading_changes_neither_version_nor_history_nor_generation(bench):
    bench.add(bench.memory("a"), bench.memory("b"))
    before = bench.store.generation()
    bench.store.touch(["a", "none"], bench.later(hours=1))
    bench.store.touch(["a"], bench.later(hours=2))
    found = bench.get("a")
    assert (found.access_count, found.accessed_at, found.version) == (2, bench.later(hours=2), 1)
    assert bench.get("b").access_count == 0
    assert len(bench.store.history("a")) == 1
    assert bench.store.generation() == before


def test_numbers_of_erased_memories_are_never_given_again(bench):
    bench.add(bench.memory("a", "pebble"))
    (first,) = numbers(bench)
    bench.put(bench.get("a"), None, Verb.ERASE)
    bench.add(bench.memory("b", "pebble"))
    assert list(numbers(bench)) == [first + 1]


def numbers(bench):
    return bench.store.fetch(range(1, 10)).keys()


def test_statistics_count_what_the_filter_lets_through(bench):
    bench.add(
        bench.memory("a", tags=("OPS", "x")),
        bench.memory("b", tags=("ops",), kind=Kind.WORKING, scope=bench.other),
        bench.memory("c", trust=Trust.REJECTED),
        bench.memory("d", deleted_at=bench.now),
        bench.memory("e", valid_until=bench.now),
    )
    stats = bench.store.stats(Filter())
    assert (stats.memories, stats.deleted) == (2, 1)
    assert stats.kinds == {"semantic": 1, "working": 1}
    assert stats.scopes == {"user": 1, "project:other": 1}
    assert stats.trusts == {"confirmed": 2}
    assert stats.tags == {"OPS": 2, "x": 1}
    assert stats.bytes["file"] == bench.path.stat().st_size
    assert bench.store.stats(Filter(scopes=(bench.other,))).tags == {"ops": 1}


def test_threads_have_connections_of_their_own(bench):
    def write(name):
        for at in range(20):
            bench.add(bench.memory(f"{name}{at}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(bench.ids()) == 80
    assert bench.unwell() == []


def test_a_closed_store_says_so_and_closes_twice(bench):
    bench.store.close()
    bench.store.close()
    with pytest.raises(Unavailable, match="is closed"):
        bench.ids()


def test_the_generation_changes_with_each_write(bench):
    seen = {bench.store.generation()}
    bench.add(bench.memory("a"))
    seen.add(bench.store.generation())
    with bench.store.write() as tx:
        tx.link([Link(source="a", target="b", kind=LinkKind.RELATES)])
    seen.add(bench.store.generation())
    bench.store.open_space("p", "m", 4, 1, None)
    seen.add(bench.store.generation())
    assert len(seen) == 4


def test_a_revision_needs_a_memory(bench):
    with pytest.raises(ValueError, match="before or after"):
        bench.put(None, None)


def test_a_changed_scope_moves_the_memory(bench):
    bench.add(bench.memory("a", "pebble"))
    bench.put(bench.get("a"), bench.memory("a", "pebble", scope=bench.other, version=2))
    assert bench.found("pebble", Filter(scopes=(bench.other,))) == ["a"]
    assert bench.found("pebble", Filter(scopes=(bench.user,))) == []


def test_times_of_any_zone_are_kept_as_the_same_instant(bench):
    from datetime import timezone

    east = timezone(timedelta(hours=5))
    bench.add(bench.memory("a", created_at=bench.now.astimezone(east)))
    assert bench.get("a").created_at == bench.now
    with pytest.raises(InvalidInput):
        bench.store.page(Filter(), 0)


def test_an_id_takes_every_letter_equally_often_and_draws_again_for_bytes_that_stand_for_none(monkeypatch):
    from collections import Counter

    from zapomni import ids

    left = list(range(256))
    monkeypatch.setattr(ids.os, "urandom", lambda size: bytes(left.pop(0) for _ in range(size)))
    monkeypatch.setattr(ids, "_BYTES", 4)
    counts = Counter("".join(ids.random_id() for _ in range(14)))  # 224 of the 252 bytes that stand for a letter
    assert set(counts) == set(ids.ALPHABET)
    assert set(counts.values()) == {8}
    monkeypatch.setattr(ids.os, "urandom", lambda size: bytes([255]) * (size - 1) + bytes([0]))
    assert ids.random_id() == ids.ALPHABET[0] * ids.LENGTH
