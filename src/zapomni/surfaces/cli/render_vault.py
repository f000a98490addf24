"""What people read about memory folders: their state, the cut of an index, and what could be compacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.surfaces.cli.lines import INDENT, TOLD, bold, many, one_line, table
from zapomni.text.growth import SHORTEST, SURE
from zapomni.text.index_page import LINE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zapomni.services.vault.budget import Size
    from zapomni.services.vault.compact import Compaction
    from zapomni.services.vault.plan import Plan, Written
    from zapomni.services.vault.report import Flaw, Report, Target

_SHOWN = 100


# --- the state of a folder ------------------------------------------------------------------------------
def reports(found: Sequence[Report]) -> Iterator[str]:
    """Show the state of folders: what the index costs, where it is going, and what wants repair."""
    for number, report in enumerate(found):
        if number:
            yield ""
        yield bold(report.root, before="")
        yield from table(list(_sizes(report)))
        yield from _growth(report)
        yield from _repairs(report)


def _sizes(report: Report) -> Iterator[tuple[str, str]]:
    yield "records", f"{report.bodies.number:,}, {_size(report.bodies)}"
    ratio = f", 1 : {report.ratio:.0f} to the bodies, {report.line_bytes:.0f} bytes a line" if report.ratio else ""
    yield "index", f"{many(report.index.number, 'line')}, {_size(report.index)}{ratio}"
    if report.leaves.number:
        yield "leaves", f"{many(report.leaves.number, 'line')}, {_size(report.leaves)}"
    told = ", ".join(f"{one.used:,} of {one.most:,} {one.what} ({one.share:.0%})" for one in report.budgets)
    yield "budget", told
    if report.cut:
        yield "not loaded", f"lines {report.cut[0].number} to {report.cut[-1].number} of the index"


def _size(size: Size) -> str:
    return f"{size.bytes:,} bytes, about {size.tokens:,} tokens"


def _growth(report: Report) -> Iterator[str]:
    lately = report.lately
    if lately is None:
        yield f"Growth: too little is known (it takes counts {SHORTEST} days apart, and records that came between them)"
    else:
        span = f"{lately.came} from {lately.since.day} to {lately.until.day}"
        yield f"Growth: {lately.a_day:.2f} records a day ({span}); days to come with the range that holds {SURE:.0%}"
    rows = [(f"{INDENT}{one.number:,} {one.what}", told) for one in report.targets if (told := _target(one))]
    yield from table(rows)


def _target(target: Target) -> str:
    if target.is_reached:
        return "there already"
    if target.forecast is None:
        return ""
    coming = target.forecast
    return f"{coming.day}  ({coming.earliest} to {coming.latest or 'more than a hundred years from now'})"


def _repairs(report: Report) -> Iterator[str]:
    lines = [f"{line.number}: {len(line.text.strip())} characters: {line.text.strip()}" for line in report.long_lines]
    yield from _list(f"Lines of more than {LINE_LIMIT} characters", lines)
    yield from _list("Weak descriptions", _flaws(report.weak))
    yield from _list("Links to nothing", _flaws(report.dead))
    yield from _list("Dates that time has overtaken", _flaws(report.stale))
    yield from _list("Headers that cannot be read", _flaws(report.headers))
    yield from _list("Notes that say the same", (" = ".join(group) for group in report.duplicates))
    yield from _list("Parents, never to be merged", (f"{path} ({links} link to it)" for path, links in report.parents))
    yield from _list("Notes that are not in the index", report.unlisted)
    yield from _list("Lines of the index without a file", _flaws(report.missing))
    yield from _list("Lines to a note that has one already", _flaws(report.doubled))
    yield from _list("Passed over", _flaws(report.skipped))


def _flaws(flaws: Iterable[Flaw]) -> Iterator[str]:
    for one in flaws:
        place = f"{one.path}:{one.line}" if one.line else one.path
        words = f" “{one.words}”" if one.words else ""
        yield f"{place}{words}: {one.why}"


def _list(title: str, rows: Iterable[str]) -> Iterator[str]:
    told = list(rows)
    if told:
        yield f"{title}: {len(told):,}"
        yield from (f"{INDENT}{one_line(row, 2 * _SHOWN)}" for row in told[:TOLD])
    if len(told) > TOLD:
        yield f"{INDENT}… and {len(told) - TOLD:,} more, all in --json"


# --- the cut of an index --------------------------------------------------------------------------------
def plans(found: Sequence[Plan]) -> Iterator[str]:
    """Show what a cut would make of indexes, and what it saves."""
    for plan in found:
        saved = (
            f"{plan.saved:,} bytes at every start ({plan.saved / plan.was.bytes:.0%})" if plan.saved > 0 else "nothing"
        )
        yield bold(plan.root, before="")
        yield from table([
            ("now", f"{many(plan.was.number, 'line')}, {_size(plan.was)}"),
            ("cut", f"{many(plan.size.number, 'line')}, {_size(plan.size)}"),
            ("saved", saved),
            ("core", f"{many(plan.core, 'note')} on the index"),
        ])  # fmt: skip
        rows = [(f"{INDENT}{one.path}", f"{one_line(one.title)}: {many(one.notes, 'note')}") for one in plan.leaves]
        yield from table(rows)
        if not plan.changed:
            yield "Nothing would change: the index is cut so already"


def written(came: Written) -> Iterator[str]:
    """Show which pages were written and how that is taken back."""
    names = ", ".join(one_line(path) for path in came.pages) or "nothing"
    yield f"{one_line(came.root)}: written {names}"
    if came.removed:
        yield f"removed {', '.join(one_line(path) for path in came.removed)}"
    if came.kept:
        yield f"kept, for somebody wrote into them: {', '.join(one_line(path) for path in came.kept)}"


# --- compaction -----------------------------------------------------------------------------------------
def compactions(found: Sequence[Compaction]) -> Iterator[str]:
    """Show of each folder what could be shortened, and what merged after that."""
    for one in found:
        yield bold(one.source.root, before="")
        yield from _compaction(one)


def _compaction(found: Compaction) -> Iterator[str]:
    lines = (f"{one.path}: {one.length} characters → {one.description or 'no description'}" for one in found.shorten)
    yield from _list(f"To shorten to {LINE_LIMIT} characters, the rest goes into the body", lines)
    yield from _list("To merge", (f"{', '.join(one.drop)} into {one.keep}" for one in found.merge))
    yield from _list("Left alone, for others link to them", found.spared)
    if not (found.shorten or found.merge):
        yield "Nothing to compact"
