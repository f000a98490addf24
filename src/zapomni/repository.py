"""What makes a folder the root of a repository, told by hand: a `git` process costs more than a whole recall."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def common_dir(git: Path) -> Path | None:
    """Return the common directory of the repository whose `.git` this is, None where it is none of any.

    That of a worktree or submodule is found by its pointer. Nothing is raised.
    """
    try:
        common = git.resolve() if git.is_dir() else _pointed(git)
        return common if common is not None and (common / "HEAD").exists() else None
    except (OSError, ValueError, RuntimeError):  # `resolve` calls a loop of links a RuntimeError before Python 3.13
        return None


def _pointed(git: Path) -> Path | None:
    """Return the directory that the `.git` file of a worktree or submodule leads to."""
    pointer = git.read_text(encoding="utf-8").strip()
    if not pointer.startswith("gitdir:"):
        return None
    own = (git.parent / pointer.removeprefix("gitdir:").strip()).resolve()
    shared = own / "commondir"
    return (own / shared.read_text(encoding="utf-8").strip()).resolve() if shared.exists() else own
