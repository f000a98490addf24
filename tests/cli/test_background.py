from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Zap = Callable[..., Any]
    Stored = Callable[..., str]

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.fixture
def scripted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local model that is made of rules."""
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "scripted")


def test_what_was_stored_has_its_vector_when_the_command_ends(zap: Zap, scripted: None) -> None:
    memory_id = zap("store", "We never deploy on Friday.", "--json").json["id"]
    assert zap("stats", "--json").json["meaning"]["waiting"] == 0
    assert zap("recall", "deploys on fridays", "--mode", "semantic", "--json").json["memories"][0]["id"] == memory_id
    zap("update", memory_id, "Coffee is out.")
    assert zap("stats", "--json").json["meaning"]["waiting"] == 0


def test_a_model_that_fails_costs_a_stored_text_nothing(
    zap: Zap, scripted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no model today")

    monkeypatch.setattr("zapomni.embed.scripted.ScriptedEmbedder.embed", broken)
    result = zap("store", "We never deploy on Friday.", "--json")
    assert result.status == 0
    assert result.err == ""
    assert zap("show", result.json["id"]).status == 0


def test_a_new_model_is_brought_in_by_reembed(
    zap: Zap, stored: Stored, scripted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        stored(f"Note {number}.")
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_MODEL", "other")
    document = zap("reembed", "--json").json
    assert (document["done"], document["failed"], document["left"]) == (3, 0, 0)
    assert document["space"].startswith("scripted:other")
    assert document["rate"] > 0
    assert zap("stats", "--json").json["meaning"]["space"] == document["space"]
    assert zap("reembed").out.startswith("done 0, failed 0, left 0")


def test_reembed_shows_its_progress_on_a_terminal_alone(zap: Zap, stored: Stored, scripted: None) -> None:
    stored("Note.")
    assert "embedding" in zap("reembed", tty=True).err
    assert zap("reembed").err == ""
    assert zap("reembed", "--quiet", tty=True).err == ""


def test_reembed_for_a_server_says_by_its_status_whether_it_got_anywhere(
    zap: Zap, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored("Waiting.")
    assert zap("reembed", "--for-parent").status == 7
    monkeypatch.setenv("ZAPOMNI_EMBEDDER_PROVIDER", "scripted")
    assert zap("reembed", "--for-parent").status == 0
    assert zap("reembed", "--for-parent").status == 7
    assert "--for-parent" not in zap("reembed", "--help").out


def test_the_server_works_in_the_folder_that_the_client_names(home: Path) -> None:
    repository = home / "shop"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    call = {"name": "store_memory", "arguments": {"content": "We never deploy on Friday."}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    command = ["env", f"CLAUDE_PROJECT_DIR={repository}", sys.executable, "-m", "zapomni", "serve"]
    done = subprocess.run(
        command,
        input="".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    answers = {answer.get("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers[2]["result"]["structuredContent"]["scope"] == "project:shop"


def test_a_server_on_a_terminal_says_what_it_waits_for(zap: Zap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zapomni.surfaces.mcp.stdio.run_stdio", lambda _: 0)
    on_terminal, piped = zap("serve"), zap("serve", stdin="")
    assert "Waiting for an MCP client" in on_terminal.err
    assert on_terminal.err.count("\n") == 1
    assert (on_terminal.out, piped.out, piped.err) == ("", "", "")


def test_a_folder_that_is_not_there_or_not_looked_at_is_an_error(zap: Zap, monkeypatch: pytest.MonkeyPatch) -> None:
    assert zap("serve", "--folder", "/nosuch").status == 2
    refused = zap("serve", "--http", "--folder", "/")
    assert (refused.status, "Leave --folder out" in refused.err) == (2, True)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", "/nosuch")
    monkeypatch.setattr("zapomni.surfaces.mcp.http.run_http", lambda *_, **__: 0)
    assert zap("serve", "--http").status == 0


def test_http_is_not_opened_to_others_without_a_token(zap: Zap) -> None:
    result = zap("serve", "--http", "--host", "0.0.0.0", "--port", "0")
    assert result.status == 2
    assert "http.token" in result.err
