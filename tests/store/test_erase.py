from __future__ import annotations

import shutil
from contextlib import closing

import pytest
from msgspec.structs import replace

from zapomni.model import Filter, Link, LinkKind, Verb
from zapomni.store.sqlite import connection
from zapomni.store.sqlite.store import open_sqlite

READS = """
import apsw, sys
db = apsw.Connection(sys.argv[1])
db.execute("BEGIN")
db.execute("SELECT count(*) FROM memories").fetchall()
print("reading", flush=True)
sys.stdin.readline()
"""
WORDS = [f"zq{at:04}xw" for at in range(600)]


def bytes_on_disk(bench):
    return b"".join(path.read_bytes() for path in bench.path.parent.iterdir() if path.is_file())


def secret(bench, vectors=None):
    noise = [bench.memory(f"n{at}", f"noise {at} " + " ".join(f"zz{at}{no}" for no in range(30))) for at in range(100)]
    memory = bench.memory(
        "secret",
        " ".join(WORDS[:400]),
        title=WORDS[400],
        description=WORDS[401],
        tags=(WORDS[402],),
        entities=(WORDS[403],),
        path=f"a.{WORDS[404]}",
        source=WORDS[405],
        key=WORDS[406],
        metadata={WORDS[407]: WORDS[408]},
    )
    bench.add(*noise[:50])
    bench.add(memory)
    bench.add(*noise[50:])
    edited = replace(memory, content=" ".join(WORDS[450:]), version=2)
    bench.put(memory, edited)
    deleted = replace(edited, deleted_at=bench.now, version=3)
    bench.put(edited, deleted, Verb.DELETE)
    return deleted


@pytest.mark.promise("history.erase")
def test_erased_text_is_nowhere_in_the_file_or_its_log(bench):
    memory = secret(bench)
    assert all(word.encode() in bytes_on_disk(bench) for word in (WORDS[0], WORDS[400], WORDS[599]))
    bench.put(memory, None, Verb.ERASE)
    left = bytes_on_disk(bench)
    assert [word for word in WORDS if word.encode() in left] == []
    assert bench.unwell() == []


@pytest.mark.promise("history.erase")
def test_erasing_leaves_the_entries_of_the_history_without_their_texts(bench):
    memory = secret(bench)
    with bench.store.write() as tx:
        tx.link(
            [
                Link(source="secret", target="n1", kind=LinkKind.RELATES),
                Link(source="n2", target="secret", kind=LinkKind.RELATES),
            ]
        )
    bench.put(memory, None, Verb.ERASE)
    revisions = bench.store.history("secret")
    assert [revision.verb for revision in revisions] == [Verb.CREATE, Verb.UPDATE, Verb.DELETE, Verb.ERASE]
    assert all(revision.before is None and revision.after is None for revision in revisions)
    assert bench.get("secret") is None
    assert bench.store.links("n1") == bench.store.links("n2") == []
    assert bench.store.stats(Filter()).tags == {}


@pytest.mark.promise("history.erase")
def test_erasing_takes_the_vectors_that_nobody_shares(bench, vectors):
    bench.add(bench.memory("a"), bench.memory("b"))
    space = vectors.space()
    a, b = bench.get("a"), bench.get("b")
    shared, own = vectors.one(), vectors.one()
    bench.store.save_vectors(space.no, {b"shared": shared, b"own": own}, [(a, [b"shared", b"own"]), (b, [b"shared"])])
    bench.put(a, None, Verb.ERASE)
    assert bench.store.known_vectors(space.no, [b"shared", b"own"]) == {b"shared"}
    assert [no for no, _ in bench.store.nearest(space, own, Filter(), 5)] == list(bench.store.fetch([1, 2]))
    assert own.tobytes() not in bytes_on_disk(bench)
    assert bench.unwell() == []


@pytest.mark.promise("history.erase")
def test_a_reader_in_the_way_delays_the_clearing_of_the_log_to_the_next_write(bench, python):
    memory = secret(bench)
    bench.store._db._busy_timeout_ms = 0
    reader = python(READS, bench.path)
    assert reader.stdout.readline() == "reading\n"
    with bench.store._db.impatient():
        bench.put(memory, None, Verb.ERASE)
    reader.communicate("go\n", timeout=30)
    bench.add(bench.memory("later"))
    assert [word for word in WORDS if word.encode() in bytes_on_disk(bench)] == []


def test_many_erasures_in_one_transaction_are_one(bench):
    bench.add(*(bench.memory(f"m{at}") for at in range(200)))
    with bench.store.write() as tx:
        for at in range(200):
            tx.put(tx.get(f"m{at}"), None, verb=Verb.ERASE, actor=bench.actor, at=bench.now)
    assert bench.ids() == []
    assert bench.unwell() == []


@pytest.mark.promise("backup.whole")
def test_the_first_memory_reaches_the_main_file_by_the_next_write_though_a_reader_was_in_the_way(bench, python):
    bench.store._db._busy_timeout_ms = 0
    reader = python(READS, bench.path)
    assert reader.stdout.readline() == "reading\n"
    with bench.store._db.impatient():
        bench.add(bench.memory("first"))
    reader.communicate("go\n", timeout=30)
    bench.add(bench.memory("later"))
    assert alone(bench) == {"first", "later"}


@pytest.mark.promise("store.shared")
@pytest.mark.parametrize("what", ["first", "erased"])
def test_a_reader_that_stays_holds_up_one_write_for_half_the_time_that_others_wait(bench, python, monkeypatch, what):
    waits, clears = [], connection._checkpoint
    memory = secret(bench) if what == "erased" else None
    bench.store._db._busy_timeout_ms = 40
    monkeypatch.setattr(
        connection,
        "_checkpoint",
        lambda db: waits.append(connection.value_of(db, "PRAGMA busy_timeout")) or clears(db),
    )
    reader = python(READS, bench.path)
    assert reader.stdout.readline() == "reading\n"
    if memory is not None:
        bench.put(memory, None, Verb.ERASE)
    else:
        bench.add(bench.memory("first"))
    bench.add(bench.memory("later"))
    assert waits == [20, 0]
    reader.communicate("go\n", timeout=30)
    bench.add(bench.memory("last"))
    assert "last" in alone(bench)


@pytest.mark.promise("history.erase")
@pytest.mark.promise("backup.whole")
@pytest.mark.parametrize("what", ["first", "erased"])
def test_the_next_write_of_another_process_clears_the_log_that_a_reader_kept(bench, python, what):
    memory = secret(bench) if what == "erased" else None
    reader = python(READS, bench.path)
    assert reader.stdout.readline() == "reading\n"
    bench.store._db._busy_timeout_ms = 0
    if memory is not None:
        bench.put(memory, None, Verb.ERASE)
    else:
        bench.add(bench.memory("first"))
    reader.communicate("go\n", timeout=30)
    with closing(open_sqlite(bench.path)) as other:
        type(bench)(store=other, path=bench.path).add(bench.memory("later"))
        assert "later" in alone(bench)
        assert [word for word in WORDS if word.encode() in bytes_on_disk(bench)] == []
        assert connection.rows_of(other._db.mine(), "SELECT name FROM meta WHERE name = 'log_owed'") == []


def alone(bench):
    """Return the ids in a copy of the main file, taken without its log."""
    target = bench.path.with_name("alone.db")
    shutil.copy(bench.path, target)
    with closing(open_sqlite(target)) as copy:
        return {memory.id for memory in copy.page(Filter(), 10).memories}
