"""Every client: its files before, after and removed, and what independent writers of the same settings wrote."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.agents.trees import GOLDEN, folders, plant, tree
from tests.shared import INTEGRATIONS

from zapomni.agents import hooks
from zapomni.agents.base import Launch
from zapomni.agents.clients import CLIENTS
from zapomni.agents.jsonc import read

if TYPE_CHECKING:
    from collections.abc import Callable

    Zap = Callable[..., Any]

ORACLE = INTEGRATIONS / "oracle"
COMMAND = str(Path(sys.executable).with_name("zapomni"))


def golden(client: str) -> dict[str, bytes]:
    root = GOLDEN / client / "after"
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}


def told(files: dict[str, bytes], root: Path) -> dict[str, bytes]:
    """Put the machine of the golden trees in the place of this one."""
    named = {COMMAND: "/usr/local/bin/zapomni", str(root / "store"): "/var/lib/zapomni"}
    for real, shown in named.items():
        files = {path: data.replace(real.encode(), shown.encode()) for path, data in files.items()}
    return files


@pytest.mark.promise("setup.golden")
@pytest.mark.promise("setup.once")
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_wired_as_written_down_and_left_as_it_was_found(zap: Zap, person: Path, client: str) -> None:
    before, kept = plant(client, person), folders(person)
    assert zap("setup", client).status in {0, 6}
    assert zap("setup", client, "--scope", "project").status in {0, 6}
    after = tree(person)
    assert told(after, person) == golden(client)
    again = zap("setup", client, "--json").json
    assert again["files"] == []
    assert {step["outcome"] for step in again["steps"]} <= {"present", "skipped"}
    assert tree(person) == after, "twice is once"
    zap("setup", client, "--remove")
    zap("setup", client, "--remove", "--scope", "project")
    assert tree(person) == before
    assert folders(person) == kept
    assert not (person / "store" / "setup").exists(), "nothing is left in the data folder either"


@pytest.mark.promise("setup.golden")
def test_every_client_in_one_go_comes_and_goes(zap: Zap, person: Path) -> None:
    for client in CLIENTS:
        plant(client, person)
    before = tree(person)
    assert zap("setup", *CLIENTS).status in {0, 6}
    assert len({spot for spot in tree(person) if spot not in before}) >= len(CLIENTS)
    zap("setup", "--remove")
    assert tree(person) == before


@pytest.mark.promise("setup.foreign")
@pytest.mark.parametrize("client", CLIENTS)
def test_without_its_ledger_removing_still_takes_our_entries_alone(zap: Zap, person: Path, client: str) -> None:
    before = plant(client, person)
    zap("setup", client)
    for file in sorted((person / "store" / "setup").rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    zap("setup", client, "--remove")
    left = tree(person)
    for path, data in before.items():
        assert (said(path, left.get(path, b"")) or b"") == (said(path, data) or b""), "a file that says nothing may go"
    assert [path for path, data in left.items() if b"zapomni" in data] == []


def said(path: str, data: bytes) -> Any:
    """Return what a file says; an empty list or object says nothing."""
    node = read(data.decode()) if path.endswith((".json", ".jsonc")) else None
    return pruned(node.value) if node else data


def pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: inner for key, item in value.items() if (inner := pruned(item)) not in ({}, [])}
    return value


# --- the independent writers ----------------------------------------------------------------------------
SERVERS = {
    "claude-code": (".claude.json", "mcpServers"),
    "codex": (".codex/config.toml", "mcp_servers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "gemini": (".gemini/settings.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", "servers"),
    "copilot": (".copilot/mcp-config.json", "mcpServers"),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers"),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers"),
    "zed": (".config/zed/settings.json", "context_servers"),
    "cline": (
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        "mcpServers",
    ),
    "kiro": (".kiro/settings/mcp.json", "mcpServers"),
    "opencode": (".config/opencode/opencode.json", "mcp"),
    "goose": (".config/goose/config.yaml", "extensions"),
}
PROJECT = {
    "claude-code": (".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
    "copilot": (".github/mcp.json", "mcpServers"),
    "zed": (".zed/settings.json", "context_servers"),
    "kiro": (".kiro/settings/mcp.json", "mcpServers"),
    "opencode": ("opencode.jsonc", "mcp"),
    "junie": (".junie/mcp/mcp.json", "mcpServers"),
    "amp": (".amp/settings.json", "amp.mcpServers"),
    "codex": (".codex/config.toml", "mcp_servers"),
}
LESS = {"type", "source", "description"}
"""What one writer says and another leaves out, since every reader takes it for said."""
MORE = {"alwaysLoad"}
"""What we say and they do not know."""


def parsed(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".toml":
        return tomllib.loads(text)
    if file.suffix in {".yaml", ".yml"}:
        return yaml.safe_load(text)
    node = read(text)
    return node.value if node else None


def shape(entry: dict[str, Any]) -> dict[str, Any]:
    """Reduce an entry to its form: which fields of which type; the command, its words and variables differ."""
    command = entry.get("command", entry.get("cmd"))
    types = {key: type(value).__name__ for key, value in entry.items() if key not in LESS | MORE}
    return {**types, "command": type(command).__name__}


@pytest.mark.promise("setup.oracle")
@pytest.mark.skipif(not ORACLE.is_dir(), reason="the files of the independent writers are not on this machine")
@pytest.mark.parametrize("client", SERVERS)
def test_the_servers_entry_has_the_form_that_another_writer_gives_it(client: str) -> None:
    place, key = SERVERS[client]
    other = ORACLE / "addmcp_home_stdio" / (place if client != "opencode" else place + "c")
    theirs, ours = parsed(other)[key]["mem"], parsed(GOLDEN / client / "after" / "home" / place)[key]["zapomni"]
    assert shape(ours) == shape(theirs)
    assert "type" not in theirs or ours["type"] == theirs["type"]


@pytest.mark.promise("setup.oracle")
@pytest.mark.skipif(not ORACLE.is_dir(), reason="the files of the independent writers are not on this machine")
@pytest.mark.parametrize("client", PROJECT)
def test_a_projects_entry_has_the_form_that_another_writer_gives_it(client: str) -> None:
    place, key = PROJECT[client]
    theirs = parsed(ORACLE / "rulesync_mcp" / place)[key]["mem"]
    ours = parsed(GOLDEN / client / "after" / "project" / place)[key]["zapomni"]
    variables = {"env", "environment"} if client == "claude-code" else set()  # others read its file, so none is named
    wanted = {name: kind for name, kind in shape(theirs).items() if name not in variables}
    got = {name: kind for name, kind in shape(ours).items() if name != "tools"}
    assert got == wanted


HOOKS = {
    "claude-code": (hooks.claude, ".claude/settings.json"),
    "codex": (hooks.codex, ".codex/hooks.json"),
    "cursor": (hooks.cursor, ".cursor/hooks.json"),
    "copilot": (hooks.copilot, ".github/hooks/copilotcli-hooks.json"),
    "kiro": (hooks.kiro, ".kiro/hooks/rulesync.json"),
    "goose": (hooks.goose, ".agents/plugins/rulesync/hooks/hooks.json"),
}
"""Claude Code's matcher and times at each event are ours: without a time a capture at the end is cut off."""


def forms(hooked: Any) -> Any:
    """Reduce hooks to events, nesting and names of fields; the events that only one of two has are compared apart."""
    if isinstance(hooked, dict):
        return {key: forms(value) for key, value in hooked.items() if key not in {"timeout", "timeoutSec", "matcher"}}
    if isinstance(hooked, list):
        return [forms(hooked[0])] if hooked else []
    return type(hooked).__name__


@pytest.mark.promise("setup.oracle")
@pytest.mark.skipif(not ORACLE.is_dir(), reason="the files of the independent writers are not on this machine")
@pytest.mark.parametrize("client", HOOKS)
def test_hooks_have_the_form_that_another_writer_gives_them(client: str) -> None:
    make, place = HOOKS[client]
    ours = json.loads(make(Launch(client=client, command="zapomni")).put("").text)
    theirs = parsed(ORACLE / "rulesync_hooks" / place)
    kinds = ("type",) if client == "cursor" else ()  # Cursor knows no other kind of hook than a command
    mine, other = forms(ours["hooks"]), forms(theirs["hooks"])
    if isinstance(mine, dict):
        assert set(mine) <= set(other)
        for event in mine:
            assert mine[event] == [{k: v for k, v in other[event][0].items() if k not in kinds}]
    else:
        assert mine == other
    assert ours.get("version") == theirs.get("version")
