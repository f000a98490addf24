"""What a process says and does whose store file goes, or is replaced, while it has it open."""

from __future__ import annotations

import shutil
import threading
from array import array
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import apsw
import pytest
from tests.trials import drivers_b as drive

from zapomni.errors import Unavailable
from zapomni.model import Filter
from zapomni.opening import open_memory
from zapomni.store.sqlite import connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from zapomni.app import Zapomni

world = drive.world


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[], Zapomni]]:
    apps: list[Zapomni] = []

    def make() -> Zapomni:
        apps.append(open_memory(tmp_path / "store", **{"embedder.provider": "none"}))
        return apps[-1]

    yield make
    for app in apps:
        app.close()


def contents(app: Zapomni) -> list[str]:
    return sorted(memory.content for memory in app.list().memories)


@pytest.mark.promise("store.lost")
@pytest.mark.parametrize("pattern", ["memories.db*", "memories.db"])
def test_of_a_store_that_was_removed_nothing_is_read_and_into_it_nothing_written(
    opened: Callable[[], Zapomni], pattern: str
) -> None:
    app = opened()
    app.remember("Сервис живёт в Риге")
    path = app.config.store_path
    for file in path.parent.glob(pattern):
        file.unlink()
    for ask in (lambda: app.remember("Lost on the way"), app.list, app.stats):
        with pytest.raises(Unavailable, match="was removed while it was open") as told:
            ask()
        assert "zapomni restore" in told.value.remedy
    other = opened()  # a new one is made, as anywhere
    other.remember("A new beginning")
    app.remember("И снова вместе")
    assert contents(app) == contents(other) == ["A new beginning", "И снова вместе"]
    assert [check.name for check in other.check() if not check.ok] == []


@pytest.mark.promise("store.lost")
def test_another_file_put_in_its_place_is_the_store_for_every_thread(
    opened: Callable[[], Zapomni], tmp_path: Path
) -> None:
    app = opened()
    app.remember("as it was saved")
    app.backup(tmp_path / "copy.db")
    app.remember("written after the backup")
    path, done, found = app.config.store_path, threading.Event(), []

    def look() -> None:
        found.append(contents(app))
        done.wait(60)
        found.append(contents(app))

    thread = threading.Thread(target=look)
    thread.start()
    drive.until(lambda: found)
    shutil.copy(tmp_path / "copy.db", tmp_path / "store" / "coming")
    (tmp_path / "store" / "coming").replace(path)
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    app.remember("written into what stands there")
    done.set()
    thread.join()
    assert found == [
        ["as it was saved", "written after the backup"],
        ["as it was saved", "written into what stands there"],
    ]
    assert contents(opened()) == found[1]


@pytest.mark.promise("store.lost")
def test_a_file_moved_over_an_open_store_is_left_alone_while_the_journal_of_the_one_before_lies_there(
    opened: Callable[[], Zapomni], tmp_path: Path
) -> None:
    with open_memory(tmp_path / "other", **{"embedder.provider": "none"}) as other:
        for no in range(50):
            other.remember(f"Другая память {no} " + "lorem ipsum " * 40)
        moved = other.config.store_path
    app = opened()
    app.remember("Буй у третьего пирса")
    path, before = app.config.store_path, tmp_path / "before.db"
    log = path.with_name(path.name + "-wal")
    whole = moved.read_bytes()
    before.hardlink_to(path)
    moved.replace(path)

    def refused() -> None:
        for ask in (lambda: app.remember("Lost on the way"), app.list, app.stats):
            with pytest.raises(Unavailable, match="another file was put in the place of the store") as told:
                ask()
            assert str(log) in told.value.remedy

    refused()
    with ThreadPoolExecutor(1) as pool:  # a thread that had nothing open yet
        pool.submit(refused).result()
    assert path.read_bytes() == whole
    path.rename(moved)
    before.rename(path)
    assert contents(app) == ["Буй у третьего пирса"]
    app.remember("И снова вместе")
    assert [check.name for check in app.check() if not check.ok] == []
    moved.replace(path)
    refused()
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink()
    assert app.list().total == 50
    app.remember("written into what stands there")
    assert [check.name for check in opened().check() if not check.ok] == []
    assert app.list().total == 51


@pytest.mark.promise("store.lost")
def test_so_is_a_file_that_comes_after_a_process_has_seen_that_the_one_before_is_gone(
    opened: Callable[[], Zapomni], tmp_path: Path
) -> None:
    with open_memory(tmp_path / "other", **{"embedder.provider": "none"}) as other:
        other.remember("Другая память")
        moved = other.config.store_path
    app = opened()
    app.remember("Буй у третьего пирса")
    path, before, whole = app.config.store_path, tmp_path / "before.db", moved.read_bytes()
    path.rename(before)
    with pytest.raises(Unavailable, match="was removed while it was open"):
        app.list()
    moved.rename(path)
    for ask in (lambda: app.remember("Lost on the way"), app.list):
        with pytest.raises(Unavailable, match="another file was put in the place of the store"):
            ask()
    assert path.read_bytes() == whole
    path.rename(moved)
    with pytest.raises(Unavailable, match="was removed while it was open"):
        app.list()
    before.rename(path)
    assert contents(app) == ["Буй у третьего пирса"]


@pytest.mark.promise("store.lost")
def test_a_store_removed_in_the_midst_of_a_write_acknowledges_nothing(opened: Callable[[], Zapomni]) -> None:
    app = opened()
    app.remember("before")
    path = app.config.store_path
    with pytest.raises(Unavailable, match="while it was written"), app.store.write():
        path.rename(path.with_name("away"))
    path.with_name("away").rename(path)
    assert contents(app) == ["before"]


@pytest.mark.parametrize("number", ["another", "the same"])
def test_vectors_in_memory_go_with_the_file_that_they_are_of(
    opened: Callable[[], Zapomni], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    if number == "the same":  # disks give that of a removed file to the next one
        monkeypatch.setattr(connection, "_identity", lambda path: (1, 1) if path.exists() else None)

    def filled(app: Zapomni, text: str, vector: list[float]) -> None:
        memory = app.remember(text).memory
        assert memory is not None
        space = app.store.open_space("p", "m", 2, 1, None)
        app.store.save_vectors(space.no, {b"d": array("f", vector)}, [(memory, [b"d"])])
        app.store.activate(space.no)

    def nearest(app: Zapomni) -> list[tuple[str, float]]:
        space = app.store.spaces()[0]
        (both,) = {tuple(app.store.nearest(space, array("f", [1.0, 0.0]), Filter(), 5)) for _ in range(3)}
        return [(app.store.fetch([no])[no].content, round(cosine, 3)) for no, cosine in both]

    app = opened()
    filled(app, "the first store", [1.0, 0.0])
    assert nearest(app) == [("the first store", 1.0)]
    for file in (tmp_path / "store").glob("memories.db*"):
        file.unlink()
    with pytest.raises(Unavailable):
        app.list()
    filled(opened(), "the second store", [0.0, 1.0])
    assert nearest(app) == [("the second store", 0.0)]


@pytest.mark.promise("store.migrates")
def test_a_process_writes_nothing_into_a_store_that_a_newer_release_has_changed_under_it(
    opened: Callable[[], Zapomni],
) -> None:
    app = opened()
    app.remember("Сервис живёт в Риге")
    newer = apsw.Connection(str(app.config.store_path))
    newer.execute("PRAGMA user_version = 999")
    with pytest.raises(Unavailable, match="another schema") as told:
        app.remember("Lost on the way")
    assert "start this program again" in told.value.remedy
    assert contents(app) == ["Сервис живёт в Риге"]
    newer.close()


@pytest.mark.promise("store.lost")
def test_background_work_does_not_make_the_folder_of_a_moved_store_anew(
    opened: Callable[[], Zapomni], tmp_path: Path
) -> None:
    app = opened()
    app.remember("Сервис живёт в Риге")
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    with pytest.raises(Unavailable, match="is gone"), app.store.worker_lock("embed"):
        pass
    assert not (tmp_path / "store").exists()
    (tmp_path / "elsewhere").rename(tmp_path / "store")
    assert contents(app) == ["Сервис живёт в Риге"]


@pytest.mark.promise("store.lost")
def test_a_server_whose_store_was_removed_says_so_and_goes_on_when_one_stands_there_again(world: drive.World) -> None:
    world.zap("store", "kept in a backup")
    world.zap("backup", "copy.db")
    server = world.server()
    server.good("store_memory", content="said to the server")
    shutil.rmtree(world.store.parent)
    for answer in (
        server.call("store_memory", content="into the void"),
        server.call("recall_memory", query="void"),
    ):
        assert answer["isError"]
        assert "was removed while it was open" in str(answer["content"])
    assert not world.store.exists()
    world.zap("restore", str(world.home / "copy.db"))
    server.good("store_memory", content="said after the restore")
    assert sorted(world.contents()) == ["kept in a backup", "said after the restore"]


@pytest.mark.promise("store.lost", "store.shared")
def test_an_empty_store_file_is_told_with_what_to_do_and_a_backup_takes_its_place(world: drive.World) -> None:
    world.zap("store", "kept in a backup")
    world.zap("backup", "copy.db")
    for file in world.store.parent.glob("memories.db-*"):
        file.unlink()
    world.store.write_bytes(b"")
    for words in (["recall", "backup"], ["store", "another"], ["list"]):
        told = world.zap(*words, status=8)["error"]
        assert "is empty" in told["message"]
        assert "zapomni restore" in told["remedy"]
        assert "begin anew" in told["remedy"]
    (found,) = [check for check in world.zap("doctor", status=8)["checks"] if not check["ok"]]
    assert "is empty" in found["detail"]
    assert "begin anew" in found["remedy"]
    assert world.store.read_bytes() == b""
    world.zap("restore", str(world.home / "copy.db"))
    assert world.contents() == ["kept in a backup"]


@pytest.mark.promise("store.shared")
def test_a_first_start_of_many_processes_at_once_makes_one_whole_store(world: drive.World) -> None:
    started = [world.start("store", f"first {no}") for no in range(6)]
    for process in started:
        _, errors = process.communicate(timeout=drive.DEADLINE)
        assert process.returncode == 0, errors
    assert sorted(world.contents()) == [f"first {no}" for no in range(6)]
    assert sorted(file.name for file in world.store.parent.glob(".memories.db*")) == []
