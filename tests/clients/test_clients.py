"""Real agents, offline, against a scripted model: an optional job.

`CLIENTS_FOLDER` names the folder in which they were installed (docs/hooks.md says how); without it, and for each client
that is not in it, the tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.clients.model import Model

from zapomni.opening import open_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = os.environ.get("CLIENTS_FOLDER", "")  # noqa: TID251 - where the clients are is the caller's to say
BIN = Path(FOLDER) / "node_modules" / ".bin"
RULE = "Релизы по пятницам запрещены: we never deploy on Friday."
DECISION = "We decided to keep the session cookies of the shop for thirty days."
STORED = "The gate code of the warehouse is kept by Ada."
CLIENTS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@dataclass
class Bench:
    """One machine with one client on it, wired by `zapomni setup`."""

    client: str
    home: Path
    work: Path
    model: Model

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{BIN}:{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(self.home),
            "ZAPOMNI_HOME": str(self.home / "memory"),
            "ZAPOMNI_EMBEDDER_PROVIDER": "none",
            "LC_ALL": "C.UTF-8",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "sk-none",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
            "FAKE_KEY": "none",
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
        }

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=120,
        )  # fmt: skip
        return done.stdout + done.stderr

    def listed(self) -> str:
        if self.client == "codex":  # its own list does not connect: its server for editors does
            return probe(self)
        return self.run(CLIENTS[self.client], "mcp", "list")

    def say(self, prompt: str) -> str:
        match self.client:
            case "claude-code":
                tools = "mcp__zapomni__recall_memory,mcp__zapomni__store_memory"
                return self.run("claude", "-p", prompt, "--allowedTools", tools)
            case "codex":
                return self.run("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt)
            case "gemini":
                return self.run("gemini", "-p", prompt, "--approval-mode", "yolo", "-m", "gemini-2.5-flash")
            case _:
                return self.run("opencode", "run", "--model", "fake/m1", prompt)

    def memories(self) -> list[str]:
        with open_memory(self.home / "memory", folder=self.work) as app:
            return [memory.content for memory in app.list(limit=100).memories]

    def wire(self) -> None:
        self.run("zapomni", "setup", self.client)
        match self.client:
            case "codex":
                file = self.home / ".codex" / "config.toml"
                head = 'model = "m1"\nmodel_provider = "fake"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
                tail = '\n[model_providers.fake]\nname = "fake"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n'
                waits = file.read_text().replace('args = ["serve"]', 'args = ["serve"]\nrequired = true')
                file.write_text(f'{head}{waits}{tail}base_url = "{self.model.url}/v1"\n')
            case "gemini":
                change(self.home / ".gemini" / "settings.json", security={"auth": {"selectedType": "gemini-api-key"}})
                change(self.home / ".gemini" / "trustedFolders.json", **{str(self.work): "TRUST_FOLDER"})
            case "opencode":
                options = {"baseURL": f"{self.model.url}/v1", "apiKey": "none"}
                fake = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m1": {}}}
                change(self.home / ".config" / "opencode" / "opencode.jsonc", provider={"fake": fake})


def change(file: Path, **fields: Any) -> None:
    known = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**known, **fields}))


def probe(bench: Bench) -> str:
    """Ask the app server of Codex which servers it has: it connects to each and lists its tools."""
    command = ["codex", "app-server"]
    asked = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "mcpServerStatus/list", "params": {}},
    ]
    pipe = subprocess.PIPE
    environment = bench.environment
    with subprocess.Popen(command, cwd=bench.work, env=environment, stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in asked:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
        told = next((line for line in server.stdout if json.loads(line).get("id") == 2), "")
        server.kill()
    return told


@pytest.fixture(params=CLIENTS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    client = request.param
    if not FOLDER or not (BIN / CLIENTS[client]).exists():
        pytest.skip(f"{client} is not there (CLIENTS_FOLDER)")
    for name in ("home", "work"):
        (tmp_path / name).mkdir()
    assert shutil.which("git")
    subprocess.run(["git", "init", "-q", str(tmp_path / "work")], check=True)
    with Model() as model:
        made = Bench(client=client, home=tmp_path / "home", work=tmp_path / "work", model=model)
        made.run("zapomni", "store", "--scope", "user", "--pinned", RULE)
        made.wire()
        yield made


@pytest.mark.promise("hooks.clients")
def test_an_agent_is_connected_gets_its_pack_stores_recalls_and_is_captured(bench: Bench) -> None:
    listed = bench.listed()
    assert "zapomni" in listed
    assert "onnected" in listed or "recall_memory" in listed
    bench.say(f"{DECISION} CALL store_memory {json.dumps({'content': STORED})}")
    assert bench.model.was_given("Remembered by zapomni."), "the pack came through the hook of the start"
    assert bench.model.was_given(RULE)
    assert STORED in bench.memories(), "the tool was called"
    assert DECISION in bench.memories(), "the hook of the end captured"
    bench.model.requests.clear()
    told = bench.say('CALL recall_memory {"query": "Who keeps the gate code of the warehouse?"}')
    assert "The tool has answered." in told
    assert bench.model.was_given(STORED)
    assert [content for content in bench.memories() if STORED in content] == [STORED], (
        "what was recalled is not captured"
    )


@pytest.mark.promise("hooks.clients")
def test_what_claude_code_decided_a_codex_in_another_worktree_is_told(tmp_path: Path) -> None:
    if not FOLDER or not all((BIN / CLIENTS[client]).exists() for client in ("claude-code", "codex")):
        pytest.skip("Claude Code and Codex are not both there (CLIENTS_FOLDER)")
    (tmp_path / "home").mkdir()
    work, beside = tmp_path / "work", tmp_path / "beside"
    who = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    subprocess.run([*who, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*who, "worktree", "add", "-q", str(beside)], check=True, capture_output=True)
    with Model() as model:
        claude = Bench(client="claude-code", home=tmp_path / "home", work=work, model=model)
        codex = Bench(client="codex", home=tmp_path / "home", work=beside, model=model)
        claude.wire()
        codex.wire()
        claude.say(DECISION)
        model.requests.clear()
        codex.say("Good morning!")
        assert model.was_given(DECISION)
