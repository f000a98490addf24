"""Folders as mappings of files, and the golden trees of each client."""

from __future__ import annotations

import shutil
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
PLACES = ("home", "project")


def tree(root: Path) -> dict[str, bytes]:
    """Return every file of a person's home and project by its path; the repository itself is left out."""
    files = [file for place in PLACES for file in sorted((root / place).rglob("*")) if file.is_file()]
    return {str(file.relative_to(root)): file.read_bytes() for file in files}


def folders(root: Path) -> set[str]:
    return {str(f.relative_to(root)) for place in PLACES for f in (root / place).rglob("*") if f.is_dir()}


def plant(client: str, root: Path) -> dict[str, bytes]:
    """Give a person the files that a client's golden tree begins with."""
    for place in PLACES:
        if (GOLDEN / client / "before" / place).is_dir():
            shutil.copytree(GOLDEN / client / "before" / place, root / place, dirs_exist_ok=True)
    return tree(root)
