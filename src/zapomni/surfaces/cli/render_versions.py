"""What people read of the past: comparisons, lines with where they come from, topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from zapomni.surfaces.cli.lines import INDENT, field_text, many, moment, one_line, paragraphs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zapomni.exchange.git import GitExported
    from zapomni.model import Revision
    from zapomni.services.blame import Blame
    from zapomni.services.branching.branches import BranchChange, Listed
    from zapomni.services.branching.merge import Merged
    from zapomni.services.difference import Difference, FieldChange

_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}
_ACTOR: Final = 20
"""Letters of an actor in front of a line."""
_TITLE: Final = 60
"""Letters of a title in a list."""


def differences(found: Iterable[Difference]) -> Iterator[str]:
    """Show what changed in each memory as a unified diff, the other fields above it."""
    for difference in found:
        start = f"#{difference.start}" if difference.start is not None else "nothing"
        end = f" to #{difference.end}" if difference.end is not None else ""
        title = f"{INDENT}{one_line(difference.title)}" if difference.title else ""
        yield click.style(f"{one_line(difference.id)}{INDENT}{start}{end}{title}", bold=True)
        yield from (f"{one.name}: {_change(one)}" for one in difference.fields)
        yield from (_coloured(line) for line in difference.lines)
        if difference.erased:
            yield f"{INDENT}erased: nothing of its text is left"
        elif not (difference.fields or difference.lines):
            yield f"{INDENT}no difference"


def blame(found: Blame) -> Iterator[str]:
    """Show each line of a memory behind the revision that brought it, then its fields."""
    width = len(str(max((line.revision.seq for line in found.lines), default=0)))
    for line in found.lines:
        yield f"{click.style(_brought(line.revision, width), dim=True)}{INDENT}{paragraphs(line.text)[0]}"
    yield ""
    for one in found.fields:
        yield f"{click.style(_brought(one.revision, width), dim=True)}{INDENT}{one.name}: {field_text(one.value)}"


def topics(found: Mapping[str, int]) -> Iterator[str]:
    """Show topic paths as a tree; each counts what stands at it and below."""
    below: dict[str, int] = {}
    for path, count in found.items():
        parts = path.split(".")
        for depth in range(1, len(parts) + 1):
            head = ".".join(parts[:depth])
            below[head] = below.get(head, 0) + count
    for head in sorted(below, key=lambda path: path.split(".")):
        depth, name = head.count("."), head.rpartition(".")[2]
        yield f"{INDENT * depth}{one_line(name)}{INDENT}{click.style(f'{below[head]:,}', dim=True)}"


def branches(found: Iterable[Listed]) -> Iterator[str]:
    """List branches with what they changed."""
    for listed in found:
        made = f"since {moment(listed.branch.created_at)} by {one_line(listed.branch.actor)}"
        name = click.style(one_line(listed.branch.name), fg="yellow")
        yield f"{name}{INDENT}{listed.changes:,} changed{INDENT}{made}"


def changes(found: Iterable[BranchChange]) -> Iterator[str]:
    """Show what a branch changed as a unified diff of each memory."""
    for change in found:
        also = "; the main line changed it too" if change.moved_on else ""
        yield click.style(f"{change.verb.value} {one_line(change.difference.id)}{also}", bold=True)
        yield from (f"{one.name}: {_change(one)}" for one in change.difference.fields)
        yield from (_coloured(line) for line in change.difference.lines)


def merged(came: Merged) -> Iterator[str]:
    """Tell what a merge did with each memory, and why some stay on the branch."""
    for step in came.steps:
        how = f"{INDENT}({step.policy.value}: {', '.join(step.clash)})" if step.policy and step.clash else ""
        why = f": {one_line(step.reason)}" if step.reason else ""
        yield f"{step.done.value:<8}{one_line(step.id)}{INDENT}{one_line(step.title, _TITLE)}{how}{why}"
    if came.run:
        yield f"run: {one_line(came.run)}; `zapomni undo --run {one_line(came.run)}` takes it back"


def exported_git(came: GitExported) -> Iterator[str]:
    """Tell what an export to git came to."""
    anew = ", written anew" if came.rebuilt else ""
    yield f"{one_line(came.folder, 4_000)}: commits added: {came.added:,}, in all: {came.commits:,}{anew}"
    yield f"memories that lie there now: {came.files:,}"
    if came.waiting:
        are = "is" if came.waiting == 1 else "are"
        yield f"{many(came.waiting, 'change')} of a run that has not ended {are} left for the next export"


def _brought(revision: Revision, width: int) -> str:
    origin = one_line((revision.after or {}).get("origin", ""))
    run = f" run {one_line(revision.run)}" if revision.run else ""
    return f"#{revision.seq:<{width}} {moment(revision.at)} {one_line(revision.actor, _ACTOR)} ({origin}){run}"


def _change(one: FieldChange) -> str:
    return f"{field_text(one.before) or '-'} -> {field_text(one.after) or '-'}"


def _coloured(line: str) -> str:
    text = paragraphs(line)[0]
    colour = _COLOURS.get(text[:1])
    return click.style(text, fg=colour) if colour else text
