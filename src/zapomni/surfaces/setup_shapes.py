"""The JSON shape of wiring clients; see `shapes` for what every shape keeps to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.agents.base import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.agents.base import Client, Reach
    from zapomni.agents.look import Look
    from zapomni.agents.wiring import Report


def report_shape(report: Report, clients: Sequence[Client], reach: Reach, *, dry_run: bool) -> dict[str, Any]:
    """Return what became of each part of each client, and each file's change as lines of a diff.

    `stays` names the projects whose files still hold ours when the user's were cleared.
    """
    from zapomni.agents.diff import lines

    return {
        "dry_run": dry_run,
        "clients": [
            {"client": client.name, "title": client.title, "does": client.does, "does_not": client.limits(reach)}
            for client in clients
        ],
        "steps": [
            {
                "client": step.client,
                "part": step.part.value,
                "file": str(step.file),
                "outcome": step.outcome.value,
                "why": step.why,
                "command": list(step.command),
            }
            for step in report.steps
        ],
        "files": [
            {"file": str(change.file), "change": change.kind, "diff": lines(change)} for change in report.changes
        ],
        "stays": [str(project) for project in report.stays],
    }


def looks_shape(looks: Sequence[Look], reach: Reach) -> dict[str, Any]:
    """Return how each client stands, part by part and file by file."""
    return {
        "clients": [
            {
                "client": look.client.name,
                "title": look.client.title,
                "installed": look.installed,
                "parts": {part.value: state.value if (state := look.state(part)) else None for part in Part},
                "files": [
                    {
                        "part": spot.part.value,
                        "file": str(spot.file),
                        "state": spot.state.value,
                        "problem": spot.problem,
                    }
                    for spot in look.spots
                ],
                "does": look.client.does,
                "does_not": look.client.limits(reach),
            }
            for look in looks
        ]
    }
