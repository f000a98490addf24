from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.hooks.events import CLIENTS, context_of, hook_process
from tests.servers import Server, environment

from zapomni.opening import open_memory
from zapomni.surfaces import hook
from zapomni.surfaces.hook import Call, answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Fire = Callable[..., Any]

SAID = "We decided to keep the orders of the shop in PostgreSQL sixteen."


def kept(home: Path) -> list[str]:
    with open_memory(home / "data", scope="user") as app:
        return [memory.content for memory in app.list(limit=1000).memories if "session" not in memory.tags]


def spooled(home: Path) -> list[Path]:
    return sorted((home / "data" / "spool").glob("*.json"))


# --- a store that cannot be written ----------------------------------------------------------------------
@pytest.mark.promise("hooks.spool")
def test_what_a_locked_store_could_not_take_is_kept_and_taken_by_the_next_hook(
    home: Path, fire: Fire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook, "PATIENCE_MS", 10)
    with open_memory(home / "data") as app:
        app.remember("We never deploy on Friday.", pinned=True)
    other = apsw.Connection(str(home / "data" / "memories.db"))
    other.execute("BEGIN IMMEDIATE")
    assert fire("claude", "Stop", last_assistant_message=f"{SAID} The token is ghp_{'a1B2' * 9}.") == {}
    assert "Friday" in context_of(fire("claude", "SessionStart", "s2", source="startup"))
    other.execute("ROLLBACK")
    other.close()
    (entry,) = spooled(home)
    assert entry.stat().st_mode & 0o777 == 0o600
    assert "ghp_" not in entry.read_text()
    assert SAID in context_of(fire("codex", "SessionStart", "s3", source="startup"))
    assert not spooled(home)


@pytest.mark.promise("hooks.spool")
def test_what_an_earlier_release_left_in_the_spool_is_kept_by_this_one(home: Path, fire: Fire) -> None:
    folder = home / "data" / "spool"
    folder.mkdir(parents=True)
    turns = [["user", "Where do we keep the orders?", "u1", "", 1], ["assistant", SAID, "u2", "", 2]]
    said = "We decided to give the warehouse number seven a shelf of its own."
    for name, told in {"a": ["", False, turns], "b": [said, False, []]}.items():
        entry = ["claude-code", "stop", "Stop", f"s{name}", str(home), "", "", "", *told]
        (folder / f"{name}.json").write_text(json.dumps(entry))
    fire("claude", "SessionStart", "s2", source="startup")
    assert sorted(kept(home)) == sorted([SAID, said])
    assert not spooled(home)


@pytest.mark.promise("hooks.spool")
def test_what_is_no_entry_of_the_spool_holds_up_none_behind_it(home: Path, fire: Fire) -> None:
    folder = home / "data" / "spool"
    (folder / "a.json").mkdir(parents=True)
    for name, text in {"b": "[" * 100_000, "c": "[1]", "d": "null", "e": "{", "f": '{"client": 1}'}.items():
        (folder / f"{name}.json").write_text(text)
    event = {"client": "claude-code", "moment": "stop", "session": "s1", "folder": str(home), "said": SAID}
    (folder / "g.json").write_text(json.dumps(event))
    with open_memory(home / "data") as app:
        app.remember("We never deploy on Friday.", pinned=True)
    assert "Friday" in context_of(fire("claude", "SessionStart", "s2", source="startup"))
    assert SAID in kept(home)
    assert [entry.name for entry in spooled(home)] == ["a.json"]


@pytest.mark.promise("hooks.spool")
@pytest.mark.parametrize("trouble", ["damaged", "newer", "folder"])
def test_a_store_that_cannot_be_opened_stops_no_client(home: Path, fire: Fire, trouble: str) -> None:
    store = home / "data" / "memories.db"
    with open_memory(home / "data") as app:
        app.remember("We never deploy on Friday.", pinned=True)
    good = store.read_bytes()
    if trouble == "damaged":
        store.write_bytes(b"this is no store" * 100)
    elif trouble == "newer":
        db = apsw.Connection(str(store))
        db.execute("PRAGMA user_version = 999")
        db.execute("INSERT INTO migrations VALUES (999, 'later', '', '')")
        db.close()
    else:
        store.unlink()
        store.mkdir()
    assert fire("claude", "SessionStart", source="startup") == {}
    assert fire("claude", "UserPromptSubmit", prompt="When do we deploy, on Friday?") == {}
    assert fire("claude", "Stop", last_assistant_message=SAID) == {}
    assert len(spooled(home)) == 1
    for left in store.parent.glob("memories.db*"):
        left.rmdir() if left.is_dir() else left.unlink()
    store.write_bytes(good)
    fire("claude", "SessionEnd", "s9")
    assert SAID in kept(home)


@pytest.mark.promise("hooks.spool")
def test_a_server_that_starts_takes_what_waits(home: Path, fire: Fire) -> None:
    store = home / "data" / "memories.db"
    store.parent.mkdir()
    store.write_bytes(b"this is no store" * 100)
    fire("claude", "Stop", last_assistant_message=SAID)
    store.unlink()
    server = Server(home)
    server.handshake()
    asked = 0
    while spooled(home) and asked < 1_000:
        server.ask("ping")
        asked += 1
    server.stop()
    assert SAID in kept(home)


def test_an_entry_that_nobody_can_read_is_put_aside(home: Path, fire: Fire) -> None:
    spool = home / "data" / "spool"
    spool.mkdir(parents=True)
    (spool / "a.json").write_text("{half")
    (spool / "b.json").write_text('["claude", "no such moment"]')
    fire("claude", "Stop", last_assistant_message=SAID)
    assert SAID in kept(home)
    assert sorted(file.name for file in (spool / "dead").iterdir()) == ["a.json", "b.json"]


@pytest.mark.promise("hooks.silent")
def test_where_nothing_can_be_written_the_client_goes_on(home: Path) -> None:
    (home / "data").write_text("a file in the place of the folder")
    event = json.dumps({"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": SAID}).encode()
    done = hook_process(home, "claude", event)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")


# --- settings that cannot be read ------------------------------------------------------------------------
OFF = "zapomni is off here"


def mended(path: Path) -> None:
    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


@pytest.mark.promise("hooks.spool", "settings.unreadable")
@pytest.mark.parametrize("trouble", ["folder", "link", "text", "value"])
@pytest.mark.parametrize("where", ["проект/.zapomni.toml", ".config/zapomni/config.toml"])
def test_what_comes_while_settings_cannot_be_read_is_told_and_waits(
    home: Path, fire: Fire, where: str, trouble: str
) -> None:
    below, broken = home / "проект" / "sub", home / where
    below.mkdir(parents=True)
    broken.parent.mkdir(parents=True, exist_ok=True)
    if trouble == "folder":
        broken.mkdir()
    elif trouble == "link":
        broken.symlink_to("nowhere.toml")
    else:
        broken.write_text("[recall" if trouble == "text" else 'recall.limit = "many"', encoding="utf-8")
    for event, more in (("SessionStart", {"source": "startup"}), ("UserPromptSubmit", {"prompt": "Where are they?"})):
        told = context_of(fire("claude", event, cwd=str(below), **more))
        assert OFF in told
        assert str(broken) in told
        assert told.startswith("<<<zapomni:recall")
    assert fire("claude", "Stop", cwd=str(below), last_assistant_message=SAID) == {}
    assert len(spooled(home)) == 1
    mended(broken)
    (home / "проект" / ".zapomni.toml").touch()
    assert SAID in context_of(fire("codex", "SessionStart", "s2", cwd=str(below), source="startup"))
    assert not spooled(home)
    assert SAID not in kept(home)


@pytest.mark.promise("hooks.spool")
def test_what_waits_for_the_settings_of_one_project_holds_up_no_other_and_lands_nowhere_else(
    home: Path, fire: Fire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zapomni.services.sessions.spool.MOST", 1)
    (home / "p" / "sub").mkdir(parents=True)
    broken = home / "p" / ".zapomni.toml"
    broken.symlink_to("nowhere.toml")
    for no in range(3):
        fire("claude", "Stop", f"s{no}", cwd=str(home / "p" / "sub"), last_assistant_message=SAID)
    other = "We decided to give the warehouse number seven a shelf of its own."
    event = {"client": "claude-code", "moment": "stop", "session": "s9", "folder": str(home / "work"), "said": other}
    (home / "data" / "spool" / "zz.json").write_text(json.dumps(event))
    fire("claude", "SessionStart", "s2", source="startup")
    assert len(spooled(home)) == 3
    assert kept(home) == [other]


@pytest.mark.promise("hooks.spool")
def test_what_waited_for_the_file_that_names_the_data_folder_is_taken_once_it_can_be_read(
    home: Path, fire: Fire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ZAPOMNI_HOME")
    own = home / ".config" / "zapomni" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("home = ")
    assert fire("claude", "Stop", last_assistant_message=SAID) == {}
    own.write_text(f'home = "{home / "data"}"')
    assert SAID in context_of(fire("codex", "SessionStart", "s2", source="startup"))
    assert not list(home.glob(".local/share/zapomni/spool/*.json"))


@pytest.mark.promise("hooks.silent")
@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_is_told_in_its_own_form_that_it_is_off(home: Path, client: str) -> None:
    (home / ".zapomni.toml").mkdir()
    for name in NAMES:
        event = {"hook_event_name": name, "session_id": "s", "cwd": str(home / "work"), "prompt": "Where?"}
        assert is_valid(client, answer(Call(client), json.dumps(event).encode()))


# --- input of any kind -----------------------------------------------------------------------------------
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
FIELDS = (
    *("session_id", "sessionId", "conversation_id", "taskId", "cwd", "workspace_roots", "transcript_path", "prompt"),
    *("source", "last_assistant_message", "stop_hook_active", "messages", "userPromptSubmit", "tool_info", "trigger"),
)
NAMES = (
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "PreCompact",
    "SessionEnd",
    "sessionStart",
    "stop",
    "TaskStart",
    "?",
)
EVENTS = st.fixed_dictionaries(
    {"hook_event_name": st.sampled_from(NAMES) | JSON},
    optional={name: JSON | st.text(alphabet="a/\0\ud800я\n", max_size=400) for name in FIELDS},
)


def is_valid(client: str, text: str) -> bool:
    if client == "windsurf":
        return text == ""
    if client == "kiro":
        return text == "" or text.startswith("<<<zapomni:recall")
    value = json.loads(text)
    allowed = {
        "cursor": {"continue", "additional_context"},
        "cline": {"cancel", "contextModification", "errorMessage"},
        "copilot": {"additionalContext"},
        "opencode": {"additionalContext"},
        "amp": {"additionalContext"},
    }.get(client, {"hookSpecificOutput"})
    return isinstance(value, dict) and set(value) <= allowed and value.get("continue", True) is True


@pytest.mark.promise("hooks.silent")
@given(client=st.sampled_from(CLIENTS), event=EVENTS | JSON)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_comes_in_a_valid_answer_goes_out(home: Path, client: str, event: Any) -> None:
    assert is_valid(client, answer(Call(client), json.dumps(event).encode("utf-8", "surrogatepass")))


@pytest.mark.promise("hooks.silent")
@given(client=st.sampled_from(CLIENTS), data=st.binary(max_size=300))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_that_are_no_event_get_a_valid_answer_too(home: Path, client: str, data: bytes) -> None:
    assert is_valid(client, answer(Call(client), data))


ODD = {
    "nothing": b"",
    "deep": b"[" * 100_000,
    "huge": json.dumps(
        {"hook_event_name": "UserPromptSubmit", "session_id": "x" * 10**6, "prompt": "я" * 10**6}
    ).encode(),
    "many": json.dumps(
        {"hook_event_name": "Stop", "session_id": "s", "messages": [{"role": "user"}] * 50_000}
    ).encode(),
    "path": json.dumps({"hook_event_name": "Stop", "session_id": "s", "transcript_path": "/dev/zero\0"}).encode(),
    "folder": json.dumps({"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/no/such/folder"}).encode(),
}


@pytest.mark.promise("hooks.silent")
@pytest.mark.parametrize("odd", ODD)
def test_a_process_ends_well_whatever_it_is_given(home: Path, odd: str) -> None:
    done = hook_process(home, "claude", ODD[odd])
    assert (done.returncode, done.stderr) == (0, b"")
    assert is_valid("claude", done.stdout.decode())


@pytest.mark.promise("hooks.silent")
@pytest.mark.parametrize(
    "words", [["--client"], ["--client", "nobody"], [], ["--wrong", "x"], ["--client=claude", "more"]]
)
def test_a_wrong_call_ends_well_too(home: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "zapomni", "hook", *words]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60, env=environment(home)
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")


@pytest.mark.promise("hooks.silent")
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "0<&- 1>&- 2>&-", ">/dev/full"])
def test_closed_and_full_streams_are_no_error(home: Path, closed: str) -> None:
    event = {"hook_event_name": "Stop", "session_id": "s", "cwd": str(home), "last_assistant_message": SAID}
    command = f"exec {sys.executable} -m zapomni hook --client claude {closed}"
    done = subprocess.run(
        ["bash", "-c", command],
        input=json.dumps(event).encode(),
        capture_output=True,
        check=False,
        timeout=60,
        env=environment(home),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if "0<&-" not in closed:
        assert SAID in kept(home)


# --- many at once ----------------------------------------------------------------------------------------
HORDE = """
import os, sys
import zapomni.parts, zapomni.services.sessions.capture, zapomni.sessions, zapomni.store.sqlite.write
from zapomni.surfaces import hook
children = []
for name in sys.argv[1:]:
    if not (child := os.fork()):
        os.dup2(os.open(name, os.O_RDONLY), 0)
        hook.main(["--client", "claude"])
    children.append(child)
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""
"""Hooks as processes of their own that begin together; importing is done once, or it would hold them apart."""


@pytest.mark.slow
@pytest.mark.promise("hooks.parallel")
def test_two_hundred_hooks_at_once_lose_nothing(home: Path) -> None:
    names = []
    for no in range(200):
        said = f"We decided to give the warehouse number {no} a shelf of its own."
        event = {"hook_event_name": "Stop", "session_id": f"p{no}", "cwd": str(home), "last_assistant_message": said}
        names.append(home / f"{no}.json")
        names[-1].write_text(json.dumps(event))
    command = [sys.executable, "-c", HORDE, *map(str, names)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=100, env=environment(home))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}" * 200, b"")
    while spooled(home):
        hook_process(home, "claude", json.dumps({"hook_event_name": "SessionEnd", "cwd": str(home)}).encode())
    assert len(kept(home)) == 200


@pytest.mark.promise("hooks.silent")
def test_a_client_that_never_ends_its_event_is_answered_in_time(home: Path) -> None:
    code = "import zapomni.surfaces.hook as hook; hook.DEADLINE_S = 0.2; hook.main(['--client', 'claude'])"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(home)) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"hook_event_name": ')
        process.stdin.flush()
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b"{}"
