from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.conftest import home, zap

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["home", "zap"]

MOVED = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "APPDATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


@pytest.fixture
def person(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person on Linux with no client's program on the PATH; the home folder of their own, beside the project."""
    for name in MOVED:
        monkeypatch.delenv(name, raising=False)
    mine = home / "home"
    mine.mkdir()
    monkeypatch.setenv("HOME", str(mine))
    monkeypatch.setenv("PATH", str(home / "bin"))
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    return home
