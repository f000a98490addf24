from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.hooks.events import context_of

from zapomni.model import Actor, Origin
from zapomni.opening import open_memory
from zapomni.services.sessions.briefing import PACK_LIMIT
from zapomni.text.echoes import own_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zapomni.app import Zapomni

    Fire = Callable[..., Any]


def start(fire: Fire, session: str = "s1", source: str = "startup", **fields: Any) -> str:
    return context_of(fire("claude", "SessionStart", session, source=source, **fields))


def ask(fire: Fire, prompt: str, session: str = "s1") -> str:
    return context_of(fire("claude", "UserPromptSubmit", session, prompt=prompt))


@pytest.mark.promise("hooks.pack")
def test_a_session_starts_with_rules_notes_the_project_and_what_there_is(app: Zapomni, fire: Fire) -> None:
    app.remember("Отвечай по-русски.", pinned=True)
    app.remember("Ветка import-v2 ждёт ревью.", kind="working", tags=("импорт",))
    app.remember("The shop is rewritten in Rust until May.", about="project")
    app.remember("Orders live in PostgreSQL 16.", title="Where orders live", tags=("database",))
    pack = start(fire)
    for told in ("Отвечай по-русски.", "Ветка import-v2", "rewritten in Rust", "Where orders live", "database (1)"):
        assert told in pack
    assert "The memory holds 4: 3 semantic, 1 working." in pack
    assert not own_words(pack).strip()


@pytest.mark.promise("hooks.pack")
def test_a_pack_has_at_most_nine_thousand_characters_and_says_what_it_left_out(app: Zapomni, fire: Fire) -> None:
    for no in range(60):
        app.remember(f"Правило {no}: " + "никогда не делай так, как в прошлый раз. " * 12, pinned=True)
        app.remember(f"Note {no}: " + "the import of the second warehouse waits for its owner. " * 6, kind="working")
        app.remember(f"Fact {no}: " + "the project is like this, and like that as well. " * 9, about="project")
    pack = start(fire)
    assert 7_500 < len(pack) <= PACK_LIMIT
    assert "Left out for want of room:" in pack
    assert "of rules" in pack
    assert "of open working notes" in pack
    assert not own_words(pack).strip()


@pytest.mark.promise("hooks.pack")
def test_an_empty_memory_says_nothing(fire: Fire) -> None:
    assert start(fire) == ""


@pytest.mark.promise("hooks.pack")
@pytest.mark.parametrize("source", ["resume", "clear", "compact"])
def test_the_pack_comes_again_when_a_session_goes_on_without_its_context(app: Zapomni, fire: Fire, source: str) -> None:
    app.remember("We never deploy on Friday.", pinned=True)
    assert "Friday" in start(fire)
    assert "Friday" in start(fire, source=source)


@pytest.mark.promise("hooks.once")
def test_a_prompt_brings_what_is_relevant_and_was_not_shown_before(app: Zapomni, fire: Fire) -> None:
    app.remember("Orders live in PostgreSQL 16, not in MySQL.")
    app.remember("The office cat is called Barsik.")
    start(fire)
    first = ask(fire, "In which PostgreSQL do the orders live?")
    assert "PostgreSQL 16" in first
    assert "Barsik" not in first
    assert ask(fire, "And the orders in PostgreSQL, do they live alone?") == ""
    start(fire, source="compact")
    assert "PostgreSQL 16" in ask(fire, "So where do the orders live, in PostgreSQL?")


@pytest.mark.promise("hooks.once")
@pytest.mark.parametrize(
    "prompt", ["", "ok", "/clear orders PostgreSQL", "\u200b" * 40, "how is the weather on Mars today?"]
)
def test_a_prompt_that_says_nothing_brings_nothing(app: Zapomni, fire: Fire, prompt: str) -> None:
    app.remember("Orders live in PostgreSQL 16, not in MySQL.")
    assert ask(fire, prompt) == ""


@pytest.mark.promise("hooks.once")
def test_the_same_event_from_two_sets_of_hooks_is_answered_once(app: Zapomni, fire: Fire) -> None:
    app.remember("Orders live in PostgreSQL 16.", pinned=True)
    told = [
        fire("cursor", "sessionStart", source="startup"),
        fire("claude", "SessionStart", source="startup"),
    ]
    assert [bool(context_of(one)) for one in told] == [True, False]


@pytest.mark.promise("hooks.once")
def test_where_no_start_follows_a_compaction_the_next_prompt_brings_the_pack(app: Zapomni, fire: Fire) -> None:
    app.remember("We never deploy on Friday.", pinned=True)
    assert "Friday" in context_of(fire("copilot", "sessionStart", source="new"))
    assert context_of(fire("copilot", "userPromptSubmitted", prompt="Write a haiku about the sea.")) == ""
    fire("copilot", "preCompact", trigger="auto")
    assert "Friday" in context_of(fire("copilot", "userPromptSubmitted", prompt="Write another haiku, about rain."))


@pytest.mark.promise("hooks.pack")
def test_lessons_that_were_handed_over_are_shown_once(app: Zapomni, fire: Fire) -> None:
    rule = app.remember(
        "Run the linter before each commit.", scope="agent:codex", actor=Actor(name="x", origin=Origin.AGENT)
    )
    proposal = app.review.promote(rule.id, to="user", scopes=("agent:codex",), why="it holds for all")
    app.review.accept(proposal.id)
    assert "Lessons handed over to you" in start(fire)
    assert "Lessons handed over to you" not in start(fire, "s2")


@pytest.mark.promise("setup.agent")
def test_what_a_hook_handed_over_the_server_of_that_client_does_not_hand_over_again(
    app: Zapomni, fire: Fire, home: Path
) -> None:
    rule = app.remember(
        "Run the linter before each commit.", scope="agent:codex", actor=Actor(name="x", origin=Origin.AGENT)
    )
    app.review.accept(app.review.promote(rule.id, to="user", scopes=("agent:codex",), why="it holds for all").id)
    assert "Lessons handed over to you" in start(fire)
    left = {}
    for agent in ("claude-code", "gemini"):
        with open_memory(home / "data", agent=agent) as served:  # as setup has its server started
            left[agent] = [lesson.id for lesson in served.review.lessons()]
    assert left["claude-code"] == []
    assert len(left["gemini"]) == 1


@pytest.mark.promise("scope.place")
def test_hooks_work_where_the_session_works_and_see_no_other_project(home: Path, fire: Fire) -> None:
    repositories = [home / name for name in ("shop", "bank")]
    for repository in repositories:
        subprocess.run(["git", "init", "-q", str(repository)], check=True)
    said = "We decided to keep the orders of the shop in PostgreSQL sixteen."
    fire("claude", "Stop", cwd=str(repositories[0]), last_assistant_message=said)
    inside = start(fire, "s2", cwd=str(repositories[0] / "."))
    assert said in inside
    assert said not in start(fire, "s3", cwd=str(repositories[1]))
    assert said not in start(fire, "s4")


@pytest.mark.promise("hooks.recursion")
def test_a_process_that_is_marked_remembers_and_hears_nothing(
    app: Zapomni, fire: Fire, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.remember("We never deploy on Friday.", pinned=True)
    monkeypatch.setenv("ZAPOMNI_HOOK", "1")
    assert start(fire) == ""
    fire("claude", "Stop", last_assistant_message="We decided to keep the orders in PostgreSQL sixteen.")
    assert app.list().total == 1
    assert not (app.config.home / "spool").exists()
    monkeypatch.delenv("ZAPOMNI_HOOK")
    fire(
        "claude", "Stop", stop_hook_active=True, last_assistant_message="We decided to keep the orders in MySQL eight."
    )
    assert app.list().total == 1


@pytest.mark.promise("hooks.light")
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop"])
def test_a_hook_loads_nothing_that_takes_its_time_and_is_not_needed(home: Path, app: Zapomni, event: str) -> None:
    app.remember("Ветку release режем в четверг.", pinned=True)
    told = {
        "hook_event_name": event,
        "session_id": "s",
        "cwd": str(home / "work"),
        "prompt": "когда режем ветку release?",
    }
    call = [sys.executable, "-X", "importtime", "-m", "zapomni", "hook", "--client", "claude-code"]
    done = subprocess.run(call, input=json.dumps(told).encode(), capture_output=True, check=True, timeout=60)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "zapomni.store.sqlite.store" in loaded
    assert not loaded & {"inspect", "dataclasses", "click", "numpy", "asyncio", "tomllib", "yaml"}
