from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.hooks.events import claude_lines, hook_process

if TYPE_CHECKING:
    from pathlib import Path


def git(*words: str, cwd: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True)


def fire(home: Path, client: str, event: str, **fields: Any) -> Any:
    done = hook_process(home, client, json.dumps({"hook_event_name": event, **fields}).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


@pytest.mark.promise("hooks.story")
def test_a_decision_of_claude_code_reaches_codex_in_another_worktree_without_a_call(home: Path) -> None:
    shop, beside = home / "shop", home / "shop-review"
    shop.mkdir()
    git("init", "-q", cwd=shop)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=shop)
    git("worktree", "add", "-q", str(beside), cwd=shop)
    claude = {"session_id": "a-claude", "cwd": str(shop)}
    fire(home, "claude", "SessionStart", source="startup", **claude)
    fire(home, "claude", "UserPromptSubmit", prompt="Давай решим, где храним заказы.", **claude)
    said = [
        ("user", "Давай решим, где храним заказы."),
        ("assistant", "Варианты: PostgreSQL или MySQL."),
        ("user", "Решили: заказы храним в PostgreSQL 16, корзины в Redis."),
    ]
    file = home / "a-claude.jsonl"
    file.write_text(claude_lines(*said, session="a-claude"), encoding="utf-8")
    fire(home, "claude", "Stop", transcript_path=str(file), stop_hook_active=False, **claude)
    fire(home, "claude", "SessionEnd", transcript_path=str(file), reason="other", **claude)
    codex = {"session_id": "a-codex", "cwd": str(beside), "model": "m", "permission_mode": "default"}
    told = fire(home, "codex", "SessionStart", source="startup", transcript_path=None, **codex)
    context = told["hookSpecificOutput"]["additionalContext"]
    assert "Решили: заказы храним в PostgreSQL 16, корзины в Redis." in context
    assert "project:shop" in context
    outside = fire(home, "codex", "SessionStart", source="startup", session_id="b", cwd=str(home))
    assert "PostgreSQL" not in json.dumps(outside)
