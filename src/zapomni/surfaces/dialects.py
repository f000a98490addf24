"""The dialects of the clients' hooks: how each names its events and fields, and the exact form of an answer.

One table, `DIALECTS`. What a client sends is material: a field of another type than it should be counts as absent.
Formats as of November 2026; where a client was not at hand its documentation is the source (docs/hooks.md).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zapomni.model.session import Event, Moment, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_START, _PROMPT, _COMPACT, _STOP, _END = Moment.START, Moment.PROMPT, Moment.COMPACT, Moment.STOP, Moment.END
_CLAUDE_EVENTS: Final = {
    "SessionStart": _START,
    "UserPromptSubmit": _PROMPT,
    "PreCompact": _COMPACT,
    "Stop": _STOP,
    "SessionEnd": _END,
}
_SESSION: Final = ("session_id", "sessionId", "sessionID", "conversation_id", "taskId", "trajectory_id", "threadID")
_NAME: Final = ("hook_event_name", "hookEventName", "hookName", "agent_action_name")
_TEXT_LIMIT: Final = 200_000
"""Characters of one field that are read: more than any prompt, and little enough to be looked at in time."""
_TURNS_LIMIT: Final = 10_000


class Dialect(Struct, frozen=True):
    """How one client speaks: its events, whether a prompt can be answered, and how an answer is written.

    `answer` is given the event and the context, which is empty where nothing is to be said. `restarts` tells that a
    session starts anew after its context was compacted; `often` that it says so at every turn, compacted or not;
    `files` that its hooks name a file of what was said, without which each prompt is looked at when it comes.
    """

    events: Mapping[str, Moment]
    answer: Callable[[Event, str], str]
    prompts: bool = True
    restarts: bool = False
    often: bool = False
    files: bool = True


# --- answers ---------------------------------------------------------------------------------------------
def _nested(event: Event, context: str) -> str:
    if not context:
        return "{}"
    return _json({"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": context}})


def _flat(_: Event, context: str) -> str:
    return _json({"additionalContext": context}) if context else "{}"


def _cursor(event: Event, context: str) -> str:
    told = {"additional_context": context} if context else {}
    return _json({"continue": True, **told} if event.moment is Moment.PROMPT else told)


def _cline(_: Event, context: str) -> str:
    return _json({"cancel": False, "contextModification": context, "errorMessage": ""})


def _plain(_: Event, context: str) -> str:
    return context


def _silent(_: Event, __: str) -> str:
    return ""


def _json(value: object) -> str:
    return json.dumps(value)


# --- the table -------------------------------------------------------------------------------------------
DIALECTS: Final[Mapping[str, Dialect]] = {
    "claude-code": Dialect(_CLAUDE_EVENTS, _nested, restarts=True),
    "codex": Dialect(_CLAUDE_EVENTS, _nested, restarts=True),
    "goose": Dialect(_CLAUDE_EVENTS, _nested),
    "vscode": Dialect(_CLAUDE_EVENTS, _nested, prompts=False),
    "gemini": Dialect(
        {
            "SessionStart": _START,
            "BeforeAgent": _PROMPT,
            "AfterAgent": _STOP,
            "PreCompress": _COMPACT,
            "SessionEnd": _END,
        },
        _nested,
        often=True,
    ),
    "cursor": Dialect(
        {
            "sessionStart": _START,
            "beforeSubmitPrompt": _PROMPT,
            "preCompact": _COMPACT,
            "stop": _STOP,
            "sessionEnd": _END,
        },
        _cursor,
    ),
    "copilot": Dialect(
        {
            "sessionStart": _START,
            "userPromptSubmitted": _PROMPT,
            "preCompact": _COMPACT,
            "agentStop": _STOP,
            "sessionEnd": _END,
        },
        _flat,
    ),
    "kiro": Dialect(
        {
            "SessionStart": _START,
            "agentSpawn": _START,
            "UserPromptSubmit": _PROMPT,
            "userPromptSubmit": _PROMPT,
            "Stop": _STOP,
            "stop": _STOP,
        },
        _plain,
        files=False,
    ),
    "cline": Dialect(
        {
            "TaskStart": _START,
            "TaskResume": _START,
            "UserPromptSubmit": _PROMPT,
            "PreCompact": _COMPACT,
            "TaskComplete": _STOP,
            "TaskCancel": _END,
            "TaskError": _END,
            "SessionShutdown": _END,
        },
        _cline,
    ),
    "windsurf": Dialect({"pre_user_prompt": _PROMPT, "post_cascade_response": _STOP}, _silent, prompts=False),
    "opencode": Dialect(_CLAUDE_EVENTS, _flat, restarts=True),
    "amp": Dialect(_CLAUDE_EVENTS, _flat, prompts=False),
}
"""Every client whose events are understood, by the name under which `zapomni setup` wires it."""
SHORT: Final = {"claude": "claude-code"}
"""Other names that people type."""


# --- reading ---------------------------------------------------------------------------------------------
def read_event(client: str, payload: object, name: str = "") -> Event:
    """Return the event in what a client sent; `name` is what it is called, where the client does not say it itself.

    An event that is not understood is one of `Moment.OTHER`. Never raises for any JSON value.
    """
    fields = payload if isinstance(payload, dict) else {}
    inner = _inner(fields)
    called = _text(fields, *_NAME) or name or _guessed(fields)
    return Event(
        client=client,
        moment=DIALECTS[client].events.get(called, Moment.OTHER),
        name=called,
        session=_text(inner, *_SESSION)[:200],
        folder=_text(fields, "cwd", "directory", "workspacePath")
        or _first(fields, "workspace_roots", "workspaceRoots"),
        prompt=_text(inner, "prompt", "user_prompt", "userPrompt"),
        source=_text(fields, "source", "trigger"),
        transcript=_text(fields, "transcript_path", "transcriptPath"),
        said=_text(inner, "last_assistant_message", "prompt_response", "response"),
        again=fields.get("stop_hook_active") is True,
        turns=_turns(fields.get("messages")),
    )


def _inner(fields: dict[Any, Any]) -> dict[Any, Any]:
    """Return the fields with those that some clients put one level deeper."""
    deeper = [fields.get(name) for name in ("userPromptSubmit", "taskStart", "taskComplete", "tool_info", "event")]
    found = dict(fields)
    for inner in deeper:
        if isinstance(inner, dict):
            found = {**inner, **found}
    return found


def _guessed(fields: dict[Any, Any]) -> str:
    """Return the event of Copilot CLI, which sends no name, by the fields that it alone has."""
    if "prompt" in fields:
        return "userPromptSubmitted"
    if "initialPrompt" in fields or _text(fields, "source") in {"new", "resume", "startup"}:
        return "sessionStart"
    if "stopReason" in fields:
        return "agentStop"
    if "trigger" in fields:
        return "preCompact"
    return "sessionEnd" if "reason" in fields else ""


def _text(fields: dict[Any, Any], *names: str) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value[:_TEXT_LIMIT]
    return ""


def _first(fields: dict[Any, Any], *names: str) -> str:
    for name in names:
        values = fields.get(name)
        if isinstance(values, list) and values and isinstance(values[0], str):
            return values[0]
    return ""


def _turns(messages: object) -> tuple[Turn, ...]:
    if not isinstance(messages, list):
        return ()
    rows = [row for row in messages[-_TURNS_LIMIT:] if isinstance(row, dict)]
    return tuple(
        Turn(role=row["role"], text=_text(row, "text"), uuid=_text(row, "id"), at=_text(row, "at"), line=no)
        for no, row in enumerate(rows, 1)
        if _text(row, "role") in {"user", "assistant"} and _text(row, "text")
    )
