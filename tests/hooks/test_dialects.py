from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.hooks.events import CLIENTS, context_of
from tests.shared import INTEGRATIONS

from zapomni.surfaces.dialects import DIALECTS
from zapomni.surfaces.hook import Call, answer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zapomni.app import Zapomni

    Fire = Callable[..., Any]

SCHEMAS = INTEGRATIONS / "schemas" / "codex_hook_schemas.json"
RULE = "Релизы по пятницам запрещены: we never deploy on Friday."


@pytest.fixture(autouse=True)
def remembered(app: Zapomni) -> None:
    app.remember(RULE, pinned=True)
    app.remember("Orders live in PostgreSQL 16, not in MySQL.")


def started(fire: Fire, client: str) -> Any:
    names = {"cursor": "sessionStart", "copilot": "sessionStart", "cline": "TaskStart", "kiro": "agentSpawn"}
    return fire(client, names.get(client, "SessionStart"), f"s-{client}", source="startup")


@pytest.mark.promise("hooks.dialects")
@pytest.mark.parametrize("client", ["claude", "claude-code", "codex", "gemini", "goose", "vscode"])
def test_a_start_is_answered_with_the_context_one_level_deep(fire: Fire, client: str) -> None:
    told = started(fire, client)
    assert set(told) == {"hookSpecificOutput"}
    assert set(told["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert RULE in told["hookSpecificOutput"]["additionalContext"]


@pytest.mark.promise("hooks.dialects")
def test_the_others_get_the_context_where_they_want_it(fire: Fire) -> None:
    assert set(started(fire, "copilot")) == {"additionalContext"}
    assert set(started(fire, "opencode")) == {"additionalContext"}
    assert set(started(fire, "cursor")) == {"additional_context"}
    cline = started(fire, "cline")
    assert cline["cancel"] is False
    assert cline["errorMessage"] == ""
    assert RULE in cline["contextModification"]
    assert RULE in started(fire, "kiro")


@pytest.mark.promise("hooks.dialects")
def test_a_prompt_is_answered_where_the_client_can_take_it(fire: Fire) -> None:
    names = {"gemini": "BeforeAgent", "cursor": "beforeSubmitPrompt", "copilot": "userPromptSubmitted"}
    for client in CLIENTS:
        told = fire(
            client,
            names.get(client, "UserPromptSubmit"),
            f"s-{client}",
            prompt="Where do the orders live, in PostgreSQL?",
        )
        takes = DIALECTS[client].prompts
        assert ("PostgreSQL 16" in context_of(told)) is takes, client
    assert fire("cursor", "beforeSubmitPrompt", session="s2", prompt="What is the weather like?")["continue"] is True


@pytest.mark.promise("hooks.dialects")
@pytest.mark.parametrize(
    ("payload", "event"),
    [
        ({"sessionId": "a", "timestamp": 1, "source": "new", "initialPrompt": "x"}, "sessionStart"),
        ({"sessionId": "a", "timestamp": 1, "prompt": "Where do the orders live, in PostgreSQL?"}, "prompt"),
    ],
)
def test_an_event_without_a_name_is_known_by_its_fields(payload: dict[str, Any], event: str) -> None:
    told = json.loads(answer(Call("copilot"), json.dumps(payload).encode()))
    assert "PostgreSQL 16" in told["additionalContext"], event


def test_an_event_can_be_named_on_the_command_line(home: Path) -> None:
    told = json.loads(answer(Call("cline", "TaskStart"), json.dumps({"taskId": "t"}).encode()))
    assert RULE in told["contextModification"]


def test_cline_puts_the_prompt_one_level_deeper(home: Path) -> None:
    payload: dict[str, Any] = {"hookName": "UserPromptSubmit", "taskId": "t", "workspaceRoots": [str(home / "work")]}
    payload["userPromptSubmit"] = {"prompt": "Where do the orders live, in PostgreSQL?", "attachments": []}
    assert "PostgreSQL 16" in json.loads(answer(Call("cline"), json.dumps(payload).encode()))["contextModification"]


@pytest.mark.promise("hooks.dialects")
@pytest.mark.skipif(not SCHEMAS.exists(), reason="the schemas of Codex are not part of the project")
def test_codex_takes_every_answer_by_its_own_schema(fire: Fire) -> None:
    schemas = json.loads(SCHEMAS.read_text())
    for event, name in (
        ("SessionStart", "session-start"),
        ("UserPromptSubmit", "user-prompt-submit"),
        ("PreCompact", "pre-compact"),
        ("PostCompact", "post-compact"),
        ("Stop", "stop"),
        ("PreToolUse", "pre-tool-use"),
        ("Interrupt", "interrupt"),
    ):
        told = fire("codex", event, source="startup", prompt="Where do the orders live, in PostgreSQL?")
        jsonschema.validate(told, schemas[f"{name}.command.output"])


@pytest.mark.promise("hooks.dialects")
@pytest.mark.parametrize("client", CLIENTS)
def test_an_event_that_is_not_understood_gets_an_answer_without_context(fire: Fire, client: str) -> None:
    assert context_of(fire(client, "SomethingNew")) == ""
