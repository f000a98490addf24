"""The watcher in trouble: disks, limits, names and processes that go away cost no change, and nothing ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest
from tests.documents.conftest import REST, needs_proc, watches
from tests.servers import environment
from tests.trials.drivers_b import until

from zapomni.errors import Unavailable
from zapomni.files.watching import watching
from zapomni.services.documents import watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.documents.conftest import Desk, Watched

LIMITED = """
import sys
from pathlib import Path
from threading import Event
from zapomni.errors import Unavailable
from zapomni.files.watching import watching
Path("/proc/sys/user/max_inotify_watches").write_text("10")
try:
    with watching(sys.argv[1:], rest_s=0.1, patience_s=0.1, stop=Event()):
        print("watched")
except Unavailable as error:
    print(error.message)
"""
"""Lowers the limit of its own user namespace alone."""
SERVE = """
import sys
from zapomni.services.documents import watch
from zapomni.surfaces.cli.main import main
watch.PATIENCE_S = 0.2
sys.argv[1:] = ["serve"]
main()
"""
"""A server that looks after others every fifth of a second, not every minute."""


# --- what goes wrong ---------------------------------------------------------------------------------------
@pytest.mark.promise("documents.watched")
@pytest.mark.parametrize("left", ["nothing", "an empty folder"])
def test_a_root_that_goes_away_and_comes_back_is_watched_again_and_loses_nothing(watched: Watched, left: str) -> None:
    desk, aside = watched.desk, watched.desk.root.with_name("aside")
    for n in range(10):
        desk.write(f"n{n}.md", f"# Note {n}\n\npebble{n}\n")
    watched.start()
    watched.settle()
    desk.root.rename(aside)
    if left == "an empty folder":  # as under a disk that was taken away
        desk.root.mkdir()
    until(lambda: desk.app.documents.sources()[0].problem)
    assert desk.found("pebble7") == ["n7.md"]
    watched.settle()
    if left == "an empty folder":
        desk.root.rmdir()
    aside.rename(desk.root)
    until(lambda: desk.app.documents.sources()[0].problem is None)
    watched.settle()
    desk.write("n7.md", "# Note 7\n\nheron\n")
    until(lambda: desk.found("heron") == ["n7.md"])


@pytest.mark.promise("documents.watched")
def test_a_disk_that_is_taken_away_and_put_back_is_noticed_though_the_system_tells_nothing(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def deaf(*_: object, stop: Event, **__: object) -> Iterator[Callable[[], frozenset[str] | None]]:
        yield lambda: None if stop.wait(0.01) else frozenset()

    monkeypatch.setattr(watch, "watching", deaf)
    desk, aside = watched.desk, watched.desk.root.with_name("aside")
    watched.start()
    watched.settle()
    desk.root.rename(aside)
    desk.root.mkdir()
    until(lambda: desk.app.documents.sources()[0].problem)
    desk.root.rmdir()
    aside.rename(desk.root)
    until(lambda: desk.app.documents.sources()[0].problem is None)
    assert desk.found("pebble") == ["first.md"]


@pytest.mark.promise("documents.watched")
def test_where_the_system_watches_no_more_files_are_looked_at_now_and_then(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @contextmanager
    def refused(*_: object, **__: object) -> Iterator[None]:
        raise Unavailable("2 folders cannot be watched (the limit is reached)")
        yield

    monkeypatch.setattr(watch, "watching", refused)
    watched.start()
    watched.desk.write("new.md", "# New\n\nheron\n")
    until(lambda: watched.desk.found("heron") == ["new.md"])
    assert "2 folders cannot be watched (the limit is reached)" in caplog.text
    assert "looking every" in caplog.text


def test_the_limit_of_watches_is_told_and_not_passed_over(tmp_path: Path) -> None:
    folders = [tmp_path / str(no) for no in range(30)]
    for folder in folders:
        folder.mkdir()
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", LIMITED, *map(str, folders)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment(tmp_path), check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system gives no user namespace to lower the limit in")
    assert "30 folders cannot be watched" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_not_utf_8_does_not_end_the_watching(watched: Watched) -> None:
    watched.start()
    watched.settle()
    with open(os.fsencode(watched.desk.root) + b"/\xff.md", "wb") as file:  # noqa: PTH123 - a Path is text
        file.write(b"magpie\n")
    watched.desk.write("new.md", "# New\n\nheron\n")
    until(lambda: watched.desk.found("heron"))
    watched.settle()
    watched.desk.write("newer.md", "# Newer\n\nwren\n")
    until(lambda: watched.desk.found("wren"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_change_of_a_name_that_is_not_utf_8_is_told_after_a_rest(tmp_path: Path) -> None:
    class Stop(Event):
        def wait(self, timeout: float | None = None) -> bool:
            rests.append(timeout)
            return False

    rests: list[float | None] = []
    with watching([str(tmp_path)], rest_s=REST, patience_s=60, stop=Stop()) as changes:
        with open(os.fsencode(tmp_path) + b"/\xff.md", "wb") as file:  # noqa: PTH123 - a Path is text
            file.write(b"magpie\n")
        assert changes() is None
    assert rests == [REST]


def test_a_scan_that_another_process_kept_from_being_is_made_up_for(watched: Watched) -> None:
    watched.start()
    watched.settle()
    with watched.desk.app.store.documents.worker_lock("scan") as mine:
        assert mine
        before = len(watched.scans)
        watched.desk.write("new.md", "# New\n\nheron\n")
        until(lambda: len(watched.scans) > before)
        assert watched.desk.found("heron") == []
    until(lambda: watched.desk.found("heron"))


# --- several processes --------------------------------------------------------------------------------------
@contextmanager
def impatient(desk: Desk) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(desk.root.parent, ZAPOMNI_DOCUMENTS_DEBOUNCE_S=str(REST)),
        cwd=desk.root.parent,
    )
    with process:
        assert process.stdin is not None
        for no, method in enumerate(("initialize", "tools/list"), 1):
            params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": no, "method": method, "params": params}).encode())
            process.stdin.write(b"\n")
            process.stdin.flush()
            assert process.stdout is not None
            assert process.stdout.readline()
        yield process
        process.kill()


@needs_proc
@pytest.mark.promise("documents.watched")
def test_of_two_servers_one_watches_and_the_other_takes_over_when_it_is_killed(desk: Desk) -> None:
    desk.write("first.md", "# First\n\npebble\n")
    desk.app.documents.add(desk.root)
    with impatient(desk) as one:
        until(lambda: watches(one.pid))
        with impatient(desk) as other:
            desk.write("new.md", "# New\n\nheron\n")
            until(lambda: desk.found("heron"))
            assert watches(other.pid) == 0
            one.kill()
            until(lambda: watches(other.pid))
            desk.write("newer.md", "# Newer\n\nwren\n")
            until(lambda: desk.found("wren"))


@needs_proc
@pytest.mark.promise("documents.watched", "documents.crash")
def test_a_scan_that_is_killed_in_the_middle_is_finished_by_the_next(desk: Desk) -> None:
    notes = 250
    for n in range(notes):
        desk.write(f"n{n}.md", f"# Note {n}\n\npebble{n}\n\n{'filler about gardens and tools. ' * 80}\n")
    desk.app.documents.add(desk.root)
    with impatient(desk) as server:
        until(lambda: documents(desk) > 20)
        (child,) = until(lambda: children(server.pid))
        os.kill(child, signal.SIGKILL)
        assert documents(desk) < notes
        until(lambda: documents(desk) == notes)
    assert desk.count("strays") == 0


def documents(desk: Desk) -> int:
    return desk.app.documents.status()[0].documents


def children(pid: int) -> list[int]:
    found = [task.joinpath("children").read_text().split() for task in Path(f"/proc/{pid}/task").iterdir()]
    return [int(child) for some in found for child in some]
