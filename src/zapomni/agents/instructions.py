"""What a client tells its model about the memory: the rules among its instructions, and the skill."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

from zapomni.agents.rules import instructions
from zapomni.agents.text_edit import Block, Whole

if TYPE_CHECKING:
    from zapomni.agents.base import Launch
    from zapomni.agents.edits import Edit

SKILL_PLACES: Final = ("{home}/.agents/skills/zapomni/SKILL.md",), ("{project}/.agents/skills/zapomni/SKILL.md",)
"""The folder of skills that most clients share, for the user and for a project."""


def skill_text() -> str:
    """Return the Agent Skill for saving, recalling, consolidating and tidying."""
    return (files("zapomni.agents") / "skill" / "SKILL.md").read_text(encoding="utf-8")


def skill(_: Launch) -> Edit:
    """The skill as a file of its own."""
    return Whole(content=skill_text(), mark="name: zapomni")


def block(_: Launch) -> Edit:
    """The rules as a block in a file of instructions that other people's words stand in too."""
    return Block(content=instructions())


def cursor(_: Launch) -> Edit:
    """The rules as a file among Cursor's, always applied."""
    return Whole(content=f"---\ndescription: The memory that agents share\nalwaysApply: true\n---\n\n{_own()}")


def vscode(_: Launch) -> Edit:
    """The rules as a file among the instructions of VS Code, applied to every file."""
    return Whole(content=f'---\ndescription: The memory that agents share\napplyTo: "**"\n---\n\n{_own()}')


def kiro(_: Launch) -> Edit:
    """The rules as a steering file of Kiro, always included."""
    return Whole(content=f"---\ninclusion: always\n---\n\n{_own()}")


def plain(_: Launch) -> Edit:
    """The rules as a Markdown file of its own."""
    return Whole(content=_own())


def _own() -> str:
    return f"<!-- Written by `zapomni setup`, taken out again by `zapomni setup --remove`. -->\n\n{instructions()}"
