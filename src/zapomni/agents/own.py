"""The commands that clients have for adding servers, called in preference to editing their files.

Removing edits the file in every case: only that puts back exactly what was there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from zapomni.agents import servers
from zapomni.agents.base import OwnCommand, Reach
from zapomni.agents.edits import NAME

if TYPE_CHECKING:
    from zapomni.agents.base import Launch

_BOTH: Final = (Reach.USER, Reach.PROJECT)


def _given(option: str, launch: Launch) -> list[str]:
    return [word for name, value in launch.environment.items() for word in (option, f"{name}={value}")]


CLAUDE: Final = OwnCommand(
    program="claude",
    add=lambda launch, reach: ("mcp", "add-json", "-s", reach, NAME, json.dumps(servers.claude(launch))),
    reaches=_BOTH,
)
CODEX: Final = OwnCommand(
    program="codex",
    add=lambda launch, _: ("mcp", "add", NAME, *_given("--env", launch), "--", *launch.server),
)
GEMINI: Final = OwnCommand(
    program="gemini",
    add=lambda launch, reach: ("mcp", "add", "-s", reach, *_given("-e", launch), NAME, *launch.server),
    reaches=_BOTH,
)
COPILOT: Final = OwnCommand(
    program="copilot",
    add=lambda launch, _: ("mcp", "add", NAME, *_given("--env", launch), "--", *launch.server),
)
VSCODE: Final = OwnCommand(
    program="code",
    add=lambda launch, _: ("--add-mcp", json.dumps({"name": NAME, **servers.typed(launch)})),
)
AMP: Final = OwnCommand(
    program="amp",
    add=lambda launch, _: ("mcp", "add", NAME, *_given("--env", launch), "--", *launch.server),
)
# Cline's command wraps the entry in a shape that its extension does not read, so its files are edited instead.
