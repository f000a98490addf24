"""Folders of memories as harnesses keep them, for the tests of their index and their state."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

OWNER = """---
name: release-owner
description: Who signs releases
metadata:
  type: project
---

Irina signs releases (since 2026-10-01).
"""
TABS = """---
name: tabs-not-spaces
description: Indent with tabs in this repo
metadata:
  type: feedback
---

Indent with tabs, never spaces.

**Why:** the linter fails on spaces.

**How to apply:** every new file; see [[release-owner]].
"""
INDEX = """- [Tabs not spaces](tabs-not-spaces.md) — indentation rule for this repo
- [Release owner](release-owner.md) — who signs releases
"""
LOADED = {"release-owner.md": OWNER, "tabs-not-spaces.md": TABS, "MEMORY.md": INDEX}
"""A folder as Claude Code leaves it."""


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write a folder of notes."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return folder


def note(body: str, *, name: str = "", description: str = "", about: str = "project", pinned: bool = False) -> str:
    """Return a note as Claude Code writes it."""
    mark = "\n  pinned: true" if pinned else ""
    return f"---\nname: {name}\ndescription: {description}\nmetadata:\n  type: {about}{mark}\n---\n\n{body}\n"


def held(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder with its bytes."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def dated(file: Path, day: str) -> None:
    """Give a file the time of a day."""
    at = datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    os.utime(file, (at, at))
