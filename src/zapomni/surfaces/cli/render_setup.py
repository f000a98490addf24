"""What people read of wiring clients."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

import click

from zapomni.agents.base import Part
from zapomni.agents.diff import lines
from zapomni.agents.edits import State
from zapomni.agents.wiring import Outcome
from zapomni.surfaces.cli.lines import INDENT, TOLD, WIDEST, many, one_line
from zapomni.text.clean import ELLIPSIS, cut, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.agents.base import Client, Reach
    from zapomni.agents.desk import Change
    from zapomni.agents.look import Look
    from zapomni.agents.wiring import Report, Step

_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}
_AROUND: Final = 20
"""Characters beside a change within a long line that are shown."""
_WOULD: Final = {
    Outcome.ADDED: "would be added",
    Outcome.UPDATED: "would be updated",
    Outcome.PRESENT: "is there already",
    Outcome.REMOVED: "would be removed",
    Outcome.KEPT: "would be kept",
    Outcome.SKIPPED: "would be skipped",
    Outcome.LEFT: "would be left",
}
_STATES: Final = {
    State.WIRED: "yes",
    State.ABSENT: "no",
    State.CHANGED: "in part, or otherwise",
    State.FOREIGN: "somebody else's, or unreadable",
    None: "-",
}


def report(found: Report, clients: Sequence[Client], *, dry_run: bool) -> Iterator[str]:
    """Show each client with its parts, then each file with its change."""
    for client in clients:
        steps = [step for step in found.steps if step.client == client.name]
        if steps:
            yield click.style(client.title, bold=True)
            yield from (_step(step, dry_run=dry_run) for step in steps)
    if not found.steps:
        yield "nothing to do" if clients else "No client that zapomni knows is on this machine"
    for change in found.changes:
        yield from _change(change, dry_run=dry_run)


def notes(found: Report, clients: Sequence[Client], reach: Reach, *, removed: bool) -> Iterator[str]:
    """Say what each client will do now, and what it will not; of a removal, where ours stays and how it would go."""
    concerned = {step.client for step in found.steps if step.outcome is not Outcome.SKIPPED}
    for client in clients:
        if client.name in concerned and not removed:
            yield f"{client.title} {client.does}"
            yield f"{INDENT}but: {client.limits(reach)}"
    for project in found.stays:
        shared = "stays in files of the project, which others share"
        yield f"{one_line(project)}: {shared}; `zapomni setup --remove --scope project` there takes it out"


def looks(found: Sequence[Look]) -> Iterator[str]:
    """Show a table of the clients and their parts."""
    rows = [("client", "here", *(part.value for part in Part))]
    rows += [
        (
            look.client.name,
            "yes" if look.installed else "no",
            *(_STATES[look.state(part)] for part in Part),
        )
        for look in found
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        line = INDENT.join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        yield click.style(line, dim=True) if number == 0 else line
    for look in found:
        yield from (f"{spot.file}: {one_line(spot.problem)}" for spot in look.spots if spot.problem)


def _step(step: Step, *, dry_run: bool) -> str:
    told = _WOULD[step.outcome] if dry_run else step.outcome.value
    by = f" by `{one_line(' '.join(step.command), 120)}`" if step.command else ""
    why = f": {one_line(step.why)}" if step.why else ""
    return f"{INDENT}{step.part.value:<6}  {told}{by}{INDENT}{one_line(step.file)}{why}"


def _change(change: Change, *, dry_run: bool) -> Iterator[str]:
    """Show a change line by line; a file that comes or goes as a whole only where nothing is done yet."""
    shown = lines(change)
    whole = "" if change.kind == "changed" or dry_run else f" ({many(len(shown) - 1, 'line')})"
    yield click.style(f"{change.kind} {one_line(change.file)}", bold=True) + whole
    if whole:
        return
    for line in _shortened(shown)[:TOLD]:
        yield INDENT + click.style(printable(line), fg=_COLOURS.get(line[:1]))
    if len(shown) > TOLD:
        yield f"{INDENT}… and {len(shown) - TOLD:,} more lines (--json shows all)"


def _shortened(shown: Sequence[str]) -> list[str]:
    """Return the lines of a diff, of long ones only what changes: a file may be one line."""
    runs = [list(run) for _, run in groupby(shown, key=lambda line: line[:1])]
    for gone, come in pairwise(runs):
        if (gone[0][:1], come[0][:1]) == ("-", "+"):
            windows = [_windows(*pair) for pair in zip(gone, come, strict=False)]
            gone[: len(windows)], come[: len(windows)] = map(list, zip(*windows, strict=True))
    return [line if line[:1] in {"-", "+"} else cut(line, WIDEST) for run in runs for line in run]


def _windows(old: str, new: str) -> tuple[str, str]:
    """Return two lines of a diff, of long ones only what one has and the other has not, and a little around it."""
    above = _alike(old[1:], new[1:])
    below = _alike(old[:above:-1], new[:above:-1])
    return _window(old, above, below), _window(new, above, below)


def _alike(one: str, other: str) -> int:
    """Return with how many equal characters two texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (some, same) in pairs if some != same), min(len(one), len(other)))


def _window(line: str, above: int, below: int) -> str:
    """Return a line of a diff without most of what its beginning and its end share with another one."""
    if len(line) <= WIDEST:
        return line
    sign, text = line[:1], line[1:]
    first, last = max(0, above - _AROUND), len(text) - max(0, below - _AROUND)
    return f"{sign}{ELLIPSIS if first else ''}{text[first:last]}{ELLIPSIS if last < len(text) else ''}"
