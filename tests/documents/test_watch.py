"""The watcher: what changes is found soon, and what does not costs nothing."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.documents.conftest import REST, needs_proc, watches
from tests.servers import Server
from tests.trials.drivers_b import until

from zapomni.files import watching
from zapomni.files.walk import walk
from zapomni.services.documents import watch
from zapomni.services.documents.watch import Watcher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.documents.conftest import Desk, Watched

STORM = 2_000
ROUNDS = 20


@pytest.fixture
def server(desk: Desk) -> Iterator[Server]:
    """A server that watches the folder of the desk, which holds a file that is found."""
    desk.write("first.md", "# First\n\npebble\n")
    desk.app.documents.add(desk.root)
    with serving(desk) as made:
        until(lambda: desk.found("pebble"))
        yield made


@contextmanager
def serving(desk: Desk) -> Iterator[Server]:
    server = Server(desk.root.parent, ZAPOMNI_DOCUMENTS_DEBOUNCE_S=str(REST))
    try:
        server.handshake()
        server.good("memory_stats")  # background work begins with the first call
        yield server
    finally:
        server.stop()
    assert not server.noise


def stamps(root: Path) -> dict[str, tuple[int, int, int]]:
    infos = {str(path): path.stat() for path in root.rglob("*")}
    return {path: (info.st_mtime_ns, info.st_ctime_ns, info.st_size) for path, info in infos.items()}


# --- what changes ------------------------------------------------------------------------------------------
@pytest.mark.promise("documents.watched")
def test_a_new_a_changed_a_moved_and_a_deleted_file_are_found_as_they_are_now(desk: Desk, server: Server) -> None:
    file = desk.write("нота.md", "# Нота\n\nжуравль прилетел\n")
    until(lambda: desk.found("журавли") == ["нота.md"])
    desk.write("нота.md", "# Нота\n\nцапля прилетела\n")
    until(lambda: (desk.found("журавль"), desk.found("цапля")) == ([], ["нота.md"]))
    (desk.root / "deep/er").mkdir(parents=True)
    file.rename(desk.root / "deep/er/note.md")
    until(lambda: desk.found("цапля") == ["deep/er/note.md"])
    desk.write("deep/er/second.md", "# Second\n\nheron\n")
    until(lambda: desk.found("heron") == ["deep/er/second.md"])
    (desk.root / "deep/er/note.md").unlink()
    until(lambda: desk.found("цапля") == [])
    assert desk.found("pebble") == ["first.md"]
    assert server.errors == ""


@pytest.mark.promise("documents.watched")
def test_a_folder_that_was_removed_and_made_again_is_watched_again(watched: Watched) -> None:
    desk = watched.desk
    desk.write("src/a.md", "# A\n\nheron1\n")
    watched.start()
    for number in range(2, 5):
        shutil.rmtree(desk.root / "src")
        desk.write("src/a.md", f"# A\n\nheron{number}\n")
        until(partial(desk.found, f"heron{number}"))
        watched.settle()
        desk.write("src/b.md", f"# B\n\nwren{number}\n")
        until(partial(desk.found, f"wren{number}"))


@pytest.mark.promise("documents.watched")
def test_what_changes_elsewhere_while_folders_are_looked_up_is_found(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, other = watched.desk, tmp_path / "other"
    other.mkdir()
    desk.app.documents.add(other)
    watched.start()
    written = other / "late.md"

    def slow(root: str, *rest: Any, **more: Any) -> Any:
        found = walk(root, *rest, **more)
        if root == other.as_posix():
            written.write_text("# Late\n\nkestrel\n", encoding="utf-8")
        return found

    monkeypatch.setattr(watch, "walk", slow)
    desk.write("new folder/a.md", "# A\n\nheron\n")
    until(lambda: desk.found("heron"))
    until(lambda: desk.found("kestrel") == ["late.md"])


@pytest.mark.promise("documents.watched")
def test_a_gitignore_that_is_edited_counts_from_then_on(desk: Desk, server: Server) -> None:
    desk.write(".gitignore", "private/\n")
    desk.write("private/p.md", "# P\n\ndove\n")
    desk.write("open.md", "# O\n\nheron\n")
    until(lambda: desk.found("heron"))
    assert desk.found("dove") == []
    desk.write(".gitignore", "open.md\n")
    until(lambda: (desk.found("dove"), desk.found("heron")) == (["private/p.md"], []))
    desk.write("private/q.md", "# Q\n\nwren\n")
    until(lambda: desk.found("wren") == ["private/q.md"])
    assert server.errors == ""


@pytest.mark.promise("documents.watched")
def test_a_source_that_is_attached_let_go_of_or_given_patterns_is_noticed(watched: Watched, tmp_path: Path) -> None:
    desk, other = watched.desk, tmp_path / "alone.md"
    watched.start()
    other.write_text("# Alone\n\nheron1\n", encoding="utf-8")
    (tmp_path / "beside.md").write_text("# Beside\n\nheron1\n", encoding="utf-8")
    source = desk.app.documents.add(other)
    until(lambda: [hit.citation for hit in desk.app.documents.search("heron1").hits] == [f"{other}:1"])
    other.write_text("# Alone\n\nheron2\n", encoding="utf-8")
    until(lambda: desk.found("heron2"))
    desk.app.documents.remove(source.id)
    desk.app.documents.add(desk.root, exclude=["first.md"])
    until(lambda: desk.found("pebble") == [])
    assert desk.found("heron2") == []


# --- what costs nothing ------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.promise("documents.watched")
def test_a_storm_of_files_costs_a_few_scans_and_ends_right(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LONGEST", 1_000)  # however slow the machine is, the storm is over before a scan
    desk = watched.desk
    for n in range(30):
        desk.write(f"keep/n{n}.md", f"# Note {n}\n\npebble{n}\n")
    watched.start()
    before = watched.settle()
    for n in range(STORM):
        desk.write(f"branch/{n % 40}/f{n}.md", f"# File {n}\n\nmagpie{n}\n")
    shutil.rmtree(desk.root / "branch")
    desk.write("keep/new.md", "# New\n\nheron\n")
    until(lambda: desk.found("heron"))
    assert watched.settle() - before < 20
    assert desk.found("magpie7") == []
    assert desk.found("pebble29") == ["keep/n29.md"]
    assert desk.count("strays") == 0


@pytest.mark.promise("documents.watched")
def test_temporary_names_and_ignored_folders_cause_no_scan(watched: Watched) -> None:
    desk = watched.desk
    desk.write("node_modules/p/readme.md", "magpie\n")
    watched.start()
    before = watched.settle()
    for name in (".first.md.swp", "first.md~", ".#first.md", "~$first.docx", "first.md.tmp", ".syncthing.first.md.tmp"):
        desk.write(name, "magpie\n")
        (desk.root / name).unlink()
    desk.write("node_modules/p/readme.md", "magpie twice\n")
    desk.write("node_modules/q/readme.md", "magpie\n")
    desk.write(".git/index", "magpie\n")
    desk.write(".env", "KEY=magpie\n")
    desk.write("photo.png", b"\x89PNG")
    assert watched.settle() == before
    desk.write(".first.md.tmp", "# First\n\nheron\n")
    (desk.root / ".first.md.tmp").rename(desk.root / "first.md")
    until(lambda: desk.found("heron") == ["first.md"])


@needs_proc
@pytest.mark.promise("documents.watched")
def test_a_server_holds_a_watch_for_each_kept_folder_and_none_for_others(desk: Desk) -> None:
    desk.write(".gitignore", "private/\n")
    for n in range(12):
        desk.write(f"notes/{n}/d.md", f"# D\n\ndove{n}\n")
    for n in range(600):
        desk.write(f"node_modules/p{n}/README.md", "# pkg\n\nmagpie\n")
    for name in (".git/objects/00/o", ".obsidian/workspace.json", ".trash/old.md", "dist/app.js", "private/p.md"):
        desk.write(name, "magpie\n")
    desk.app.documents.add(desk.root)
    with serving(desk) as server:
        until(lambda: desk.found("dove11"))
        kept = 1 + 1 + 12  # the root, notes and the folders in it
        assert watches(server.process.pid) == kept
        desk.write("notes/new/d.md", "# D\n\nheron\n")
        until(lambda: desk.found("heron"))
        until(lambda: watches(server.process.pid) == kept + 1)


@needs_proc
@pytest.mark.promise("documents.watched")
def test_nothing_is_scanned_touched_or_computed_while_nothing_changes(watched: Watched) -> None:
    desk = watched.desk
    for n in range(50):
        desk.write(f"deep/{n % 5}/n{n}.md", f"# Note {n}\n\npebble{n}\n")
    watched.start()
    scans, before, spent = watched.settle(), stamps(desk.root), cpu_ticks(watched)
    watched.settle(rounds=ROUNDS)
    assert cpu_ticks(watched) - spent <= ROUNDS  # hundredths of a second: one a round, and a round is a minute
    assert len(watched.scans) == scans
    assert stamps(desk.root) == before


def cpu_ticks(watched: Watched) -> int:
    thread = watched.watcher._thread.native_id
    fields = Path(f"/proc/self/task/{thread}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.promise("documents.watched")
def test_the_end_of_a_server_does_not_wait_for_files_to_rest(desk: Desk) -> None:
    desk.write("first.md", "# First\n\npebble\n")
    desk.app.documents.add(desk.root)
    watcher = Watcher(desk.app.store.documents, lambda *_: None, rest_s=600)
    watcher.start()
    watcher.stop()
    assert not watcher._thread.is_alive()
