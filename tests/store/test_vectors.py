from __future__ import annotations

import subprocess
import sys
from array import array
from math import hypot

import pytest
from msgspec.structs import replace

from zapomni.errors import InvalidInput, NotFound
from zapomni.model import Filter, Kind, Link, LinkKind, SpaceState, Trust, Verb
from zapomni.store.sqlite import resident, spaces
from zapomni.store.sqlite import vectors as scanning
from zapomni.store.sqlite.vectors import centred


def both_ways(bench, space, query, where=Filter(), limit=5, also=()):  # noqa: B008 - frozen
    """Ask as the first question of a process is answered, and as the later ones are; both must agree."""
    if bench.store._vectors is not None:
        bench.store._vectors._asked = False
    scanned = bench.store.nearest(space, query, where, limit, also)
    kept = bench.store.nearest(space, query, where, limit, also)
    assert [no for no, _ in scanned] == [no for no, _ in kept]
    assert [cosine for _, cosine in scanned] == pytest.approx([cosine for _, cosine in kept], abs=1e-5)
    return scanned


def by_hand(bench, vectors, space, query):
    """Every memory with the best mean-centred cosine of its pieces, in plain arithmetic."""
    mean = array("f", next(found for found in bench.store.spaces() if found.no == space.no).mean).tobytes()
    asked = centred(query, mean)
    best = {}
    for no, memory in bench.store.fetch(range(1, 1000)).items():
        if vectors.by_id.get(memory.id) and memory.deleted_at is None:
            best[no] = max(sum(map(lambda a, b: a * b, centred(v, mean), asked)) for v in vectors.by_id[memory.id])
    return sorted(best.items(), key=lambda item: -item[1])


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("pieces", [1, 3])
def test_both_ways_of_comparing_agree_with_plain_arithmetic(bench, vectors, mean, pieces):
    bench.add(*(bench.memory(f"m{at}") for at in range(40)))
    space = vectors.space(mean=mean)
    vectors.embed(space, pieces)
    for _ in range(5):
        query = vectors.one()
        want = by_hand(bench, vectors, space, query)
        found = both_ways(bench, space, query, limit=7, also=[3, want[0][0]])
        ordered = dict(want[:7]) | {3: dict(want)[3]}
        assert dict(found) == pytest.approx(ordered, abs=1e-5)
        assert found == sorted(found, key=lambda item: -item[1])


def test_more_is_asked_than_there_is(bench, vectors):
    space = vectors.space()
    assert both_ways(bench, space, vectors.one(), also=[1]) == []
    bench.add(*(bench.memory(f"m{at}") for at in range(3)))
    vectors.embed(space, 2)
    assert len(both_ways(bench, space, vectors.one(), limit=50)) == 3
    assert both_ways(bench, space, vectors.one(), limit=0) == []
    assert [no for no, _ in both_ways(bench, space, vectors.one(), limit=0, also=[2, 99])] == [2]


@pytest.mark.promise("recall.filters")
def test_filters_apply_before_the_cut_both_ways(bench, vectors):
    hour = bench.later(hours=1)
    bench.add(
        *(bench.memory(f"m{at}") for at in range(30)),
        bench.memory("there", scope=bench.other, kind=Kind.WORKING, tags=("T",)),
        bench.memory("later", scope=bench.other, valid_from=hour),
        bench.memory("over", scope=bench.other, valid_until=bench.now),
        bench.memory("refused", scope=bench.other, trust=Trust.REJECTED),
        bench.memory("old", scope=bench.other, trust=Trust.SUPERSEDED),
        bench.memory("doubted", scope=bench.other, trust=Trust.SUPERSEDED),
    )
    with bench.store.write() as tx:
        tx.link([Link(source="there", target="old", kind=LinkKind.SUPERSEDES)])
    space = vectors.space()
    vectors.embed(space)

    def seen(**where):
        found = both_ways(bench, space, vectors.one(), Filter(scopes=(bench.other,), **where), also=range(1, 50))
        memories = bench.store.fetch([no for no, _ in found])
        return {memory.id for memory in memories.values()}

    assert seen() == {"there", "doubted"}
    assert seen(as_of=hour) == {"there", "later", "doubted"}
    assert seen(as_of=bench.later(hours=-1)) == {"over", "old", "doubted", "there"}
    assert seen(expired=True) == {"there", "later", "over", "doubted"}
    assert seen(trusts=tuple(Trust)) == {"there", "refused", "old", "doubted"}
    assert seen(tags=("t",)) == seen(kinds=(Kind.WORKING,)) == {"there"}


def test_what_changes_is_taken_in_piece_by_piece(bench, vectors, monkeypatch):
    bench.add(*(bench.memory(f"m{at}") for at in range(30)))
    space = vectors.space()
    vectors.embed(space)
    both_ways(bench, space, vectors.one())
    monkeypatch.setattr(resident.Resident, "_load", lambda *_: pytest.fail("it was loaded anew"))

    def ids(query, limit=50):
        memories = bench.store.fetch([no for no, _ in both_ways(bench, space, query, limit=limit)])
        return [memory.id for memory in memories.values()]

    bench.add(bench.memory("new", valid_until=bench.later(hours=1)))
    assert "new" not in ids(vectors.one())
    vectors.embed(space)
    assert "new" in ids(vectors.one())

    first = bench.get("m3")
    bench.put(first, replace(first, content="another text", version=2))
    assert "m3" not in ids(vectors.one())
    vectors.embed(space, 2)
    assert sorted(ids(vectors.by_id["m3"][1], 1)) == ["m3"]

    bench.put(bench.get("m4"), replace(bench.get("m4"), deleted_at=bench.now, version=2), Verb.DELETE)
    assert "m4" not in ids(vectors.one())
    bench.put(bench.get("m4"), replace(bench.get("m4"), deleted_at=None, version=3), Verb.RESTORE)
    assert "m4" in ids(vectors.one())
    bench.put(bench.get("m5"), None, Verb.ERASE)
    bench.put(bench.get("m6"), replace(bench.get("m6"), valid_until=bench.now, version=2))
    bench.put(bench.get("m7"), replace(bench.get("m7"), title="only metadata", importance=1.0, version=2))
    assert {"m5", "m6", "m7"} & set(ids(vectors.one())) == set()


def test_a_change_by_another_process_is_seen(bench, vectors, python):
    bench.add(*(bench.memory(f"m{at}") for at in range(5)))
    space = vectors.space()
    vectors.embed(space)
    both_ways(bench, space, vectors.one())
    other = python(
        "import sys\nfrom pathlib import Path\nfrom msgspec.structs import replace\n"
        "from zapomni.model import Actor, Filter, Verb\nfrom zapomni.store.sqlite import open_sqlite\n"
        "store = open_sqlite(Path(sys.argv[1]))\n(found,) = store.get(['m2'], Filter())\n"
        "with store.write() as tx:\n"
        "    tx.put(found, replace(found, deleted_at=found.created_at, version=2), verb=Verb.DELETE, actor=Actor(name='x'), at=found.created_at)\n"
        "store.close()",
        bench.path,
    )
    assert other.communicate(timeout=60) == ("", "")
    assert len(both_ways(bench, space, vectors.one())) == 4


def test_loading_anew_is_due_when_most_of_it_changed(bench, vectors, monkeypatch):
    monkeypatch.setattr(resident, "_FEW", 5)
    bench.add(*(bench.memory(f"m{at}") for at in range(30)))
    space = vectors.space()
    vectors.embed(space)
    both_ways(bench, space, vectors.one())
    with bench.store.write() as tx:
        for at in range(20):
            tx.put(tx.get(f"m{at}"), None, verb=Verb.ERASE, actor=bench.actor, at=bench.now)
    query = vectors.one()
    for at in range(20):
        del vectors.by_id[f"m{at}"]
    assert dict(both_ways(bench, space, query, limit=30)) == pytest.approx(
        dict(by_hand(bench, vectors, space, query)), abs=1e-5
    )


def test_a_large_space_is_kept_rounded_and_scored_again_from_the_file(bench, vectors, monkeypatch):
    monkeypatch.setattr(resident, "QUANTISED", 20)
    monkeypatch.setattr(resident, "RESCORED", 30)
    bench.add(*(bench.memory(f"m{at}") for at in range(60)))
    space = vectors.space()
    vectors.embed(space)
    for _ in range(3):
        query = vectors.one()
        assert dict(both_ways(bench, space, query, also=[1, 2])) == pytest.approx(
            dict(by_hand(bench, vectors, space, query)[:5])
            | {no: dict(by_hand(bench, vectors, space, query))[no] for no in (1, 2)},
            abs=1e-5,
        )
    assert bench.store._vectors._resident._matrix.quantised


def test_without_the_extension_the_vectors_are_kept_at_once(bench, vectors, monkeypatch):
    monkeypatch.setattr(scanning, "find_spec", lambda _: None)
    bench.add(bench.memory("a"))
    space = vectors.space()
    vectors.embed(space)
    assert [no for no, _ in bench.store.nearest(space, vectors.one(), Filter(), 5)] == [1]
    assert bench.store._vectors._resident is not None


def test_what_is_not_committed_stays_out_of_the_shared_memory(bench, vectors, monkeypatch):
    bench.add(bench.memory("a"), bench.memory("b"))
    space = vectors.space()
    vectors.embed(space)
    both_ways(bench, space, vectors.one())
    for extension in (True, False):
        with bench.undone() as tx:
            tx.put(bench.get("a"), None, verb=Verb.ERASE, actor=bench.actor, at=bench.now)
            assert [no for no, _ in bench.store.nearest(space, vectors.one(), Filter(), 5)] == [2]
        assert len(both_ways(bench, space, vectors.one())) == 2
        if extension:
            monkeypatch.setattr(scanning, "_is_small", lambda *_: False)


def test_a_vector_equal_to_the_mean_counts_as_unrelated(bench, vectors):
    bench.add(bench.memory("a"))
    mean = array("f", [1.0] + [0.0] * 15)
    space = bench.store.open_space("p", "m", 16, 1, mean)
    bench.store.save_vectors(space.no, {b"1": mean}, [(bench.get("a"), [b"1"])])
    assert both_ways(bench, space, vectors.one()) == [(1, 0.0)]
    assert both_ways(bench, space, mean) == [(1, 0.0)]


def test_a_query_of_another_width_is_an_error(bench, vectors):
    with pytest.raises(InvalidInput, match="16"):
        bench.store.nearest(vectors.space(), array("f", [1.0]), Filter(), 5)


def test_the_first_question_loads_no_numpy(bench, vectors):
    bench.add(bench.memory("a"))
    space = vectors.space()
    vectors.embed(space)
    code = (
        "import sys\nfrom array import array\nfrom pathlib import Path\nfrom zapomni.model import Filter\n"
        "from zapomni.store.sqlite import open_sqlite\nstore = open_sqlite(Path(sys.argv[1]))\n"
        "(space,) = store.spaces()\nprint(store.nearest(space, array('f', [1.0] + [0.0] * 15), Filter(), 5)[0][0])\n"
        "print(sorted({'numpy', 'sqlite_vec', 'filelock'} & set(sys.modules)))"
    )
    import zapomni

    source = str(__import__("pathlib").Path(zapomni.__path__[0]).parent)
    done = subprocess.run(
        [sys.executable, "-c", code, str(bench.path)],
        env={"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split("\n")[:2] == ["1", "[]"], done.stderr


# --- the queue ---------------------------------------------------------------------------------------------
def test_a_new_space_asks_for_every_undeleted_memory_and_is_active_when_it_is_the_first(bench, vectors):
    bench.add(bench.memory("a"), bench.memory("b"), bench.memory("gone", deleted_at=bench.now))
    space = vectors.space()
    assert space.state is SpaceState.ACTIVE
    assert space == vectors.space()
    assert [job.key for job in bench.store.embed_jobs(space.no, 10, bench.now)] == ["a", "b"]
    bench.add(bench.memory("c"))
    assert bench.store.backlog(space.no).waiting == 3
    vectors.embed(space)
    assert bench.store.backlog(space.no).waiting == 0
    assert bench.unwell() == []


def test_jobs_follow_the_text_alone(bench, vectors):
    space = vectors.space()
    first = bench.memory("a")
    bench.add(first)
    vectors.embed(space)
    tagged = replace(first, tags=("t",), version=2)
    bench.put(first, tagged)
    assert bench.store.backlog(space.no).waiting == 0
    titled = replace(tagged, title="new", version=3)
    bench.put(tagged, titled)
    assert bench.store.backlog(space.no).waiting == 1
    gone = replace(titled, deleted_at=bench.now, version=4)
    bench.put(titled, gone, Verb.DELETE)
    assert bench.store.backlog(space.no).waiting == 0
    bench.put(gone, replace(gone, deleted_at=None, version=5), Verb.RESTORE)
    assert bench.store.backlog(space.no).waiting == 1
    assert bench.unwell() == []


def test_vectors_of_a_text_that_changed_since_are_not_taken(bench, vectors):
    space = vectors.space()
    first = bench.memory("a")
    bench.add(first, bench.memory("b"), bench.memory("c"))
    jobs = bench.store.embed_jobs(space.no, 10, bench.now)
    bench.put(first, replace(first, content="changed", version=2))
    bench.put(bench.get("b"), replace(bench.get("b"), importance=1.0, version=2))
    bench.put(bench.get("c"), None, Verb.ERASE)
    made = {job.key.encode(): vectors.one() for job in jobs}
    bench.store.save_vectors(space.no, made, [(job.item, [job.key.encode()]) for job in jobs])
    assert [job.key for job in bench.store.embed_jobs(space.no, 10, bench.now)] == ["a"]
    assert bench.store.known_vectors(space.no, list(made)) == {b"b"}
    assert bench.unwell() == []


def test_a_memory_whose_vector_is_missing_stays_on_the_queue(bench, vectors):
    space = vectors.space()
    bench.add(bench.memory("a"))
    bench.store.save_vectors(space.no, {b"1": vectors.one()}, [(bench.get("a"), [b"1", b"2"])])
    assert bench.store.backlog(space.no).waiting == 1
    bench.store.save_vectors(space.no, {b"2": vectors.one(), b"1": vectors.one()}, [(bench.get("a"), [b"1", b"2"])])
    bench.store.save_vectors(space.no, {}, [(bench.get("a"), [b"2"])])
    assert bench.store.known_vectors(space.no, [b"1", b"2"]) == {b"2"}
    assert bench.unwell() == []


def test_a_failed_job_waits_for_its_time_and_starts_afresh_with_a_new_text(bench, vectors):
    space = vectors.space()
    first = bench.memory("a")
    bench.add(first, bench.memory("b"))
    job, _ = bench.store.embed_jobs(space.no, 10, bench.now)
    bench.store.postpone(job, "too long", bench.later(minutes=5))
    bench.store.postpone(job, "an older try", bench.later(hours=5))
    backlog = bench.store.backlog(space.no)
    assert (backlog.waiting, backlog.failed, backlog.error) == (2, 1, "too long")
    assert [j.key for j in bench.store.embed_jobs(space.no, 10, bench.now)] == ["b"]
    assert [j.key for j in bench.store.embed_jobs(space.no, 10, bench.later(minutes=5))] == ["a", "b"]
    retried = bench.store.embed_jobs(space.no, 1, bench.now, retry=True)
    assert [(j.key, j.attempts, j.error) for j in retried] == [("a", 1, "too long")]
    bench.put(first, replace(first, content="short", version=2))
    assert bench.store.backlog(space.no).failed == 0


@pytest.mark.promise("space.change", "space.never-mixed")
def test_a_second_space_is_built_beside_the_first_and_takes_its_place(bench, vectors):
    bench.add(bench.memory("a"), bench.memory("b"))
    old = vectors.space("old")
    vectors.embed(old)
    new = vectors.space("new")
    assert (new.state, vectors.embed(new)) == (SpaceState.BUILDING, 2)
    bench.add(bench.memory("c"))
    assert [bench.store.backlog(space.no).waiting for space in (old, new)] == [1, 1]
    vectors.embed(new)
    assert [space.no for space in bench.store.spaces()] == [old.no, new.no]
    bench.store.activate(new.no)
    assert [(space.no, space.state) for space in bench.store.spaces()] == [(new.no, SpaceState.ACTIVE)]
    assert bench.store.nearest(old, vectors.one(), Filter(), 5) == []
    assert len(both_ways(bench, new, vectors.one())) == 3
    bench.store.save_vectors(old.no, {b"1": vectors.one()}, [(bench.get("a"), [b"1"])])
    assert bench.store.known_vectors(old.no, [b"1"]) == set()
    assert vectors.space("old").no not in {old.no, new.no}
    with pytest.raises(NotFound):
        bench.store.activate(old.no)
    assert bench.unwell() == []


def test_the_mean_grows_out_of_the_prior_at_a_hundred_and_each_doubling(bench, vectors):
    space = vectors.space()
    means = []
    for start in range(0, 400, 50):
        bench.add(*(bench.memory(f"m{at}") for at in range(start, start + 50)))
        vectors.embed(space)
        (space,) = bench.store.spaces()
        means.append(space.mean)
    assert means[0] == pytest.approx((0.7, *[0.0] * 15))
    assert [at for at in range(1, 8) if means[at] != means[at - 1]] == [1, 3, 7]
    rows = [vector for made in vectors.by_id.values() for vector in made]
    prior = [0.7] + [0.0] * 15
    weight = spaces.PRIOR_WEIGHT
    want = [(sum(row[at] for row in rows) + weight * prior[at]) / (400 + weight) for at in range(16)]
    assert means[-1] == pytest.approx(want, abs=1e-6)
    query = vectors.one()
    assert dict(both_ways(bench, space, query)) == pytest.approx(
        dict(by_hand(bench, vectors, space, query)[:5]), abs=1e-5
    )


def test_a_changed_mean_reaches_the_vectors_in_memory(bench, vectors):
    bench.add(*(bench.memory(f"m{at}") for at in range(99)))
    space = vectors.space(mean=False)
    vectors.embed(space)
    query = vectors.one()
    before = both_ways(bench, space, query)
    bench.add(bench.memory("hundredth"))
    vectors.embed(space)
    after = both_ways(bench, space, query)
    assert after != before
    assert dict(after) == pytest.approx(dict(by_hand(bench, vectors, space, query)[:5]), abs=1e-5)


def test_vectors_can_be_asked_from_many_threads(bench, vectors):
    from concurrent.futures import ThreadPoolExecutor

    bench.add(*(bench.memory(f"m{at}") for at in range(50)))
    space = vectors.space()
    vectors.embed(space)
    query = vectors.one()
    want = bench.store.nearest(space, query, Filter(), 5)

    def ask(at):
        if at % 5 == 0:
            bench.add(bench.memory(f"t{at}"))
        return [no for no, _ in bench.store.nearest(space, query, Filter(), 5)]

    with ThreadPoolExecutor(8) as threads:
        assert all(found == [no for no, _ in want] for found in threads.map(ask, range(60)))


def test_a_centred_vector_has_length_one():
    moved = centred(array("f", [0.6, 0.8]), array("f", [0.5, 0.5]).tobytes())
    assert hypot(*moved) == pytest.approx(1.0)
