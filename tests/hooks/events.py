"""Events of clients for tests: fired by a process of their own, and transcripts made for them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.servers import environment

from zapomni.surfaces.dialects import DIALECTS

if TYPE_CHECKING:
    from pathlib import Path


def context_of(answered: Any) -> str:
    """Return the context in an answer, wherever the client wants it."""
    if isinstance(answered, str):
        return answered
    places = (answered.get("hookSpecificOutput", {}), answered)
    names = ("additionalContext", "additional_context", "contextModification")
    return next((place[name] for place in places for name in names if place.get(name)), "")


def hook_process(
    home: Path, client: str, data: bytes, *options: str, **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook as a client does."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(home / "compiled")}
    command = [sys.executable, "-m", "zapomni", "hook", "--client", client, *options]
    return subprocess.run(
        command, input=data, capture_output=True, check=False, timeout=60, env=environment(home, **compiled, **more)
    )


def claude_lines(*said: tuple[str, str], session: str = "c1") -> str:
    """Return a transcript of Claude Code in which these were said."""
    lines, parent = [], None
    for no, (role, text) in enumerate(said):
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        row: dict[str, Any] = {"type": role, "uuid": f"{session}-{no}", "parentUuid": parent, "sessionId": session}
        row |= {"timestamp": f"2026-11-01T10:00:{no % 60:02}Z", "message": {"role": role, "content": content}}
        lines.append(json.dumps(row, ensure_ascii=False))
        parent = row["uuid"]
    return "".join(line + "\n" for line in lines)


CLIENTS = sorted(DIALECTS)
