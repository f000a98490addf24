"""Rough days: long files, half lines, stores that are held for long, many who clear the spool, odd folders."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.hooks.events import claude_lines, context_of, hook_process
from tests.hooks.test_troubles import SAID, kept, spooled
from tests.servers import environment

from zapomni.errors import Unavailable
from zapomni.opening import open_memory
from zapomni.sessions import Sessions
from zapomni.store.sqlite.sessions import SqliteSessions
from zapomni.surfaces.cli.main import run
from zapomni.surfaces.hook import Late

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zapomni.model.session import Event

    Fire = Callable[..., Any]


def event(name: str, **fields: Any) -> bytes:
    return json.dumps({"hook_event_name": name, **fields}, ensure_ascii=False).encode()


@pytest.mark.promise("hooks.silent")
def test_of_a_transcript_of_fifty_megabytes_the_end_is_read(home: Path) -> None:
    file = home / "длинный.jsonl"
    talk = claude_lines(*[("assistant", "Reading the file and thinking about it. " * 20)] * 40).encode()
    with file.open("wb") as stream:
        while stream.tell() < 50 * 2**20:
            stream.write(talk)
        stream.write(claude_lines(("user", SAID)).encode())
    done = hook_process(home, "claude", event("Stop", session_id="s", cwd=str(home), transcript_path=str(file)))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")
    assert kept(home) == [SAID]
    assert not spooled(home)


@pytest.mark.promise("capture.what")
def test_a_half_line_at_the_end_waits_for_its_other_half(app: Any, home: Path, fire: Fire) -> None:
    file = home / "t.jsonl"
    later = "Решили: заказы магазина храним в PostgreSQL шестнадцать."
    lines = claude_lines(("user", SAID), ("assistant", "Понял."), ("user", later)).encode()
    half = len(lines) - 150
    for data, found in ((lines[:half], [SAID]), (lines + b"\xff\xfe {broken\n", [later, SAID])):
        file.write_bytes(data)
        fire("claude", "Stop", transcript_path=str(file))
        assert [memory.content for memory in app.list().memories if "session" not in memory.tags] == found


@pytest.mark.promise("hooks.silent")
@pytest.mark.parametrize("name", ["SessionStart", "BeforeAgent"])
def test_a_store_that_is_held_is_waited_for_once(
    app: Any, fire: Fire, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    app.remember("We never deploy the shop on Friday.", pinned=True)
    waits: list[str] = []

    def held(self: Any, session: str, *_: Any) -> None:
        waits.append(session)
        raise Unavailable("another process holds the store")

    monkeypatch.setattr(SqliteSessions, "mark", held)
    assert "Friday" in context_of(fire("gemini", name, source="startup", prompt="Do we deploy the shop on Friday?"))
    assert waits == ["s1"]


@pytest.mark.promise("hooks.spool")
def test_many_who_clear_the_spool_at_once_keep_everything_once(home: Path, fire: Fire) -> None:
    store = home / "data" / "memories.db"
    store.parent.mkdir()
    store.write_bytes(b"this is no store" * 100)
    said = [f"We decided to give the warehouse number {no} a shelf of its own." for no in range(24)]
    for no, text in enumerate(said):
        fire("claude", "Stop", f"s{no % 5}", last_assistant_message=text)
    assert len(spooled(home)) == len(said)
    store.unlink()
    with open_memory(home / "data"):
        pass
    data = event("SessionStart", session_id="x", cwd=str(home), source="startup")
    command = [sys.executable, "-m", "zapomni", "hook", "--client", "claude"]
    pipe = subprocess.PIPE
    several = [subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment(home)) for _ in range(5)]
    for one in several:
        _, err = one.communicate(data, timeout=100)
        assert (one.returncode, err) == (0, b"")
    while spooled(home):
        hook_process(home, "claude", event("SessionEnd", cwd=str(home)))
    assert sorted(kept(home)) == sorted(said)
    assert not list((home / "data/spool").rglob("*.json"))
    with open_memory(home / "data", scope="user") as app:
        records = [memory for memory in app.list(limit=100).memories if "session" in memory.tags]
    assert len(records) == 5, "one a session"


@pytest.mark.promise("hooks.spool")
@pytest.mark.parametrize("trouble", [Late(), OSError(28, "No space left on device")], ids=["late", "full"])
def test_who_runs_out_of_time_or_space_leaves_the_spool_to_the_next(
    home: Path, fire: Fire, monkeypatch: pytest.MonkeyPatch, trouble: Exception
) -> None:
    store = home / "data" / "memories.db"
    store.parent.mkdir()
    store.write_bytes(b"this is no store" * 100)
    fire("claude", "Stop", last_assistant_message=SAID)
    store.unlink()
    capture = Sessions.capture
    other = "We decided to give the warehouse number seven a shelf of its own."

    def stopped(self: Sessions, event: Event, **more: Any) -> Any:
        if event.said == SAID:
            raise trouble
        return capture(self, event, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Sessions, "capture", stopped)
        fire("claude", "Stop", "s2", last_assistant_message=other)
    assert kept(home) == [other]
    fire("claude", "SessionEnd", "s3")
    assert sorted(kept(home)) == sorted([SAID, other])
    assert not list((home / "data/spool").rglob("*.json"))


# --- where a session works -------------------------------------------------------------------------------
def git(folder: Path, *words: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture
def repository(home: Path) -> Path:
    folder = home / "репо с пробелом"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a").write_text("x")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    git(folder, "worktree", "add", "-q", "../дерево")
    (home / "ссылка").symlink_to(folder)
    return folder


@pytest.mark.promise("scope.place")
def test_worktrees_and_links_are_the_project_and_a_folder_that_is_gone_is_none(
    home: Path, repository: Path, fire: Fire
) -> None:
    places = [repository, home / "дерево", home / "ссылка", repository / "a", home / "ушло"]
    said = [f"We decided to give the warehouse number {no} a shelf of its own." for no in range(len(places))]
    for no, (place, text) in enumerate(zip(places, said, strict=True)):
        fire("claude", "Stop", f"s{no}", cwd=str(place), last_assistant_message=text)
    with open_memory(home / "data") as app:
        mine = app.list(scopes=[f"project:{repository.name}"]).memories
        assert sorted(memory.content for memory in mine if "session" not in memory.tags) == said[:4]
    assert kept(home) == said[4:]


@pytest.mark.promise("hooks.silent")
def test_a_locale_without_letters_of_ours_is_no_hindrance(home: Path, repository: Path) -> None:
    text = "Решили: заказы магазина храним в PostgreSQL шестнадцать."
    told = {"cwd": str(repository), "last_assistant_message": text}
    hook_process(home, "codex", event("Stop", session_id="1", **told), LC_ALL="C", LANG="C")
    start = event("SessionStart", session_id="2", cwd=str(repository), source="startup")
    done = hook_process(home, "codex", start, LC_ALL="POSIX")
    assert (done.returncode, done.stderr) == (0, b"")
    assert text in context_of(json.loads(done.stdout))


@pytest.mark.promise("hooks.silent")
def test_the_folder_that_a_hook_was_started_in_may_be_gone(home: Path) -> None:
    folder = home / "gone"
    folder.mkdir()
    command = f"cd {folder} && rmdir {folder} && exec {sys.executable} -m zapomni hook --client codex"
    done = subprocess.run(
        ["bash", "-c", command],
        input=event("Stop", session_id="s", last_assistant_message=SAID),
        capture_output=True,
        check=False,
        timeout=60,
        env=environment(home),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")
    assert kept(home) == [SAID]


@pytest.mark.promise("hooks.silent")
def test_a_folder_named_behind_the_command_counts_by_the_long_way_too(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older start of the command goes past `surfaces.start`."""
    data = event("Stop", session_id="s", cwd=str(home), last_assistant_message=SAID)
    monkeypatch.setattr("zapomni.surfaces.hook.read_input", lambda: data)
    monkeypatch.setattr("zapomni.surfaces.hook.write", str)
    assert run(["hook", "--client", "claude", "--home", str(home / "вторая")]) == 0
    with open_memory(home / "вторая", scope="user") as app:
        assert SAID in [memory.content for memory in app.list().memories]
