from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.hooks.events import claude_lines

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.errors import InvalidInput, ModelError
from zapomni.llm.scripted import ScriptedLlm
from zapomni.model import Actor, Origin, Trust
from zapomni.surfaces import hook

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SAID = (
    ("user", "We decided to keep the orders of the shop in PostgreSQL."),
    ("assistant", "Fine. The gate code of the warehouse is with Ada, by the way."),
)
FACT = {"content": "Ada keeps the gate code of the warehouse.", "quote": "The gate code of the warehouse is with Ada"}


def closed(home: Path, llm: Any, *, dry_run: bool = False) -> tuple[list[Any], Any]:
    file = home / "t.jsonl"
    file.write_text(claude_lines(*SAID))
    with Zapomni(load(), folder=home / "work", actor=Actor(name="cli", origin=Origin.USER), llm=llm) as app:
        captured = app.sessions.close(str(file), client="claude-code", dry_run=dry_run)
        found = [memory for memory in app.list(limit=100).memories if "session" not in memory.tags]
        return found, captured


@pytest.mark.promise("capture.model")
def test_a_model_that_is_set_reads_the_session_too(home: Path) -> None:
    llm = ScriptedLlm([{"facts": [FACT, {"content": SAID[0][1]}]}])
    found, _ = closed(home, llm)
    assert {memory.content for memory in found} == {SAID[0][1], FACT["content"]}
    assert {memory.trust for memory in found} == {Trust.CANDIDATE}
    fact = next(memory for memory in found if memory.content == FACT["content"])
    assert (fact.metadata["said_by"], fact.metadata["line"]) == ("assistant", 2)


@pytest.mark.promise("capture.model")
def test_a_model_that_fails_costs_nothing_that_the_rules_found(home: Path) -> None:
    found, captured = closed(home, ScriptedLlm([ModelError("scripted:away could not be reached", permanent=True)]))
    assert [memory.content for memory in found] == [SAID[0][1]]
    assert "could not be reached" in captured.plan.reason


@pytest.mark.promise("capture.model")
def test_no_model_is_asked_where_nothing_is_written(home: Path) -> None:
    llm = ScriptedLlm([])
    found, captured = closed(home, llm, dry_run=True)
    assert found == []
    assert [item.action.value for item in captured.plan.items] == ["new"]
    assert llm.calls == type(llm.calls)()


def test_a_file_that_is_no_transcript_is_an_error(home: Path, app: Zapomni) -> None:
    with pytest.raises(InvalidInput, match="was not read"):
        app.sessions.close(str(home / "missing"), client="claude-code")


@pytest.mark.promise("hooks.recursion")
def test_at_the_end_a_model_reads_in_a_marked_process_of_its_own(
    home: Path, fire: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZAPOMNI_LLM_MODEL", "scripted:none")
    started: list[tuple[list[str], Any]] = []
    monkeypatch.setattr("subprocess.Popen", lambda command, **more: started.append((command, more)))
    (home / "t.jsonl").write_text(claude_lines(*SAID))
    fire("claude", "Stop", transcript_path=str(home / "t.jsonl"))
    assert not started
    fire("claude", "SessionEnd", transcript_path=str(home / "t.jsonl"), reason="other")
    ((command, more),) = started
    assert command[:3] == [sys.executable, "-m", "zapomni"]
    assert more["env"][hook.MARK] == "1"
    assert json.dumps(command).count("t.jsonl") == 1
