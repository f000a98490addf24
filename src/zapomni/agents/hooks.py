"""The forms in which clients want their hooks: each one's events, units of time and file.

Every hook is the one command `zapomni hook --client NAME`, which reads the event from its standard input. Events and
units are those of the integrations' study; a time is generous, since a hook that is cut off loses a capture, and what
the hook itself takes is measured elsewhere.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from zapomni.agents.edits import NAME
from zapomni.agents.json_edit import Hooks
from zapomni.agents.text_edit import Whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zapomni.agents.base import Launch
    from zapomni.agents.edits import Edit

START_S: Final = 10
PROMPT_S: Final = 5
COMPACT_S: Final = 20
END_S: Final = 10
CODEX_END_S: Final = 3
"""Codex cuts a hook at the session's end after three seconds, whatever is asked for."""

_OURS: Final = re.compile(r"zapomni(?:\.exe)?[\"']? hook --client \S+", re.IGNORECASE)
_WORDS: Final = '= ["zapomni", "hook", "--client", "{}"]'
"""The line of a plug-in that says what it starts."""
_COMMANDS: Final = ("command", "bash", "powershell", "windows", "linux", "osx")


def is_ours(item: Any) -> bool:
    """Tell whether a hook runs our command and nothing else."""
    commands = list(_commands(item))
    return bool(commands) and all(_OURS.search(command) for command in commands)


def _commands(item: Any) -> Iterator[str]:
    for key, value in item.items() if isinstance(item, dict) else ():
        if key in _COMMANDS and isinstance(value, str):
            yield value
        elif isinstance(value, list | dict):
            for inner in value if isinstance(value, list) else [value]:
                yield from _commands(inner)


def _hooks(events: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Edit:
    return Hooks(path=("hooks",), events=events, ours=is_ours, root=root or {})


def _grouped(launch: Launch, times: Mapping[str, int], matchers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the shape of Claude Code, which many clients share: groups of handlers by event."""
    handler = {"type": "command", "command": launch.hook}
    return {
        event: {
            **({"matcher": matchers[event]} if matchers and event in matchers else {}),
            "hooks": [{**handler, "timeout": time}],
        }
        for event, time in times.items()
    }


_CLAUDE: Final = {
    "SessionStart": START_S,
    "UserPromptSubmit": PROMPT_S,
    "PreCompact": COMPACT_S,
    "Stop": END_S,
    "SessionEnd": END_S,
}


def claude_groups(launch: Launch) -> dict[str, Any]:
    """Return the hooks of Claude Code: at compaction too, for only the start that follows it can inject."""
    return _grouped(launch, _CLAUDE, {"SessionStart": "startup|resume|clear|compact"})


def claude(launch: Launch) -> Edit:
    """Hooks among the settings of Claude Code; without a time of its own SessionEnd has 1.5 seconds."""
    return _hooks(claude_groups(launch))


def codex(launch: Launch) -> Edit:
    """Hooks of Codex; its file may hold no other key at the root."""
    return _hooks(_grouped(launch, {**_CLAUDE, "SessionEnd": CODEX_END_S}))


def gemini(launch: Launch) -> Edit:
    """Hooks of Gemini CLI: its own events, times in milliseconds.

    PreCompress fires at every turn and can inject nothing, so it is left out.
    """
    times = {"SessionStart": START_S, "BeforeAgent": PROMPT_S, "AfterAgent": END_S, "SessionEnd": END_S}
    groups = _grouped(launch, {event: time * 1_000 for event, time in times.items()})
    named = {event: {"hooks": [{"name": NAME, **group["hooks"][0]}]} for event, group in groups.items()}
    return _hooks(named)


def cursor(launch: Launch) -> Edit:
    """Hooks of Cursor: flat items in a file with a version."""
    times = {
        "sessionStart": START_S,
        "beforeSubmitPrompt": PROMPT_S,
        "preCompact": COMPACT_S,
        "stop": END_S,
        "sessionEnd": END_S,
    }
    return _hooks({event: {"command": launch.hook, "timeout": time} for event, time in times.items()}, {"version": 1})


def windsurf(launch: Launch) -> Edit:
    """The hook of Windsurf behind an answer: nothing can be injected there, so nothing runs before one."""
    return _hooks({"post_cascade_response": {"command": launch.hook, "show_output": False}})


# --- files that are ours as a whole ---------------------------------------------------------------------
def copilot(launch: Launch) -> Edit:
    """Our file among the hooks of Copilot CLI, which does not say what an event is called."""
    times = {
        "sessionStart": START_S,
        "userPromptSubmitted": PROMPT_S,
        "preCompact": COMPACT_S,
        "agentStop": END_S,
        "sessionEnd": END_S,
    }
    handlers = {
        event: {"type": "command", "command": f"{launch.hook} --event {event}", "timeoutSec": time}
        for event, time in times.items()
    }
    return _json({"version": 1, "hooks": {event: [handler] for event, handler in handlers.items()}})


def kiro(launch: Launch) -> Edit:
    """Our file among the hooks of Kiro."""
    times = {"SessionStart": START_S, "UserPromptSubmit": PROMPT_S, "Stop": END_S}
    action = {"type": "command", "command": launch.hook}
    rows = [
        {"name": f"{NAME} {event}", "trigger": event, "action": action, "timeout": time, "enabled": True}
        for event, time in times.items()
    ]
    return _json({"version": "v1", "hooks": rows})


def goose(launch: Launch) -> Edit:
    """The hooks of our plug-in in the folder that Goose reads."""
    times = {event: time for event, time in _CLAUDE.items() if event != "PreCompact"}
    return _json({"hooks": {event: [group] for event, group in _grouped(launch, times).items()}})


def cline(launch: Launch) -> Edit:
    """A program that Cline runs at an event, which its name tells."""
    mark = "hook --client cline"
    if launch.windows:
        return Whole(content=f"$input | & {launch.hook}\r\n", mark=mark)
    return Whole(content=f"#!/bin/sh\nexec {launch.hook}\n", mark=mark)


def script(template: str) -> Callable[[Launch], Edit]:
    """Return the plug-in of a client that runs JavaScript: a file of `plugins/` with our command put into it."""

    def made(launch: Launch) -> Edit:
        from importlib.resources import files

        text = (files("zapomni.agents") / "plugins" / template).read_text(encoding="utf-8")
        words = json.dumps(launch.hook_words, ensure_ascii=False)
        return Whole(content=text.replace(_WORDS.format(launch.client), f"= {words}", 1))

    return made


def _json(value: Any) -> Edit:
    return Whole(content=json.dumps(value, ensure_ascii=False, indent=2) + "\n")
