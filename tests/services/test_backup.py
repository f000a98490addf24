from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from array import array
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from zapomni.app import Zapomni
from zapomni.clock import system_clock
from zapomni.config import load
from zapomni.errors import InvalidInput, NotFound, Refused, StoreBusy, StoreDamaged, Unavailable
from zapomni.model import Actor, Filter, Verb
from zapomni.opening import open_memory
from zapomni.store.migrate import read_changes
from zapomni.store.sqlite import backup as backup_part
from zapomni.store.sqlite import opening
from zapomni.store.sqlite.connection import Connections
from zapomni.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zapomni.embed.base import Task
    from zapomni.errors import EmbedderError

    Opened = Callable[[str], Zapomni]

ITEMS = {f"ledger item {no}" for no in range(1, 51)}
WRITER = """
import sys
from zapomni.opening import open_memory
with open_memory(sys.argv[1], **{"embedder.provider": "none"}) as app:
    app.remember("the other process is here")
    print("ready", flush=True)
    for line in sys.stdin:
        if line.startswith("write "):
            print(app.remember(line[6:].strip()).id, flush=True)
        else:
            print(app.stats().memories, flush=True)
"""


CONSTANT_WRITER = """
import sys
from zapomni.opening import open_memory
with open_memory(sys.argv[1], **{"embedder.provider": "none"}) as app:
    no = 0
    while True:
        app.remember(f"constantly {no}")
        print(f"constantly {no}", flush=True)
        no += 1
"""


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    apps: list[Zapomni] = []

    def make(name: str) -> Zapomni:
        app = open_memory(tmp_path / name, **{"embedder.provider": "none"})
        apps.append(app)
        return app

    yield make
    for app in apps:
        app.close()


@pytest.fixture
def app(opened: Opened) -> Zapomni:
    app = opened("store")
    for text in sorted(ITEMS):
        app.remember(text)
    return app


class Letters:
    """An embedder that knows the first letter of a text and nothing else."""

    provider, model, preparation, local, piece = "letters", "one", 1, True, 2_000

    def embed(self, texts: Sequence[str], task: Task) -> list[array[float] | EmbedderError]:  # noqa: ARG002
        return [array("f", [float(letter == text[0]) for letter in "abcdef"]) for text in texts]

    def prior_mean(self) -> array[float] | None:
        return None

    def close(self) -> None:
        pass


def _nearest(app: Zapomni, text: str) -> str:
    space = app.embedding.active()
    assert space is not None
    (vector,) = Letters().embed([text], "query")
    assert isinstance(vector, array)
    ((no, _),) = app.store.nearest(space, vector, Filter(), 1)
    return app.store.fetch([no])[no].content


def _contents(app: Zapomni) -> set[str]:
    return {memory.content for memory in app.store.page(Filter(), 1_000).memories}


@pytest.mark.promise("backup.whole")
def test_a_backup_taken_while_others_write_holds_everything_acknowledged_before_it_began(
    app: Zapomni, opened: Opened, tmp_path: Path
) -> None:
    stop = threading.Event()
    acknowledged: list[str] = []

    def write() -> None:
        while not stop.is_set():
            text = f"meanwhile {len(acknowledged)}"
            app.remember(text)
            acknowledged.append(text)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(acknowledged) < 3:
            assert writer.is_alive()
        before = set(acknowledged)
        came = app.backup(tmp_path / "backup")
    finally:
        stop.set()
        writer.join()
    other = opened("other machine")
    restored = other.restore(tmp_path / "backup")
    assert ITEMS | before <= _contents(other)
    assert came.memories == restored.memories == len(_contents(other))
    assert all(check.ok for check in other.check())


def test_a_backup_is_one_private_file(app: Zapomni, tmp_path: Path) -> None:
    app.backup(tmp_path / "backup")
    assert {path.name for path in tmp_path.iterdir()} == {"store", "backup"}
    assert stat.S_IMODE((tmp_path / "backup").stat().st_mode) == 0o600


def test_a_backup_replaces_nothing_unless_forced(app: Zapomni, tmp_path: Path) -> None:
    target = tmp_path / "backup"
    target.write_text("precious", encoding="utf-8")
    with pytest.raises(Refused):
        app.backup(target)
    assert target.read_text(encoding="utf-8") == "precious"
    assert app.backup(target, force=True).memories == 50


def test_the_store_itself_is_no_target_and_no_source(app: Zapomni, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(app.config.store_path)
    for path in (app.config.store_path, link):
        with pytest.raises(Refused):
            app.backup(path, force=True)
        with pytest.raises(Refused):
            app.restore(path, force=True)
    assert _contents(app) == ITEMS


def test_a_folder_or_a_missing_folder_is_named(app: Zapomni, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        app.backup(tmp_path)
    with pytest.raises(NotFound):
        app.backup(tmp_path / "no" / "such" / "folder")


@pytest.mark.promise("backup.whole")
def test_a_failed_backup_leaves_nothing_that_looks_complete(
    app: Zapomni, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(Unavailable):
        app.backup(tmp_path / "backup")
    assert {path.name for path in tmp_path.iterdir()} == {"store"}


def test_what_a_killed_backup_left_behind_goes_with_the_next_one(app: Zapomni, tmp_path: Path) -> None:
    app.remember("The kiln fires at 1040")
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    abandoned = tmp_path / f".copy.db.{dead.pid}-0a0b0c0d.part"
    running = tmp_path / f".copy.db.{os.getppid()}-0a0b0c0d.part"
    for part in (abandoned, running):
        part.write_bytes(b"half")
    app.backup(tmp_path / "copy.db")
    assert not abandoned.exists()
    assert running.exists()


def test_verify_checks_and_changes_nothing(app: Zapomni, tmp_path: Path) -> None:
    app.backup(tmp_path / "backup")
    app.remember("later")
    came = app.restore(tmp_path / "backup", verify=True)
    assert (came.done, came.memories, came.before) == (False, 50, None)
    assert _contents(app) == {*ITEMS, "later"}


def test_a_store_that_holds_memories_is_replaced_only_by_force_and_kept_beside(
    app: Zapomni, opened: Opened, tmp_path: Path
) -> None:
    app.backup(tmp_path / "backup")
    app.remember("later")
    with pytest.raises(Refused, match="51 memories"):
        app.restore(tmp_path / "backup")
    assert len(_contents(app)) == 51
    came = app.restore(tmp_path / "backup", force=True)
    assert _contents(app) == ITEMS
    assert came.before is not None
    assert came.before.parent == app.config.home
    other = opened("other")
    other.restore(came.before)
    assert _contents(other) == {*ITEMS, "later"}


@pytest.mark.parametrize("size", [0, 100, 4_096, 20_000])
def test_a_cut_backup_is_refused_and_changes_nothing(app: Zapomni, tmp_path: Path, size: int) -> None:
    app.backup(tmp_path / "backup")
    with (tmp_path / "backup").open("r+b") as stream:
        stream.truncate(size)
    for verify in (True, False):
        with pytest.raises(StoreDamaged) as refused:
            app.restore(tmp_path / "backup", verify=verify, force=True)
        assert str(tmp_path / "backup") in refused.value.message
        assert "the store" not in refused.value.message
        assert "another backup" in refused.value.remedy
    assert _contents(app) == ITEMS
    assert not list(app.config.home.glob("*restore*"))


def test_a_backup_with_a_spoilt_page_is_refused(app: Zapomni, tmp_path: Path) -> None:
    app.backup(tmp_path / "backup")
    with (tmp_path / "backup").open("r+b") as stream:
        stream.seek(8_192 * 5)
        stream.write(b"\xff" * 4_096)
    with pytest.raises(StoreDamaged):
        app.restore(tmp_path / "backup", force=True)
    assert _contents(app) == ITEMS


def test_a_database_of_another_program_and_one_of_the_future_are_refused(app: Zapomni, tmp_path: Path) -> None:
    db = apsw.Connection(str(tmp_path / "foreign"))
    db.execute("CREATE TABLE notes (text)")
    db.close()
    with pytest.raises(StoreDamaged):
        app.restore(tmp_path / "foreign", force=True)
    app.backup(tmp_path / "backup")
    db = apsw.Connection(str(tmp_path / "backup"))
    db.execute("PRAGMA user_version = 9999")
    db.close()
    with pytest.raises(Refused, match="schema 9999"):
        app.restore(tmp_path / "backup", force=True)
    assert _contents(app) == ITEMS


def test_a_file_that_is_no_backup_is_called_so_and_import_is_named(app: Zapomni, tmp_path: Path) -> None:
    app.export(tmp_path / "all.jsonl")
    for verify in (False, True):
        with pytest.raises(InvalidInput, match=r"is not a backup\. .*`zapomni import` reads exports"):
            app.restore(tmp_path / "all.jsonl", verify=verify, force=True)
    assert _contents(app) == ITEMS


def test_a_missing_force_is_named_as_it_is_said(app: Zapomni, opened: Opened, tmp_path: Path) -> None:
    app.backup(tmp_path / "backup")
    with pytest.raises(Refused, match="--force"):
        app.backup(tmp_path / "backup")
    other = opened("other machine")
    other.remember("the only one")
    with pytest.raises(Refused, match=r"holds 1 memory.*--force"):
        other.restore(tmp_path / "backup")


def test_a_missing_backup_is_named(app: Zapomni, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        app.restore(tmp_path / "nothing")


def test_a_store_that_can_be_read_by_nobody_is_restored(app: Zapomni, opened: Opened, tmp_path: Path) -> None:
    app.backup(tmp_path / "backup")
    app.close()
    damaged = b"this is no database at all" * 1_000
    app.config.store_path.write_bytes(damaged)
    again = opened("store")
    with pytest.raises(Refused, match="cannot be read"):
        again.restore(tmp_path / "backup")
    came = again.restore(tmp_path / "backup", force=True)
    assert came.before is not None
    assert came.before.read_bytes() == damaged
    assert _contents(again) == ITEMS
    assert stat.S_IMODE(again.config.store_path.stat().st_mode) == 0o600


@pytest.fixture
def older(app: Zapomni, tmp_path: Path) -> Path:
    """Return a backup that an earlier release wrote, of the schema before the last three changes."""
    path = tmp_path / "older"
    changes = read_changes(Path(opening.__file__).parent / "schema")
    opening.open_file(path, 1_000, system_clock, changes[:-3])
    store = SqliteStore(Connections(path, 1_000), system_clock)
    with store.write() as tx:
        for memory in app.store.page(Filter(), 1_000).memories:
            tx.put(None, memory, verb=Verb.CREATE, actor=Actor(name="t"), at=memory.created_at)
    store.close()
    path.with_name("older.lock").unlink()
    return path


@pytest.mark.promise("store.lost")
@pytest.mark.parametrize("left", [b"", b"this is no database at all" * 1_000])
def test_a_backup_of_an_older_schema_takes_the_place_of_a_store_that_is_lost(
    opened: Opened, older: Path, left: bytes
) -> None:
    again = opened("lost")
    again.config.home.mkdir()
    again.config.store_path.write_bytes(left)
    again.restore(older, force=True)
    assert _contents(again) == ITEMS
    assert [check.name for check in again.check() if not check.ok] == []


def test_a_restore_leaves_no_copy_that_nobody_is_told_of(opened: Opened, older: Path) -> None:
    other = opened("other machine")
    other.remember("the only one")
    killed = other.config.store_path.with_name(f".memories.db.{2**22 + 1}-0a0b0c0d.restore.before-0009")
    killed.write_bytes(older.read_bytes())
    came = other.restore(older, force=True)
    assert _contents(other) == ITEMS
    other.close()
    assert came.before is not None
    assert {file.name for file in other.config.home.iterdir()} == {"memories.db", "memories.db.lock", came.before.name}


def test_a_store_with_spoilt_pages_is_restored(app: Zapomni, opened: Opened, tmp_path: Path) -> None:
    app.backup(tmp_path / "backup")
    app.close()
    with app.config.store_path.open("r+b") as stream:
        stream.seek(8_192 * 2)
        stream.write(b"\xff" * 8_192 * 6)
    again = opened("store")
    again.restore(tmp_path / "backup", force=True)
    assert _contents(again) == ITEMS
    assert all(check.ok for check in again.check())


def test_a_backup_in_a_place_that_cannot_be_written_is_restored(app: Zapomni, opened: Opened, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    app.backup(vault / "backup")
    (vault / "backup").chmod(0o400)
    vault.chmod(0o500)
    before = (vault / "backup").read_bytes()
    try:
        other = opened("other")
        other.restore(vault / "backup")
        assert {path.name for path in vault.iterdir()} == {"backup"}
    finally:
        vault.chmod(0o700)
    assert (vault / "backup").read_bytes() == before
    assert _contents(other) == ITEMS


def test_a_copy_of_the_main_file_alone_is_not_taken_for_an_empty_store(
    app: Zapomni, opened: Opened, tmp_path: Path
) -> None:
    app.remember("in the log")
    shutil.copy(app.config.store_path, tmp_path / "copy")
    found = app.restore(tmp_path / "copy", verify=True)
    assert found.memories > 0


@pytest.mark.slow
def test_other_processes_see_a_restored_store_and_their_writes_are_kept(app: Zapomni, tmp_path: Path) -> None:
    app.backup(tmp_path / "backup")
    environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.defpath, "HOME": str(tmp_path)}
    command = [sys.executable, "-c", WRITER, str(app.config.home)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environ
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        other.stdin.write("count\n")
        assert other.stdout.readline() == "51\n"
        generation = app.store.generation()
        app.restore(tmp_path / "backup", force=True)
        assert app.store.generation() > generation
        other.stdin.write("count\n")
        assert other.stdout.readline() == "50\n"
        other.stdin.write("write after the restore\n")
        written = other.stdout.readline().strip()
        other.stdin.close()
    assert app.show(written)[0].content == "after the restore"
    assert _contents(app) == {*ITEMS, "after the restore"}
    assert app.recall("restore").hits[0].memory.id == written
    assert all(check.ok for check in app.check())


def test_a_store_that_somebody_else_is_writing_to_is_not_restored_into(
    app: Zapomni, opened: Opened, tmp_path: Path
) -> None:
    app.backup(tmp_path / "backup")
    app.remember("later")
    settings = {"home": app.config.home, "embedder.provider": "none", "store.busy_timeout_ms": 50}
    hasty = Zapomni(load(settings, environ={}))
    other = apsw.Connection(str(app.config.store_path))
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            hasty.restore(tmp_path / "backup", force=True)
    finally:
        other.close()
        hasty.close()
    assert _contents(app) == {*ITEMS, "later"}


def test_no_process_takes_a_restored_store_s_vectors_for_those_it_knew(tmp_path: Path) -> None:
    config = load({"home": tmp_path / "store", "embedder.provider": "none"}, environ={})
    with Zapomni(config, embedder=Letters()) as app:
        for text in ("aaaa", "bbbb"):
            app.remember(text)
        app.embedding.drain()
        app.backup(tmp_path / "backup")
        for memory in app.store.page(Filter(), 10).memories:
            app.delete(memory.id, erase=True)
        for text in ("cccc", "dddd", "eeee"):
            app.remember(text)
        app.embedding.drain()
        assert _nearest(app, "c") == "cccc"
        app.restore(tmp_path / "backup", force=True)
        assert [_nearest(app, text) for text in "ab"] == ["aaaa", "bbbb"]
        app.remember("ffff")
        app.embedding.drain()
        assert [_nearest(app, text) for text in "abf"] == ["aaaa", "bbbb", "ffff"]


def test_revisions_go_on_behind_the_last_number_that_anybody_saw(app: Zapomni, tmp_path: Path) -> None:
    one = app.remember("Буй у первого пирса").id
    app.backup(tmp_path / "backup")
    for pier in ("второго", "третьего"):
        app.update(one, content=f"Буй у {pier} пирса")
    first, _, last = (revision.seq for revision in app.history(one)[1])
    app.restore(tmp_path / "backup", force=True)
    app.update(one, content="Буй у четвёртого пирса")
    assert [revision.seq for revision in app.history(one)[1]] == [first, last + 1]
    with pytest.raises(NotFound, match=f"no revision {last}"):
        app.undo(one, to=last)
    app.undo(one, to=first)
    assert "Буй у первого пирса" in _contents(app)


@pytest.mark.promise("backup.whole")
def test_what_others_write_during_a_restore_is_in_the_store_or_in_what_was_kept(
    app: Zapomni, opened: Opened, tmp_path: Path
) -> None:
    for no in range(100):
        app.remember(f"bulk {no} " + "lorem ipsum " * 200)
    app.backup(tmp_path / "backup")
    environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.defpath, "HOME": str(tmp_path)}
    command = [sys.executable, "-c", CONSTANT_WRITER, str(app.config.home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as other:
        assert other.stdout is not None
        acknowledged = [other.stdout.readline().strip()]
        kept = [app.restore(tmp_path / "backup", force=True).before for _ in range(3)]
        acknowledged += [other.stdout.readline().strip() for _ in range(3)]
        other.kill()
        acknowledged += other.stdout.read().split("\n")[:-1]
    found = _contents(app)
    for no, before in enumerate(kept):
        assert before is not None
        copy = opened(f"kept {no}")
        copy.restore(before)
        found |= _contents(copy)
    assert set(acknowledged) <= found


def test_a_store_that_was_written_to_since_it_was_looked_at_is_not_replaced_without_force(
    app: Zapomni, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.backup(tmp_path / "backup")
    other = opened("other")
    assert other.stats().memories == 0
    real = backup_part.copy

    def slow(*given: Any) -> None:
        other.remember("just now")
        real(*given)

    monkeypatch.setattr("zapomni.store.sqlite.file.copy", slow)
    with pytest.raises(Refused, match="holds 1 memory"):
        other.restore(tmp_path / "backup")
    assert _contents(other) == {"just now"}


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal", ".lock"])
def test_the_files_beside_the_store_are_no_target(app: Zapomni, end: str) -> None:
    store = app.config.store_path
    for target in (store.with_name(store.name + end), store.with_name(".anything.lock")):
        with pytest.raises(Refused):
            app.backup(target, force=True)


def test_several_backups_to_one_target_at_once_all_succeed(app: Zapomni, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        came = list(pool.map(lambda _: app.backup(tmp_path / "backup", force=True), range(8)))
    assert {done.memories for done in came} == {50}
    assert {path.name for path in tmp_path.iterdir()} == {"store", "backup"}
