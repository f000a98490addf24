"""Where the clients of this machine keep their files, as their own variables and the platform say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from zapomni.agents.base import Machine
from zapomni.forms import user_home

if TYPE_CHECKING:
    from zapomni.forms import Environ


def machine(environ: Environ, folder: Path | None, *, platform: str = sys.platform) -> Machine:
    """Return the roots of this machine for a person who works in `folder`; None is no place, so no project.

    `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `COPILOT_HOME`, `XDG_CONFIG_HOME` and `APPDATA` move what they move in the
    clients themselves.
    """
    home = user_home(environ)

    def named(variable: str, usual: Path) -> Path:
        value = environ.get(variable, "").strip()
        return Path(value).expanduser() if value else usual

    config = named("XDG_CONFIG_HOME", home / ".config")
    roaming = named("APPDATA", home / "AppData" / "Roaming")
    windows = platform == "win32"
    claude = named("CLAUDE_CONFIG_DIR", home / ".claude")
    roots = {
        "home": home,
        "config": config,
        "app": {"darwin": home / "Library" / "Application Support", "win32": roaming}.get(platform, config),
        "claude": claude,
        "claude_state": claude if environ.get("CLAUDE_CONFIG_DIR", "").strip() else home,
        "codex": named("CODEX_HOME", home / ".codex"),
        "copilot": named("COPILOT_HOME", home / ".copilot"),
        "goose": roaming / "Block" / "goose" / "config" if windows else config / "goose",
        "zed": roaming / "Zed" if windows else config / "zed",
    }
    if folder is not None:
        roots["project"] = _project(folder)
    return Machine(roots=roots, environ=environ, windows=windows)


def _project(folder: Path) -> Path:
    """Return the root of the repository around a folder, or the folder where there is none."""
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)
