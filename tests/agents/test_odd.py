"""Files as they really lie about: whatever they hold, setup and removal leave it, or name why they touch nothing."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest
from tests.agents.trees import folders, plant, tree

from zapomni.agents import desk, disk
from zapomni.agents.clients import CLIENTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]

BOM: Final = b"\xef\xbb\xbf"
JSON: Final = {
    "nothing": b"",
    "white space": b" \n\n",
    "only a mark": BOM,
    "only comments": b"// c\n/* d */\n",
    "a comment without an end of line": b"// x",
    "CRLF": b'{\r\n  // x\r\n  "a": 1\r\n}\r\n',
    "CR": b'{\r"a":1\r}\r',
    "mark, CRLF, tab and comma": BOM + b'{\r\n\t"a": 1,\r\n}\r\n',
    "trailing commas": b'{"mcpServers": {"a": {"command": "x",},}, "hooks": {"Stop": [{"hooks": [],},],},}',
    "tabs": b'{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}',
    "a comment behind": b'{"a":1} // x',
    "a name twice": b'{"mcpServers":{"a":1},"mcpServers":{"b":2},"hooks":{"Stop":[]},"hooks":{}}',
    "ours twice": b'{"mcpServers":{"zapomni":{"command":"zapomni","args":["serve"]},'
    b'"zapomni":{"command":"zapomni","args":["serve"]}}}',
    "theirs, then ours": b'{"mcpServers":{"zapomni":{"command":"npx"},"zapomni":{"command":"zapomni","args":["serve"]}}}',
    "theirs by our name": b'{"mcpServers":{"zapomni":{"command":"npx"}}}',
    "cp1251": '{"a":"кто"}'.encode("cp1251"),
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "null": b"null",
    "nulls": b'{"mcpServers": null, "hooks": null}',
    "lists": b'{"mcpServers": [], "hooks": []}',
    "an event of null": b'{"hooks": {"sessionStart": null, "SessionStart": null}}',
    "an event of text": b'{"hooks": {"sessionStart": "x", "SessionStart": {"a": 1}}}',
    "a list": b"[]",
    "a number": b"1",
    "a NUL": b'{"a":1}\0',
    "single quotes": b"{'a':1}",
    "NaN": b'{"a":NaN}',
    "a comment of another language": b'# c\n{"a":1}',
    "half a character": b'{"a":"\\ud800"}',
    "a hard space": '{\u00a0"a":1}'.encode(),
    "separators of lines": '{"a":"\u2028", // \u2028\n"b":2}'.encode(),
    "deep": b'{"a":' + b"[" * 90 + b"]" * 90 + b"}",
    "too deep": b'{"a":' + b"[" * 900 + b"]" * 900 + b"}",
    "a long number": b'{"a":' + b"9" * 5000 + b"}",
    "not closed": b'{"mcpServers": {"a": {',
    "a merge": b'<<<<<<< HEAD\n{"a":1}\n=======\n{"a":2}\n>>>>>>> x\n',
}
TOML: Final = {
    "nothing": b"",
    "a comment": b"# x",
    "CRLF": b'a = 1\r\n[mcp_servers.b]\r\ncommand="x"\r\n',
    "a mark": BOM + b"a = 1\n",
    "in one piece": b'mcp_servers = {b={command="x"}}\n',
    "no end of line": b"a=1",
    "a name twice": b"a=1\na=2\n",
    "theirs by our name": b'[mcp_servers.zapomni]\ncommand="npx"\n',
    "dotted": b'mcp_servers.b.command="x"\n',
    "a header in a text": b'a = """\n[mcp_servers.zapomni]\n"""\n',
    "quoted": b'["mcp_servers"."zapomni"]\ncommand="zapomni"\nargs=["serve"]\n',
    "spaced": b'[ mcp_servers . zapomni ] # x\ncommand="zapomni"\nargs=["serve"]\n\n[ a ]\n',
    "tables in a list": b"[[x]]\na=1\n[[x]]\na=2\n",
    "a text": b'mcp_servers = "x"\n',
    "a list": b"[[mcp_servers]]\na=1\n",
    "CR": b"a = 1\r",
    "a date": b"[mcp_servers.zapomni]\ncommand='zapomni'\nargs=['serve']\nsince=2026-01-01\nbig=inf\n",
}
YAML: Final = {
    "nothing": b"",
    "a comment": b"# x",
    "a beginning": b"---\na: 1\n",
    "two documents": b"---\na: 1\n---\nb: 2\n",
    "an end": b"a: 1\n...\n",
    "CRLF": b"a: 1\r\nextensions:\r\n  b:\r\n    cmd: x\r\n",
    "a mark": BOM + b"a: 1\n",
    "flow": b"{a: 1}",
    "tabs": b"a:\n\tb: 1\n",
    "an alias": b"x: &x {a: 1}\nextensions:\n  b: *x\n",
    "an alias for all": b"x: &x\n  a: {}\nextensions: *x\n",
    "a merge": b"x: &x\n  a: 1\nextensions:\n  <<: *x\n",
    "null": b"extensions:\n",
    "null, then more": b"extensions:\nb: 1\n",
    "empty": b"extensions: {}\n",
    "a list": b"- a\n",
    "a name twice": b"extensions:\n  a: {}\nextensions:\n  b: {}\n",
    "a tag": b"a: !foo 1\n",
    "theirs by our name": b"extensions:\n  zapomni:\n    cmd: npx\n",
    "no end of line": b"extensions:\n  a:\n    cmd: x",
    "a long text": b"extensions:\n  a:\n    cmd: |\n      x\n      y\n",
}
TEXT: Final = {
    "nothing": b"",
    "no end of line": b"a",
    "CRLF": b"a\r\nb\r\n",
    "a mark": BOM + "привет\n".encode(),
    "a beginning alone": b"x\n<!-- zapomni:begin -->\nfoo\n",
    "an end alone": b"x\n<!-- zapomni:end -->\n",
    "an end, then a beginning": b"<!-- zapomni:end -->\nx\n<!-- zapomni:begin -->\n",
}
FILES: Final = (
    *((("cursor", ".cursor/mcp.json"), name, data) for name, data in JSON.items()),
    *((("cursor", ".cursor/hooks.json"), name, data) for name, data in JSON.items()),
    *((("gemini", ".gemini/settings.json"), name, data) for name, data in JSON.items()),
    *((("codex", ".codex/config.toml"), name, data) for name, data in TOML.items()),
    *((("codex", ".codex/AGENTS.md"), name, data) for name, data in TEXT.items()),
    *((("goose", ".config/goose/config.yaml"), name, data) for name, data in YAML.items()),
)


@pytest.mark.promise("setup.identity")
@pytest.mark.promise("setup.foreign")
@pytest.mark.parametrize(("where", "name", "data"), FILES, ids=[f"{where[1]}: {name}" for where, name, _ in FILES])
def test_whatever_a_file_holds_it_is_left_or_given_back(
    zap: Zap, person: Path, where: tuple[str, str], name: str, data: bytes
) -> None:
    client, place = where
    file = person / "home" / place
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    before, kept = tree(person), folders(person)
    foretold = zap("setup", client, "--dry-run", "--json")
    assert (tree(person), folders(person)) == (before, kept)
    assert not (person / "store").exists()
    done = zap("setup", client, "--json")
    assert (done.status, done.json["steps"]) == (foretold.status, foretold.json["steps"])
    skipped = [step for step in done.json["steps"] if step["outcome"] == "skipped"]
    assert done.status == (6 if skipped else 0), done.err
    assert all(step["why"] for step in skipped)
    if skipped and place != ".gemini/settings.json":
        assert file.read_bytes() == data
    after = tree(person)
    assert zap("setup", client).status == done.status
    assert tree(person) == after, "twice is once"
    assert zap("setup", "--remove").status in {0, 6}
    assert (tree(person), folders(person)) == (before, kept)
    assert zap("setup", "--remove").status in {0, 6}


@pytest.mark.promise("setup.identity")
def test_of_two_blocks_of_ours_one_is_left_and_then_none(zap: Zap, person: Path) -> None:
    file = person / "home/.codex/AGENTS.md"
    file.parent.mkdir()
    block = "<!-- zapomni:begin -->\n{}\n<!-- zapomni:end -->\n"
    file.write_text(f"до\n\n{block.format('старое')}между\n\n{block.format('ещё')}после\n")
    zap("setup", "codex")
    assert file.read_text().count("<!-- zapomni:begin -->") == 1
    zap("setup", "--remove")
    assert file.read_text() == "до\nмежду\nпосле\n"


@pytest.mark.promise("setup.foreign")
def test_what_stands_between_a_mark_without_its_end_and_our_block_is_not_ours(zap: Zap, person: Path) -> None:
    file = person / "home/.codex/AGENTS.md"
    file.parent.mkdir()
    file.write_text("<!-- zapomni:begin -->\nмоё\n")
    for _ in range(2):
        zap("setup", "codex")
        assert file.read_text().startswith("<!-- zapomni:begin -->\nмоё\n\n<!-- zapomni:begin -->\n")


# --- what is no plain file ------------------------------------------------------------------------------
@pytest.fixture
def config(person: Path) -> Path:
    file = person / "home/.cursor/mcp.json"
    file.parent.mkdir()
    return file


def server_step(done: Any) -> dict[str, Any]:
    found: dict[str, Any] = next(step for step in done.json["steps"] if step["part"] == "server")
    return found


@pytest.mark.promise("setup.foreign")
def test_a_folder_in_the_place_of_a_file_is_named(zap: Zap, config: Path) -> None:
    config.mkdir()
    done = zap("setup", "cursor", "--json")
    assert (done.status, server_step(done)["outcome"]) == (6, "skipped")
    assert "cannot be read" in server_step(done)["why"]
    assert zap("setup", "--remove").status in {0, 6}
    assert config.is_dir()


@pytest.mark.promise("setup.foreign")
def test_a_file_in_the_place_of_a_folder_is_named(zap: Zap, person: Path) -> None:
    (person / "home/.cursor").write_text("a file")
    done = zap("setup", "cursor", "--json")
    assert done.status == 6
    assert {step["outcome"] for step in done.json["steps"] if "/.cursor/" in step["file"]} == {"skipped"}
    assert zap("setup", "--remove").status in {0, 6}
    assert (person / "home/.cursor").read_text() == "a file"


@pytest.mark.promise("setup.foreign")
def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(zap: Zap, config: Path) -> None:
    os.mkfifo(config)
    done = zap("setup", "cursor", "--json")
    assert server_step(done)["outcome"] == "skipped"
    assert zap("setup", "--list").status == 0
    assert stat.S_ISFIFO(config.stat().st_mode)


@pytest.mark.promise("setup.foreign")
def test_a_file_that_is_too_big_is_left_unread(zap: Zap, config: Path) -> None:
    with config.open("wb") as stream:
        stream.truncate(disk.LIMIT + 1)
    done = zap("setup", "cursor", "--json")
    assert "bytes" in server_step(done)["why"]
    assert config.stat().st_size == disk.LIMIT + 1


@pytest.mark.promise("setup.identity")
def test_a_file_that_is_for_reading_alone_keeps_its_rights(zap: Zap, config: Path) -> None:
    config.write_text("{}")
    config.chmod(0o400)
    zap("setup", "cursor")
    assert stat.S_IMODE(config.stat().st_mode) == 0o400
    zap("setup", "--remove")
    assert (config.read_text(), stat.S_IMODE(config.stat().st_mode)) == ("{}", 0o400)


@pytest.mark.promise("setup.identity")
@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing yet"])
def test_links_of_a_manager_of_settings_stay_links(zap: Zap, person: Path, *, there: bool) -> None:
    """One of a file, relative, in a folder that is a link itself."""
    dots = person / "home/dots"
    (dots / "cursor").mkdir(parents=True)
    (person / "home/.cursor").symlink_to("dots/cursor")
    (dots / "cursor/mcp.json").symlink_to("../real.json")
    if there:
        (dots / "real.json").write_text("{}\n")
    zap("setup", "cursor")
    assert "zapomni" in (dots / "real.json").read_text()
    zap("setup", "--remove")
    assert (person / "home/.cursor").is_symlink()
    assert str((dots / "cursor/mcp.json").readlink()) == "../real.json"
    assert (dots / "real.json").exists() == there
    assert not there or (dots / "real.json").read_text() == "{}\n"


@pytest.mark.promise("setup.foreign")
def test_a_link_that_leads_round_in_a_circle_is_named(zap: Zap, config: Path) -> None:
    config.symlink_to(config.name)
    done = zap("setup", "cursor", "--json")
    assert server_step(done)["outcome"] == "skipped"
    assert zap("setup", "--list").status == 0
    assert zap("setup", "--remove").status in {0, 6}
    assert config.is_symlink()


@pytest.mark.promise("setup.identity")
def test_a_file_by_two_ways_is_one_file(zap: Zap, person: Path) -> None:
    """Instructions of Claude Code and Codex are often one file and a link to it."""
    (person / "home/.codex").mkdir()
    (person / "home/.claude").mkdir()
    (person / "home/.codex/AGENTS.md").write_text("моё\n")
    (person / "home/.claude/CLAUDE.md").symlink_to("../.codex/AGENTS.md")
    zap("setup", "claude-code", "codex")
    text = (person / "home/.codex/AGENTS.md").read_text()
    assert text.count("<!-- zapomni:begin -->") == 1
    assert zap("setup", "claude-code", "codex", "--json").json["files"] == []
    zap("setup", "--remove")
    assert (person / "home/.codex/AGENTS.md").read_text() == "моё\n"
    assert (person / "home/.claude/CLAUDE.md").is_symlink()


@pytest.mark.promise("setup.identity")
@pytest.mark.parametrize("names", [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_instructions_of_a_project_that_are_one_file_by_a_link_are_wired_once(
    zap: Zap, person: Path, names: tuple[str, str]
) -> None:
    link, real = (person / "project" / name for name in names)
    real.write_text("Пиши кратко.\n")
    link.symlink_to(real.name)
    for run, outcomes in (("first", ["added", "present"]), ("again", ["present", "present"])):
        done = zap("setup", "--scope", "project", "claude-code", "codex", "--json")
        rules = [step for step in done.json["steps"] if step["part"] == "rules"]
        assert (done.status, [step["outcome"] for step in rules]) == (0, outcomes), run
    assert real.read_text().count("<!-- zapomni:begin -->") == 1
    assert zap("setup", "--scope", "project", "--remove", "claude-code").status == 0
    assert "zapomni:begin" in real.read_text()
    assert zap("setup", "--scope", "project", "--remove", "codex").status == 0
    assert (real.read_text(), link.is_symlink()) == ("Пиши кратко.\n", True)


# --- others who write ------------------------------------------------------------------------------------
@pytest.mark.promise("setup.foreign")
def test_what_another_program_writes_meanwhile_is_not_overwritten(
    zap: Zap, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("{}")
    write = desk.Desk.write

    def late(self: desk.Desk, file: Path) -> None:
        if file == config:
            config.write_text('{"theirs": 1}')
        write(self, file)

    monkeypatch.setattr(desk.Desk, "write", late)
    done = zap("setup", "cursor", "--json")
    assert "another program" in server_step(done)["why"]
    assert config.read_text() == '{"theirs": 1}'
    monkeypatch.undo()


@pytest.mark.promise("setup.identity")
def test_what_a_person_took_out_by_hand_is_no_trouble(zap: Zap, person: Path) -> None:
    zap("setup", "cursor")
    cursor = person / "home/.cursor"
    (cursor / "mcp.json").write_text('{\n  "mcpServers": {\n  }\n}\n')
    hooked = json.loads((cursor / "hooks.json").read_text())
    del hooked["hooks"]["stop"]
    (cursor / "hooks.json").write_text(json.dumps(hooked))
    (person / "home/.agents/skills/zapomni/SKILL.md").unlink()
    assert zap("setup", "--remove").status == 0
    assert b"zapomni" not in b"".join(tree(person).values())
    assert not (person / "home/.agents").exists()


@pytest.mark.promise("setup.identity")
def test_removing_twice_and_where_nothing_is_changes_nothing(zap: Zap, person: Path) -> None:
    for client in CLIENTS:
        plant(client, person)
    before = tree(person), folders(person)
    assert zap("setup", "--remove").out == "nothing to do\n"
    assert (tree(person), folders(person)) == before
    zap("setup", *CLIENTS)
    assert zap("setup", "--remove").status == 0
    assert zap("setup", "--remove").out == "nothing to do\n"
    assert (tree(person), folders(person)) == before
    assert not (person / "store/setup").exists()


# --- killed in the midst ---------------------------------------------------------------------------------
KILLED: Final = """
import os, signal, sys
left = [int(sys.argv.pop(1))]
def counting(handle, sync=os.fsync):
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    sync(handle)
os.fsync = counting
from zapomni.surfaces.cli.main import run
run(sys.argv[1:])
"""


@pytest.mark.promise("setup.killed")
@pytest.mark.parametrize("writes", [0, 1, 2, 3, 4, 6])
def test_setup_that_is_killed_between_two_files_is_finished_or_taken_back(zap: Zap, person: Path, writes: int) -> None:
    for client in ("cursor", "gemini", "codex"):
        plant(client, person)
    before = tree(person)
    words = [sys.executable, "-c", KILLED, str(writes), "setup", "cursor", "gemini", "codex"]
    assert subprocess.run(words, check=False, capture_output=True, timeout=60).returncode == -signal.SIGKILL
    gone = zap("setup", "--remove")
    assert gone.status == 0
    assert tree(person) == before
    assert not (person / "store/setup").exists()


@pytest.mark.promise("setup.killed")
def test_setup_that_was_killed_is_finished_by_the_next(zap: Zap, person: Path) -> None:
    plant("cursor", person)
    words = [sys.executable, "-c", KILLED, "4", "setup", "cursor"]
    assert subprocess.run(words, check=False, capture_output=True, timeout=60).returncode == -signal.SIGKILL
    assert zap("setup", "cursor").status == 0
    assert not list(person.rglob("*.part"))


@pytest.mark.promise("setup.told")
def test_a_home_with_spaces_quotes_and_cyrillic_gets_a_hook_that_runs(
    zap: Zap, person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = person / "home" / "Дом 'Ады' и Бори"
    mine.mkdir()
    monkeypatch.setenv("HOME", str(mine))
    store = mine / "моя память"
    assert zap("--home", str(store), "setup", "cursor", "cline").status == 0
    hook = json.loads((mine / ".cursor/hooks.json").read_text())["hooks"]["stop"][0]["command"]
    said = {
        "hook_event_name": "stop",
        "conversation_id": "1",
        "last_assistant_message": "Решили: заказы магазина храним в PostgreSQL.",
    }
    environ = {"PATH": os.defpath, "HOME": str(mine), "LC_ALL": "C", "ZAPOMNI_EMBEDDER_PROVIDER": "none"}
    for words in (["sh", "-c", hook], [str(mine / "Documents/Cline/Hooks/TaskComplete")]):
        done = subprocess.run(
            words,
            input=json.dumps(said, ensure_ascii=False).encode(),
            capture_output=True,
            check=False,
            env=environ,
            timeout=60,
        )
        assert (done.returncode, done.stderr, json.loads(done.stdout) is not None) == (0, b"", True)
    assert "Решили: заказы магазина храним в PostgreSQL." in zap("--home", str(store), "list").out
    zap("--home", str(store), "setup", "--remove")
    assert not (mine / ".cursor").exists()


@pytest.mark.promise("setup.killed")
@pytest.mark.parametrize("writes", [0, 1, 2, 4])
def test_a_removal_that_is_killed_between_two_files_is_finished_by_the_next(
    zap: Zap, person: Path, writes: int
) -> None:
    for client in ("cursor", "gemini", "codex"):
        plant(client, person)
    before, kept = tree(person), folders(person)
    zap("setup", "cursor", "gemini", "codex")
    words = [sys.executable, "-c", KILLED, str(writes), "setup", "--remove"]
    assert subprocess.run(words, check=False, capture_output=True, timeout=60).returncode == -signal.SIGKILL
    assert zap("setup", "--remove").status == 0
    assert (tree(person), folders(person)) == (before, kept)
    assert not (person / "store/setup").exists()
