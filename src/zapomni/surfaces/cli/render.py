"""What people read: every answer as lines of text. Stored text never reaches the terminal but through `printable`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from zapomni.errors import Conflict
from zapomni.model import DESCRIPTION_LIMIT, By, Memory, Patch, Trust
from zapomni.record import FIELDS, TIMES, to_record
from zapomni.surfaces.cli.lines import (
    INDENT,
    TOLD,
    WIDEST,
    bold,
    counted,
    day,
    explained,
    field_text,
    listed,
    many,
    memories,
    moment,
    one_line,
    paragraphs,
    table,
    wrapped,
)
from zapomni.surfaces.shapes import MESSAGE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from zapomni.errors import ZapomniError
    from zapomni.model import Hit, Link, Outcome, Page, Recollection, Revision, Run, Scope
    from zapomni.services.context import Place
    from zapomni.services.history import Undone
    from zapomni.store.base import Check, Stats

SHORT: Final = 8
"""Letters of an id in a list: two of 10,000 memories share them by a chance of one in eight thousand."""
_UNTOLD: Final = {"id", "content", "title", "version", "accessed_at", "access_count"}
"""Fields of a memory that are shown in a place of their own or not at all."""


# --- memories -------------------------------------------------------------------------------------------
def recollection(
    answer: Recollection, *, by: str = By.TEXT, explain: bool = False, full: bool = False
) -> Iterator[str]:
    """Show the hits of a recall, best first; `explain` adds each part of each score."""
    for one in answer.hits:
        yield from hit(one, by=by, explain=explain, full=full)


def hit(found: Hit, *, by: str = By.TEXT, explain: bool = False, full: bool = False, label: str = "") -> Iterator[str]:
    """Show one hit, with its description where it was found by it.

    A `label` says that it is a memory, where other things are shown too.
    """
    yield _headline(found.memory, f"{found.score:.2f}", label)
    if by == By.DESCRIPTION and found.memory.description:
        yield f"{INDENT}description: {one_line(found.memory.description, DESCRIPTION_LIMIT)}"
    yield from _body(found.memory, full=full)
    if explain:
        yield from explained(found.parts)


def recollection_notes(
    answer: Recollection, asked: Mapping[str, Any], *, searched: int | None = None, explain: bool = False
) -> Iterator[str]:
    """Tell how the answer was looked for, and what is missing from it.

    `asked` are the options of the filter that were given; `searched` counts the memories that were looked through,
    where nothing was found.
    """
    from zapomni.services.questions import MARKS, WORDLESS

    where = f"{', '.join(one_line(scope) for scope in answer.scopes) or 'every scope'} (mode: {answer.mode.value})"
    left_out = ", ".join(_short(one) for one in answer.left_out)
    if answer.hits:
        yield f"{len(answer.hits)} found in {where}"
    elif left_out:
        yield f"{len(answer.left_out)} found in {where}, but the budget has no room for any: {left_out}"
    else:
        yield f"Nothing found in {where}{_why_nothing(answer, asked, searched, explain=explain)}"
    if answer.reason and searched != 0:
        yield f"Not the whole answer: {one_line(answer.reason)}"
    if answer.reason in {MARKS, WORDLESS} and searched != 0:
        yield "`zapomni list` with the same filters shows what there is"
    if answer.waiting:
        verb = "waits for its" if answer.waiting == 1 else "wait for their"
        yield f"{memories(answer.waiting)} {verb} vector; `zapomni reembed` makes {_them(answer.waiting)}"
    if answer.hits and left_out:
        yield f"No room for {len(answer.left_out)} more: {left_out}"


def _why_nothing(answer: Recollection, asked: Mapping[str, Any], searched: int | None, *, explain: bool) -> str:
    if answer.barred is not None:
        from zapomni.surfaces.cli.render_why import nothing_passes
        from zapomni.surfaces.why import MEMORIES

        return f": {nothing_passes(answer.barred, MEMORIES, asked)}"
    if searched == 0:
        return ": there is no memory to search"
    if searched and explain:
        return f": searched {memories(searched)}, and none reached the floor below which nothing counts as an answer"
    return untold(answer.reason, explain=explain) if searched else ""


def untold(reason: str | None, *, explain: bool) -> str:
    """Tell how to learn why nothing was found, where that can be and has not been told."""
    from zapomni.services.questions import MARKS, UNSEEN

    return "" if explain or reason in {MARKS, UNSEEN} else "; `--explain` tells why"


def page(found: Page, *, full: bool = False) -> Iterator[str]:
    """Show one page of a listing."""
    yield from _entries(found.memories, full=full)


def page_notes(found: Page, scopes: Sequence[Scope]) -> Iterator[str]:
    """Tell how many there are in all and how to go on."""
    yield f"{len(found.memories):,} of {found.total:,} in {', '.join(one_line(scope) for scope in scopes)}"
    if found.next is not None:
        yield f"More: --cursor {one_line(found.next)}"


def shown(memory: Memory, links: Sequence[Link] = ()) -> Iterator[str]:
    """Show a memory whole: every field that says something, then the text."""
    yield click.style(one_line(memory.id), fg="yellow") + bold(memory.title, before=INDENT)
    fields = to_record(memory)
    fields |= {name: moment(at) for name in TIMES if (at := getattr(memory, name)) is not None}
    told = [(name, field_text(value)) for name, value in fields.items() if name not in _UNTOLD]
    rows = [(name.replace("_", " "), value) for name, value in told if value]
    rows += [("version", str(memory.version)), ("read", many(memory.access_count, "time"))]
    rows += [("link", f"{k.kind.value} {_ends(k, memory.id)}") for k in links]
    yield from table(rows)
    yield ""
    yield from paragraphs(memory.content)


def would_delete(found: Sequence[Memory]) -> Iterator[str]:
    """Show what a deletion would take."""
    before = f", {told}" if (told := deleted_before(found)) else ""
    yield f"Would delete {memories(len(found))}{before}:" if found else "Would delete nothing."
    yield from _entries(found, full=False)


def deleted_before(found: Sequence[Memory]) -> str:
    """Say how many of some memories were deleted already; nothing where none was."""
    count = sum(memory.deleted_at is not None for memory in found)
    if not count:
        return ""
    return f"{count:,} of them deleted before" if len(found) > 1 else "deleted before"


def _entries(found: Sequence[Memory], *, full: bool) -> Iterator[str]:
    for memory in found:
        yield _headline(memory)
        yield from _body(memory, full=full)


def _headline(memory: Memory, score: str = "", label: str = "") -> str:
    marks = [
        *([label] if label else []),
        one_line(memory.kind),
        one_line(memory.scope),
        day(memory.observed_at or memory.created_at),
    ]
    marks += ["pinned"] if memory.pinned else []
    marks += [memory.trust.value] if memory.trust is not Trust.CONFIRMED else []
    marks += ["deleted"] if memory.deleted_at else []
    head = [click.style(_short(memory.id), fg="yellow"), *([click.style(score, fg="green")] if score else [])]
    return INDENT.join([*head, click.style(INDENT.join(marks), dim=True)]) + bold(memory.title, before=INDENT)


def _body(memory: Memory, *, full: bool) -> Iterator[str]:
    if full:
        yield from (f"{INDENT}{line}" for line in paragraphs(memory.content))
    else:
        yield from wrapped(memory.content)
    if memory.tags:
        yield click.style(f"{INDENT}tags: {'; '.join(one_line(tag) for tag in memory.tags)}", dim=True)


def _ends(link: Link, own: str) -> str:
    return f"-> {one_line(link.target)}" if link.source == own else f"<- {one_line(link.source)}"


# --- changes --------------------------------------------------------------------------------------------
def outcome(result: Outcome) -> Iterator[str]:
    """Tell what a write came to."""
    where = f" in {one_line(result.memory.scope)}, version {result.memory.version}" if result.memory else ""
    yield " ".join(part for part in (result.status.value, one_line(result.id)) if part) + where


def outcome_notes(result: Outcome) -> Iterator[str]:
    """Tell what was cut out, what was changed and what is nearly the same."""
    yield from (f"cut out of {cut.field}: {one_line(cut.rule)}" for cut in result.redactions)
    yield from (f"warning: {one_line(warning)}" for warning in result.warnings)
    yield from map(one_line, result.notes)
    yield from (f"nearly the same: {_short(memory.id)} {one_line(memory.content, 80)}" for memory in result.similar)


def deleted(results: Sequence[Outcome]) -> Iterator[str]:
    """List what was deleted or erased."""
    for result in results:
        yield from outcome(result)


def failures(errors: Iterable[tuple[str, ZapomniError]]) -> Iterator[str]:
    """List the ids that failed, each with its reason."""
    yield from (f"failed: {one_line(memory_id, 40)}: {one_line(error)}" for memory_id, error in errors)


def revisions(found: Sequence[Revision]) -> Iterator[str]:
    """Show the history of a memory, oldest first, each entry with what it changed."""
    from zapomni.services.history import brought_to

    for at, revision in enumerate(found):
        run = f"  run {one_line(revision.run)}" if revision.run else ""
        undoes = f"  takes back #{revision.undoes}" if revision.undoes is not None else ""
        to = brought_to(revision, found[:at])
        reached = f"  to what it was after #{to}" if to is not None else ""
        head = f"#{revision.seq}  {moment(revision.at)}  {revision.verb.value}  by {one_line(revision.actor)}"
        yield click.style(f"{head}{run}{undoes}{reached}", dim=True)
        changes = list(_changes(revision.before, revision.after))
        same = revision.before is not None and revision.after is not None and not changes
        yield from (f"{INDENT}{change}" for change in (["nothing changed"] if same else changes))


def runs(found: Sequence[Run]) -> Iterator[str]:
    """List runs, newest first."""
    for run in found:
        told = [(name, value) for name, value in run.detail.items() if not isinstance(value, dict | list)]
        detail = ", ".join(f"{one_line(name)} {one_line(value, 60)}" for name, value in told)
        state = "" if run.finished_at else "  (not finished)"
        head = f"{one_line(run.id)}  {moment(run.started_at)}  {one_line(run.verb)}  by {one_line(run.actor)}"
        yield f"{head}{state}  {detail}"


def undone(result: Undone) -> Iterator[str]:
    """Tell what an undo brought back and what it left alone."""
    now = "; it is deleted now" if result.deleted else ""
    if result.took is not None:
        yield f"taken back: {_step(result.took)}{now}"
    elif result.reached is not None:
        yield f"brought to what it was after {_step(result.reached)}{now}"
    else:
        yield f"taken back: {len(result.restored):,}" + (f" (run {one_line(result.run)})" if result.run else "")
    yield from (f"{INDENT}{one_line(one)}" for one in result.restored)
    yield from (f"{INDENT}left alone: {one_line(one)}: {one_line(reason)}" for one, reason in result.skipped)


def undone_notes(result: Undone, place: Place) -> Iterator[str]:
    """Tell how a change that was taken back is put forward again by who stands at `place`."""
    from zapomni.services.scopes import named

    if result.took is not None:
        memory_id, number = one_line(result.took.memory_id), result.took.seq
        there = one_line(named(place, result.scope)) if result.scope is not None else ""
        yield f"`zapomni undo {' '.join(filter(None, (memory_id, there)))} --to {number}` goes forward again"


def _step(revision: Revision) -> str:
    return f"{revision.verb.value} #{revision.seq} of {moment(revision.at)}"


def _changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[str]:
    if after is None:
        return
    if before is None:
        yield one_line(after.get("content", ""), WIDEST)
        return
    for name in FIELDS:
        old, new = before.get(name), after.get(name)
        if old != new and name not in {"version", "updated_at", "accessed_at", "access_count"}:
            yield f"{name}: {one_line(field_text(old), 60) or '-'} -> {one_line(field_text(new), 60) or '-'}"


# --- the whole store ------------------------------------------------------------------------------------
def stats(counts: Stats, scopes: Sequence[Scope], state: Mapping[str, Any]) -> Iterator[str]:
    """Show counts and sizes, largest first, and how search by meaning stands."""
    meaning = state["meaning"]
    model = f"{meaning['space'] or 'none yet'}; waiting: {meaning['waiting']:,}" if meaning["on"] else "switched off"
    rows = [
        ("memories", f"{counts.memories:,} in {', '.join(one_line(scope) for scope in scopes)}"),
        ("deleted", f"{counts.deleted:,}"),
        *((name, counted(getattr(counts, name))) for name in ("kinds", "scopes", "trusts", "tags")),
        ("known scopes", ", ".join(one_line(scope) for scope in state["known_scopes"])),
        ("writes go to", one_line(state["writes_to"])),
        ("vectors", one_line(model)),
        ("last error", one_line(meaning.get("error") or "")),
        ("bytes", counted(counts.bytes)),
        ("store", one_line(state["store"], 4_000)),
    ]
    yield from table([(name, value) for name, value in rows if value])


def checks(found: Sequence[Check]) -> Iterator[str]:
    """Show each thing that was looked at, and what mends the bad ones."""
    for check in found:
        mark = click.style("ok ", fg="green") if check.ok else click.style("BAD", fg="red", bold=True)
        yield f"{mark}  {one_line(check.name)}: {one_line(check.detail, 1_000)}"
        if check.remedy and not check.ok:
            yield f"     {one_line(check.remedy, 1_000)}"


def drained(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what a round over the embed queue came to."""
    yield f"done {came['done']:,}, failed {came['failed']:,}, left {came['left']:,} ({came['rate']:,.1f} a second)"
    if came["space"]:
        yield f"model: {one_line(came['space'])}"
    for one in came.get("failures", ()):
        yield f"{one['id']}: {one_line(one['reason'])}"
    if came.get("reason"):
        yield f"stopped: {one_line(came['reason'])}"
    if "documents" in came:
        yield "documents:"
        yield from (f"  {line}" for line in drained(came["documents"]))


def exported(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what an export wrote."""
    counts = {name: count for name, count in came.items() if isinstance(count, int)}
    yield f"written as {came['format']}: {listed(counts)}"
    if came["not_carried"]:
        yield f"not carried by this format: {', '.join(one_line(name) for name in came['not_carried'])}"


def imported(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what an import came to."""
    counts = {name: count for name, count in came.items() if isinstance(count, int) and not isinstance(count, bool)}
    counts |= {name: len(came[name]) for name in ("refused", "bad")}
    yield f"{'would read' if came['dry_run'] else 'read'} as {came['format']}, mode {came['mode']}: {listed(counts)}"
    if came["resumed"]:
        yield "an interrupted import of this file was finished"
    if came["run"]:
        yield f"run: {one_line(came['run'])}; `zapomni undo --run {one_line(came['run'])}` takes it back"


def import_notes(came: Mapping[str, Any]) -> Iterator[str]:
    """Name the lines that were not kept, and what was understood in a way worth telling."""
    told = [f"line {bad['line']}: {one_line(bad['reason'])}" for bad in (*came["bad"], *came["refused"])]
    told += [f"line {note['line']}: {one_line(note['text'])}" for note in came["notes"]]
    yield from told[:TOLD]
    if len(told) > TOLD:
        yield f"and {len(told) - TOLD:,} more; --json lists them all"
    if came["not_carried"]:
        yield f"not carried over: {', '.join(one_line(name) for name in came['not_carried'])}"


def backed_up(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what a backup holds."""
    yield f"{one_line(came['file'], 4_000)}: {memories(came['memories'])}, {came['deleted']:,} deleted"


def restored(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what a restore came to."""
    done = "restored from" if came["restored"] else "whole, nothing was changed:"
    yield f"{done} {one_line(came['file'], 4_000)}: {memories(came['memories'])}, {came['deleted']:,} deleted"
    if came["before"]:
        yield f"the store before it lies in {one_line(came['before'], 4_000)}"


def settings(rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Show each setting with its value and its origin."""
    yield from table(
        [(row["name"], f"{one_line(row['value'], 400)}  ({one_line(row['origin'], 400)})") for row in rows]
    )


def error(failure: ZapomniError) -> Iterator[str]:
    """Tell what failed and what can be done; a lost update shows both texts."""
    told = f"{one_line(failure.message, MESSAGE_LIMIT)}. {one_line(failure.remedy, MESSAGE_LIMIT)}"
    yield f"error: {told if failure.remedy else told.removesuffix('. ')}"
    if isinstance(failure, Conflict):
        for name, value in (("stored", failure.current), ("yours", failure.wanted)):
            content = value.content if isinstance(value, Memory | Patch) else None
            if isinstance(content, str) and content != "unset":
                yield f"{name}:"
                yield from (f"{INDENT}{line}" for line in paragraphs(content))


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def _short(memory_id: str) -> str:
    return one_line(memory_id)[:SHORT]
