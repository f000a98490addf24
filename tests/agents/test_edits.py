"""What is put into a settings file and taken out again leaves, byte for byte, what was there."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
import yaml as pyyaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from tests.agents import configs

from zapomni.agents import hooks, servers
from zapomni.agents.base import Launch, Reach
from zapomni.agents.clients import CLIENTS
from zapomni.agents.edits import State
from zapomni.agents.json_text import appended, at
from zapomni.agents.jsonc import read
from zapomni.agents.machine import machine
from zapomni.agents.text_edit import Block
from zapomni.agents.wiring import Outcome, Starter, unwire, wire
from zapomni.errors import Refused

if TYPE_CHECKING:
    from zapomni.agents.edits import Edit

LAUNCH = Launch(client="claude-code", command="/opt/z/zapomni", environment={"ZAPOMNI_HOME": "/данные/m"})
OTHER = Launch(client="claude-code", command="/usr/bin/zapomni")
SERVER = servers.member("mcpServers", servers.claude)
TABLE = servers.table("mcp_servers", servers.plain)
ENTRY = servers.entry("extensions", servers.goose)
MANY = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def there_and_back(edit: Edit, text: str) -> str:
    """Put and drop; return the text with our entry. Every answer is checked for what it promises."""
    try:
        written = edit.put(text)
    except Refused:
        assume(False)
        raise
    assert edit.state(text) is State.ABSENT
    assert edit.state(written.text) is State.WIRED
    assert edit.put(written.text).text == written.text, "twice is not once"
    assert edit.drop(written.text, written.blanks) == text
    return written.text


def comments(text: str) -> list[str]:
    return re.findall(r"// \w+|/\* \w+", text)


@pytest.mark.promise("setup.identity")
@MANY
@given(configs.jsonc())
@example('{"mcpServers": {}}')
@example('{\r\n\t"a": 1, // x\r\n}\r\n')
@example("{ /* c */ }")
@example("// only a comment")
def test_a_server_in_json_with_comments_goes_without_a_trace(text: str) -> None:
    after = there_and_back(SERVER(LAUNCH), text)
    assert comments(after) == comments(text)
    before, now = read(text), read(after)
    assert now is not None
    others = {key: value for key, value in now.value["mcpServers"].items() if key != "zapomni"}
    was = before.value if before else {}
    assert {**now.value, "mcpServers": others} == {**was, "mcpServers": was.get("mcpServers", {})}


@pytest.mark.promise("setup.identity")
@MANY
@given(configs.jsonc())
@example('{"hooks": {"Stop": [1, ]}}')
@example('{"hooks":{"Stop":[]},"version":7,}')
def test_hooks_in_json_with_comments_go_without_a_trace(text: str) -> None:
    for make in (hooks.claude, hooks.cursor, hooks.gemini):
        after = there_and_back(make(LAUNCH), text)
        assert comments(after) == comments(text)


@pytest.mark.promise("setup.identity")
@MANY
@given(configs.toml())
def test_a_table_in_toml_goes_without_a_trace(text: str) -> None:
    before = tomllib.loads(text)
    now = tomllib.loads(there_and_back(TABLE(LAUNCH), text))
    assert now["mcp_servers"].pop("zapomni")["env"] == {"ZAPOMNI_HOME": "/данные/m"}
    assert now == {**before, "mcp_servers": before.get("mcp_servers", {})}


@pytest.mark.promise("setup.identity")
@MANY
@given(configs.yaml())
@example("extensions:")
@example("a: |\n  q")
def test_an_entry_in_yaml_goes_without_a_trace(text: str) -> None:
    try:
        before = pyyaml.safe_load(text) or {}
    except pyyaml.YAMLError:
        assume(False)
        raise
    now = pyyaml.safe_load(there_and_back(ENTRY(LAUNCH), text))
    assert now["extensions"].pop("zapomni")["cmd"] == "/opt/z/zapomni"
    assert now == {**before, "extensions": before.get("extensions") or {}}


@pytest.mark.promise("setup.identity")
@MANY
@given(configs.markdown())
def test_a_block_of_rules_goes_without_a_trace(text: str) -> None:
    after = there_and_back(Block(content="Правило\n\nrule\n"), text)
    assert after.startswith(text)


@pytest.mark.promise("setup.foreign")
@MANY
@given(configs.jsonc())
def test_what_others_add_after_us_stays_where_they_put_it(text: str) -> None:
    edit = SERVER(LAUNCH)
    written = edit.put(text) if at_root(text) else None
    assume(written is not None)
    assert written is not None
    theirs = appended(written.text, (), "theirs", {"x": [1]})
    left = edit.drop(theirs, written.blanks)
    assert at_root(left) == {**at_root(text), "theirs": {"x": [1]}}
    assert comments(left) == comments(text)


def at_root(text: str) -> dict[str, Any]:
    node = at(text, ())
    return dict(node.value) if node else {}


@pytest.mark.promise("setup.foreign")
@pytest.mark.parametrize(
    ("edit", "text", "wanted"),
    [
        (SERVER, '{"mcpServers": {"zapomni": {"command": "npx", "args": ["their-own"]}}}', "does not start zapomni"),
        (SERVER, '{"mcpServers": []}', "no object"),
        (SERVER, '{"a": 1', "no JSON"),
        (SERVER, "[1]", "no object"),
        (hooks.claude, '{"hooks": {"Stop": {}}}', "no list"),
        (TABLE, 'mcp_servers = { x = { command = "a" } }', "in one piece"),
        (TABLE, '[mcp_servers.zapomni]\ncommand = "x"', "does not start zapomni"),
        (TABLE, "a = ", "no TOML"),
        (TABLE, "[[mcp_servers]]\na = 1\n", "no table"),
        (ENTRY, "- a\n- b\n", "no mapping"),
        (ENTRY, "a: [", "no YAML"),
        (ENTRY, "extensions: [1]\n", "no mapping"),
        (ENTRY, "a: 1\n...\n---\nb: 2\n", "no YAML"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_refused_with_its_reason(edit: Any, text: str, wanted: str) -> None:
    with pytest.raises(Refused, match=wanted):
        edit(LAUNCH).put(text)


@pytest.mark.parametrize(
    "make", [SERVER, TABLE, ENTRY, hooks.claude, hooks.cursor], ids=["json", "toml", "yaml", "claude", "cursor"]
)
def test_an_older_wiring_is_brought_up_to_date_and_still_goes(make: Any) -> None:
    old = make(OTHER).put("")
    assert make(LAUNCH).state(old.text) is State.CHANGED
    new = make(LAUNCH).put(old.text)
    assert make(LAUNCH).state(new.text) is State.WIRED
    assert "/usr/bin/zapomni" not in new.text
    assert make(LAUNCH).drop(new.text, {**new.blanks, **old.blanks}) == ""


def test_options_that_a_person_added_to_our_server_are_kept() -> None:
    text = json.dumps({"mcpServers": {"zapomni": {"command": "zapomni", "args": ["serve", "--tools", "full"], "x": 1}}})
    edit = SERVER(Launch(client="cursor", command="zapomni"))
    assert edit.put(text).text == text


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "zapomni", "args": ["serve"]},
        {"command": r"C:\Users\A\zapomni.exe", "args": ["serve"]},
        {"command": "uvx", "args": ["zapomni", "serve"]},
        {"type": "local", "command": ["/x/zapomni", "serve"]},
        {"transport": {"type": "stdio", "command": "zapomni", "args": ["serve"]}},
        {"cmd": "zapomni", "args": ["serve"]},
    ],
)
def test_our_server_is_known_in_every_shape(entry: dict[str, Any]) -> None:
    assert servers.is_ours(entry)


@pytest.mark.parametrize(
    "entry", [{"command": "npx"}, {"url": "http://x/zapomni"}, [], "zapomni serve", {"command": 1}]
)
def test_nothing_else_is_taken_for_ours(entry: Any) -> None:
    assert not servers.is_ours(entry)


def test_a_group_that_holds_somebody_elses_hook_too_is_not_ours() -> None:
    ours = {"type": "command", "command": LAUNCH.hook}
    assert hooks.is_ours({"hooks": [ours]})
    assert not hooks.is_ours({"hooks": [ours, {"type": "command", "command": "make"}]})


@pytest.mark.parametrize(
    "text", ["{" * 500, "[" * 500 + "]" * 500, '{"a": "\\', "/* ", "{,}", '{"a" 1}', "{}{}", "nul"]
)
def test_broken_json_is_refused_and_never_guessed(text: str) -> None:
    with pytest.raises(Refused):
        read(text)


@pytest.mark.promise("setup.identity")
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(configs.jsonc(), st.sampled_from(["", "\n", "// theirs\n"]))
def test_a_file_with_a_server_and_hooks_of_ours_goes_back_to_what_it_was(text: str, theirs: str) -> None:
    """Through files, ledger and all: untouched since by the copy, touched since by the edits."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        here, file = machine({"HOME": folder, "PATH": ""}, None), home / ".gemini" / "settings.json"
        file.parent.mkdir()
        file.write_bytes(text.encode())
        starter = Starter(command="/opt/z/zapomni", environment={})
        reports = [
            wire([CLIENTS["gemini"]], here, starter, home=home / "data", reach=Reach.USER, dry_run=False)
            for _ in range(2)
        ]
        assume(not any(step.outcome is Outcome.SKIPPED for report in reports for step in report.steps))
        assert not reports[1].changes
        file.write_bytes(file.read_bytes() + theirs.encode())
        unwire([CLIENTS["gemini"]], here, home=home / "data", reach=Reach.USER, dry_run=False)
        assert file.read_bytes() == (text + theirs).encode()
        assert [path.name for path in home.rglob("*") if path.is_file()] == ["settings.json", "setup.lock"]
