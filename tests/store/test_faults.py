from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

import zapomni
from zapomni.clock import system_clock
from zapomni.errors import StoreBusy, StoreDamaged, Unavailable
from zapomni.model import Filter, Verb
from zapomni.store.migrate import read_changes
from zapomni.store.sqlite import open_sqlite, opening
from zapomni.store.sqlite.opening import open_file

SOURCE = str(Path(zapomni.__path__[0]).parent)


@pytest.mark.promise("store.full")
def test_a_full_disk_is_a_clear_error_and_loses_nothing(bench):
    bench.add(bench.memory("a", "pebble"))
    db = bench.store._db.mine()
    pages = db.execute("PRAGMA page_count").get
    db.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(Unavailable, match="no room left"):
        bench.add(*(bench.memory(f"big{at}", "x" * 50_000) for at in range(10)))
    assert bench.ids() == ["a"]
    db.execute("PRAGMA max_page_count = 1000000")
    bench.add(bench.memory("b", "x" * 50_000))
    assert bench.ids() == ["b", "a"]
    assert bench.unwell() == []


AS_NOBODY = """
import urllib.parse  # read before the privileges go: the interpreter may lie in a home of its own
import hashlib, os, sys
from msgspec.structs import replace
from pathlib import Path
from zapomni.errors import Unavailable
from zapomni.model import Actor, Filter, Verb
from zapomni.store.sqlite import open_sqlite
from zapomni.text.words import query_words
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
store = open_sqlite(Path(sys.argv[1]))
(found,) = store.get(["a"], Filter())
print(found.content, len(store.lexical(query_words("pebble"), Filter(), 5).hits))
store.touch(["a"], found.created_at)
try:
    with store.write() as tx:
        tx.put(found, replace(found, version=2), verb=Verb.UPDATE, actor=Actor(name="x"), at=found.created_at)
except Unavailable as error:
    print(error.code, error.message.split(str(sys.argv[1]))[-1])
store.close()
"""


def run_as_nobody(program, path, folder):
    """Run a program on a store that it may read alone, in a folder of this mode."""
    home = path.parent
    for file in home.iterdir():
        file.chmod(0o444)
    home.chmod(folder)
    for parent in home.parents:
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    try:
        return subprocess.run(
            [sys.executable, "-c", program, str(path)],
            env={"PYTHONPATH": SOURCE, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        home.chmod(0o700)


@pytest.mark.promise("store.full")
@pytest.mark.parametrize(("folder", "running"), [(0o555, False), (0o555, True), (0o777, False)])
def test_a_read_only_store_is_read_and_says_that_it_cannot_be_written(bench, folder, running):
    bench.add(bench.memory("a", "pebble"))
    if not running:
        bench.store.close()
    done = run_as_nobody(AS_NOBODY, bench.path, folder)
    assert done.stdout.splitlines() == ["pebble 1", "unavailable  cannot be written"], done.stderr


OPEN_AS_NOBODY = (
    AS_NOBODY[: AS_NOBODY.index("store = ")]
    + """
try:
    open_sqlite(Path(sys.argv[1]))
except Unavailable as error:
    print(error.message.split(str(sys.argv[1]))[-1], error.remedy)
"""
)


@pytest.mark.promise("store.migrates")
def test_a_store_of_an_earlier_release_that_cannot_be_written_says_what_it_needs(tmp_path):
    path = tmp_path / "place" / "memories.db"
    open_file(path, 1_000, system_clock, read_changes(Path(opening.__file__).parent / "schema")[:-1])
    done = run_as_nobody(OPEN_AS_NOBODY, path, 0o555)
    assert "is of an earlier release and lies where it cannot be written" in done.stdout, done.stderr
    assert "copy it" in done.stdout


@pytest.mark.promise("store.shared")
def test_a_store_held_too_long_is_busy_and_readers_go_on(bench):
    bench.add(bench.memory("a"))
    holder = apsw.Connection(str(bench.path))
    holder.execute("BEGIN IMMEDIATE")
    impatient = open_sqlite(bench.path, busy_timeout_ms=1)
    with pytest.raises(StoreBusy) as error, impatient.write() as tx:
        tx.put(None, bench.memory("b"), verb=Verb.CREATE, actor=bench.actor, at=bench.now)
    assert "locked" not in str(error.value)
    assert impatient.page(Filter(), 5).total == 1
    impatient.touch(["a"], bench.now)
    holder.execute("ROLLBACK")
    with impatient.write() as tx:
        tx.put(None, bench.memory("b"), verb=Verb.CREATE, actor=bench.actor, at=bench.now)
    assert impatient.page(Filter(), 5).total == 2
    impatient.close()
    holder.close()


def test_a_damaged_page_is_told_and_quotes_no_stored_text(bench):
    bench.add(*(bench.memory(f"m{at}", "pebble " * 50) for at in range(200)))
    root = bench.store._db.mine().execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memories'").get
    bench.store.close()
    with bench.path.open("r+b") as file:
        file.seek((root - 1) * 8192)
        file.write(b"\xff" * 8192)
    store = open_sqlite(bench.path)
    with pytest.raises(StoreDamaged) as error:
        store.fetch(range(1, 300))
    assert error.value.message == f"the store {bench.path} is damaged"
    assert [check.name for check in store.check() if not check.ok] == ["integrity"]
    store.close()


def test_a_fault_that_has_no_meaning_leaves_as_it_is(bench):
    with pytest.raises(apsw.SQLError), bench.store._db.reading() as db:
        db.execute("SELECT nonsense")
    bench.add(bench.memory("a"))
    bench.put(bench.get("a"), replace(bench.get("a"), version=2))


def test_a_process_that_ends_without_closing_leaves_a_whole_store(bench, python):
    code = (
        "import sys\nfrom pathlib import Path\nfrom zapomni.store.sqlite import open_sqlite\n"
        "store = open_sqlite(Path(sys.argv[1]))\nprint(store.generation())"
    )
    assert python(code, bench.path).communicate(timeout=60)[1] == ""
    assert bench.unwell() == []
