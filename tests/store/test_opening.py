from __future__ import annotations

import json
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
from msgspec.structs import replace

from zapomni.config import load
from zapomni.errors import StoreDamaged, Unavailable
from zapomni.model import USER_SCOPE, Actor, Filter, Kind, Memory, Verb
from zapomni.record import to_record
from zapomni.store.migrate import Change, pending, read_changes
from zapomni.store.sqlite import open_sqlite, opening
from zapomni.store.sqlite.connection import Connections
from zapomni.store.sqlite.opening import SCHEMA, open_file
from zapomni.store.sqlite.store import SqliteStore
from zapomni.text.words import TOKENIZER, query_words

NOW = datetime(2026, 11, 30, tzinfo=UTC)
FOLDER = Path(opening.__file__).parent / "schema"
NEXT = Change(no=SCHEMA + 1, name="next", sql="CREATE TABLE extra (x); INSERT INTO extra VALUES (1);", hash="h")


def clock():
    return NOW


def filled(path):
    store = open_sqlite(path, clock=clock)
    memory = Memory(id="a", kind=Kind.SEMANTIC, scope=USER_SCOPE, content="pebble", created_at=NOW, updated_at=NOW)
    with store.write() as tx:
        tx.put(None, memory, verb=Verb.CREATE, actor=Actor(name="t"), at=NOW)
    store.close()
    return memory


def test_the_number_of_the_newest_schema_is_that_of_the_files():
    assert len(read_changes(FOLDER)) == SCHEMA


@pytest.mark.promise("store.private")
def test_a_new_store_and_its_folders_are_the_owners_alone(tmp_path):
    path = tmp_path / "x" / "y" / "memories.db"
    store = open_sqlite(path, clock=clock)
    assert store.page(Filter(), 1).total == 0
    filled(path)
    for name in ("", "-wal", "-shm", ".lock"):
        assert stat.S_IMODE(path.with_name(path.name + name).stat().st_mode) == 0o600, name
    assert stat.S_IMODE(path.parent.stat().st_mode) == stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700
    store.close()


@pytest.mark.promise("store.migrates")
@pytest.mark.parametrize("with_rows", [True, False])
def test_the_oldest_schema_is_brought_to_the_newest_and_keeps_everything(tmp_path, with_rows):
    path = tmp_path / "memories.db"
    changes = read_changes(FOLDER)
    open_file(path, 1000, clock, changes[:1])
    if with_rows:
        memory = filled_by_hand(path)
    store = open_sqlite(path, clock=clock)
    if with_rows:
        assert store.get(["a"], Filter()) == [memory]
    assert [check.name for check in store.check() if not check.ok] == []
    store.close()


def filled_by_hand(path):
    """Write what the first release wrote, without going through today's code for anything but the values."""
    return filled(path)


@pytest.mark.promise("store.migrates")
def test_a_history_that_kept_both_sides_of_each_change_tells_the_same_afterwards(tmp_path):
    path = tmp_path / "memories.db"
    open_file(path, 1000, clock, read_changes(FOLDER)[:10])
    first = Memory(id="a", kind=Kind.SEMANTIC, scope=USER_SCOPE, content="one", created_at=NOW, updated_at=NOW)
    second = replace(first, content="два", version=2)
    older = SqliteStore(Connections(path, 1000), clock)
    with older.write() as tx:
        tx.put(None, first, verb=Verb.CREATE, actor=Actor(name="t"), at=NOW)
        tx.put(first, second, verb=Verb.UPDATE, actor=Actor(name="t"), at=NOW)
    older.close()
    db = apsw.Connection(str(path))
    db.execute("UPDATE revisions SET after = ? WHERE seq = 1", (json.dumps(to_record(first)),))
    db.execute("UPDATE revisions SET after = ? WHERE seq = 2", (json.dumps(to_record(second)),))
    db.close()
    store = open_sqlite(path, clock=clock)
    told = [(one.before, one.after) for one in store.history("a")]
    assert told == [(None, to_record(first)), (to_record(first), to_record(second))]
    store.close()


@pytest.mark.promise("store.migrates")
def test_a_store_whose_words_were_parted_by_what_a_character_is_finds_every_one_afterwards(tmp_path):
    path = tmp_path / "memories.db"
    open_file(path, 1000, clock, read_changes(FOLDER)[:8])
    texts = [
        "Заметка о выпуске",
        "call refreshToken() at eu-west-3b",
        "C++ и .NET, it's 100%",
        "猫が好き 🚀",
        "`a`|b~c^d",
    ]
    older = SqliteStore(Connections(path, 1000), clock)
    with older.write() as tx:
        for no, text in enumerate(texts):
            memory = Memory(
                id=str(no), kind=Kind.SEMANTIC, scope=USER_SCOPE, content=text, created_at=NOW, updated_at=NOW
            )
            tx.put(None, memory, verb=Verb.CREATE, actor=Actor(name="t"), at=NOW)
    before = [older.lexical(query_words(text), Filter(), 10) for text in texts]
    older.close()
    store = open_sqlite(path, clock=clock)
    assert [store.lexical(query_words(text), Filter(), 10) for text in texts] == before
    assert all(len(found.hits) for found in before)
    assert [check.name for check in store.check() if not check.ok] == []
    store.close()
    db = apsw.Connection(str(path))
    made = [sql for (sql,) in db.execute("SELECT sql FROM sqlite_schema WHERE sql LIKE '%USING fts5 %'")]
    assert [TOKENIZER in sql for sql in made] == [True, True]
    assert db.execute("SELECT v FROM words_config WHERE k = 'secure-delete'").get == 1
    db.close()


@pytest.mark.promise("store.migrates")
def test_a_store_with_memories_is_copied_before_it_changes(tmp_path):
    path = tmp_path / "memories.db"
    memory = filled(path)
    open_file(path, 1000, clock, (*read_changes(FOLDER), NEXT))
    (copied,) = tmp_path.glob("memories.db.before-*")
    assert stat.S_IMODE(copied.stat().st_mode) == 0o600
    older = open_sqlite(copied)
    assert older.get(["a"], Filter()) == [memory]
    older.close()
    db = apsw.Connection(str(path))
    assert db.execute("SELECT x FROM extra").get == 1
    assert db.execute("SELECT no, name FROM migrations ORDER BY no").fetchall()[-1] == (NEXT.no, "next")
    db.close()


def test_an_empty_store_is_changed_without_a_copy(tmp_path):
    path = tmp_path / "memories.db"
    open_sqlite(path).close()
    open_file(path, 1000, clock, (*read_changes(FOLDER), NEXT))
    assert list(tmp_path.glob("memories.db.before-*")) == []


def test_a_change_that_fails_leaves_the_schema_before_it(tmp_path):
    path = tmp_path / "memories.db"
    memory = filled(path)
    broken = Change(no=NEXT.no, name="broken", sql="CREATE TABLE extra (x); SELECT nonsense FROM nowhere;", hash="h")
    with pytest.raises(apsw.SQLError):
        open_file(path, 1000, clock, (*read_changes(FOLDER), broken))
    store = open_sqlite(path)
    assert store.get(["a"], Filter()) == [memory]
    store.close()


@pytest.mark.promise("store.migrates")
def test_a_newer_store_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "memories.db"
    filled(path)
    open_file(path, 1000, clock, (*read_changes(FOLDER), NEXT))
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match=f"schema {NEXT.no}"):
        open_sqlite(path)
    assert path.read_bytes() == before


def test_changes_that_differ_from_the_recorded_ones_are_refused():
    change = Change(no=1, name="one", sql="", hash="new")
    with pytest.raises(StoreDamaged, match="schema change 1"):
        pending([change], {1: "old"})
    assert pending([change], {}) == [change]
    assert pending([change], {1: "new"}) == []


def test_changes_are_numbered_without_a_gap(tmp_path):
    (tmp_path / "0001_a.sql").write_text("")
    (tmp_path / "0003_c.sql").write_text("")
    with pytest.raises(ValueError, match="1 to 2"):
        read_changes(tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"not a database at all, but long enough to be read as one " * 40, b"x", b"SQLite format 3\x00" + b"\xff" * 4000],
)
def test_a_file_of_something_else_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "memories.db"
    path.write_bytes(content)
    with pytest.raises(StoreDamaged):
        open_sqlite(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("version", [0, 1, 99])
def test_a_database_of_another_program_is_refused_and_left_as_it_is(tmp_path, version):
    path = tmp_path / "memories.db"
    db = apsw.Connection(str(path))
    db.execute(f"CREATE TABLE t (x); INSERT INTO t VALUES (1); PRAGMA user_version = {version}")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="another program"):
        open_sqlite(path)
    assert path.read_bytes() == before


@pytest.mark.promise("store.lost")
@pytest.mark.parametrize("left", [0, 1, 16, 100, 4096, 8192, 20_000])
def test_a_store_cut_short_is_never_taken_for_a_new_one(tmp_path, left):
    path = tmp_path / "memories.db"
    filled(path)
    kept = path.read_bytes()[:left]
    path.write_bytes(kept)
    with pytest.raises(StoreDamaged) as told:
        open_sqlite(path).page(Filter(), 1)
    assert told.value.remedy
    assert path.read_bytes() == kept


def test_what_a_killed_first_start_left_behind_is_cleared_by_the_next(tmp_path):
    for end in ("", "-wal", "-shm"):
        (tmp_path / f".memories.db.{2**22 + 1}-0a0b0c0d.part{end}").touch()
    filled(tmp_path / "memories.db")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["memories.db", "memories.db.lock"]


def test_a_lone_copy_of_the_main_file_is_never_empty(tmp_path):
    path = tmp_path / "memories.db"
    store = open_sqlite(path)
    filled(path)
    (tmp_path / "copy").mkdir()
    lone = tmp_path / "copy" / "memories.db"
    shutil.copy(path, lone)
    copied = open_sqlite(lone)
    assert copied.page(Filter(), 10).total == 1
    copied.close()
    store.close()


def test_a_place_that_cannot_be_made_is_unavailable(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot be opened"):
        open_sqlite(tmp_path / "file" / "memories.db")
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(Unavailable, match="cannot be opened"):
        open_sqlite(tmp_path / "folder.db")


def test_a_store_waits_as_long_as_the_setting_says_where_nothing_else_is_said(tmp_path):
    store = open_sqlite(tmp_path / "memories.db")
    with store._db.reading() as db:
        assert db.execute("PRAGMA busy_timeout").fetchall() == [(load({}, environ={}).store.busy_timeout_ms,)]
    store.close()
