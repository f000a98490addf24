"""What people read: every answer as lines of text. Stored text never reaches the terminal but through `printable`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from zapomni.errors import Conflict
from zapomni.model import Memory, Patch, Trust
from zapomni.record import FIELDS, TIMES, to_record
from zapomni.text.clean import cut, preview, printable
from zapomni.text.clusters import edge_before

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from zapomni.errors import ZapomniError
    from zapomni.model import Hit, Link, Outcome, Page, Recollection, Revision, Run, Scope
    from zapomni.services.history import Undone
    from zapomni.store.base import Check, Stats

SHORT: Final = 8
"""Letters of an id in a list: two of 10,000 memories share them by a chance of one in eight thousand."""
PREVIEW_LINES: Final = 3
WIDEST: Final = 100
TOLD: Final = 20
"""Lines of a file that are named to a person; JSON names all."""
_INDENT: Final = "  "
_UNTOLD: Final = {"id", "content", "title", "version", "accessed_at", "access_count"}
"""Fields of a memory that are shown in a place of their own or not at all."""


# --- memories -------------------------------------------------------------------------------------------
def recollection(answer: Recollection, *, explain: bool = False, full: bool = False) -> Iterator[str]:
    """Show the hits of a recall, best first; `explain` adds each part of each score."""
    for hit in answer.hits:
        yield _headline(hit.memory, f"{hit.score:.2f}")
        yield from _body(hit.memory, full=full)
        if explain:
            yield from _explained(hit)


def recollection_notes(answer: Recollection, *, searched: int | None = None, explain: bool = False) -> Iterator[str]:
    """Tell how the answer was looked for, and what is missing from it.

    `searched` counts the memories that were looked through, where nothing was found.
    """
    where = f"{', '.join(_line(scope) for scope in answer.scopes) or 'every scope'} (mode: {answer.mode.value})"
    left_out = ", ".join(_short(one) for one in answer.left_out)
    if answer.hits:
        yield f"{len(answer.hits)} found in {where}"
    elif left_out:
        yield f"{len(answer.left_out)} found in {where}, but the budget has no room for any: {left_out}"
    else:
        yield f"Nothing found in {where}{_why_nothing(searched, explain=explain)}"
    if answer.reason and searched != 0:
        yield f"Not the whole answer: {_line(answer.reason)}"
    if answer.waiting:
        verb = "waits for its" if answer.waiting == 1 else "wait for their"
        yield f"{_memories(answer.waiting)} {verb} vector; `zapomni reembed` makes {_them(answer.waiting)}"
    if answer.hits and left_out:
        yield f"No room for {len(answer.left_out)} more: {left_out}"


def _why_nothing(searched: int | None, *, explain: bool) -> str:
    if searched == 0:
        return ": there is no memory to search"
    if searched and explain:
        return f": searched {_memories(searched)}, and none reached the floor below which nothing counts as an answer"
    return ""


def page(found: Page, *, full: bool = False) -> Iterator[str]:
    """Show one page of a listing."""
    for memory in found.memories:
        yield _headline(memory)
        yield from _body(memory, full=full)


def page_notes(found: Page, scopes: Sequence[Scope]) -> Iterator[str]:
    """Tell how many there are in all and how to go on."""
    yield f"{len(found.memories):,} of {found.total:,} in {', '.join(_line(scope) for scope in scopes)}"
    if found.next is not None:
        yield f"More: --cursor {_line(found.next)}"


def shown(memory: Memory, links: Sequence[Link] = ()) -> Iterator[str]:
    """Show a memory whole: every field that says something, then the text."""
    yield click.style(_line(memory.id), fg="yellow") + _bold(memory.title, before=_INDENT)
    fields = {**to_record(memory), "pinned": memory.pinned or None}
    fields |= {name: _moment(at) for name in TIMES if (at := getattr(memory, name)) is not None}
    told = [(name, _value(value)) for name, value in fields.items() if name not in _UNTOLD]
    rows = [(name.replace("_", " "), value) for name, value in told if value]
    rows += [("version", str(memory.version)), ("read", f"{memory.access_count:,} times")]
    rows += [("link", f"{k.kind.value} {_ends(k, memory.id)}") for k in links]
    yield from _table(rows)
    yield ""
    yield from _paragraphs(memory.content)


def would_delete(found: Sequence[Memory]) -> Iterator[str]:
    """Show what a deletion would take."""
    yield f"Would delete {len(found):,}:" if found else "Would delete nothing."
    for memory in found:
        yield _headline(memory)


def _headline(memory: Memory, score: str = "") -> str:
    marks = [_line(memory.kind), _line(memory.scope), _day(memory.observed_at or memory.created_at)]
    marks += ["pinned"] if memory.pinned else []
    marks += [memory.trust.value] if memory.trust is not Trust.CONFIRMED else []
    marks += ["deleted"] if memory.deleted_at else []
    head = [click.style(_short(memory.id), fg="yellow"), *([click.style(score, fg="green")] if score else [])]
    return _INDENT.join([*head, click.style(_INDENT.join(marks), dim=True)]) + _bold(memory.title, before=_INDENT)


def _body(memory: Memory, *, full: bool) -> Iterator[str]:
    if full:
        yield from (f"{_INDENT}{line}" for line in _paragraphs(memory.content))
    else:
        yield from _wrapped(memory.content)
    if memory.tags:
        yield click.style(f"{_INDENT}tags: {'; '.join(_line(tag) for tag in memory.tags)}", dim=True)


def _explained(hit: Hit) -> Iterator[str]:
    names = max((len(part.name) for part in hit.parts), default=0)
    for part in hit.parts:
        yield click.style(f"{_INDENT * 2}{_line(part.name):<{names}}  {part.value:8.4f}  {_line(part.why)}", dim=True)


def _ends(link: Link, own: str) -> str:
    return f"-> {_line(link.target)}" if link.source == own else f"<- {_line(link.source)}"


# --- changes --------------------------------------------------------------------------------------------
def outcome(result: Outcome) -> Iterator[str]:
    """Tell what a write came to."""
    where = f" in {_line(result.memory.scope)}, version {result.memory.version}" if result.memory else ""
    yield " ".join(part for part in (result.status.value, _line(result.id)) if part) + where


def outcome_notes(result: Outcome) -> Iterator[str]:
    """Tell what was cut out, what was changed and what is nearly the same."""
    yield from (f"cut out of {cut.field}: {_line(cut.rule)}" for cut in result.redactions)
    yield from (f"warning: {_line(warning)}" for warning in result.warnings)
    yield from (f"nearly the same: {_short(memory.id)} {_line(memory.content, 80)}" for memory in result.similar)


def deleted(results: Sequence[Outcome]) -> Iterator[str]:
    """List what was deleted or erased."""
    for result in results:
        yield from outcome(result)


def failures(errors: Iterable[tuple[str, ZapomniError]]) -> Iterator[str]:
    """List the ids that failed, each with its reason."""
    yield from (f"failed: {_line(memory_id, 40)}: {_line(error)}" for memory_id, error in errors)


def revisions(found: Sequence[Revision]) -> Iterator[str]:
    """Show the history of a memory, oldest first, each entry with what it changed."""
    for revision in found:
        run = f"  run {_line(revision.run)}" if revision.run else ""
        undoes = f"  takes back #{revision.undoes}" if revision.undoes is not None else ""
        head = (
            f"#{revision.seq}  {_moment(revision.at)}  {revision.verb.value}  by {_line(revision.actor)}{run}{undoes}"
        )
        yield click.style(head, dim=True)
        yield from (f"{_INDENT}{change}" for change in _changes(revision.before, revision.after))


def runs(found: Sequence[Run]) -> Iterator[str]:
    """List runs, newest first."""
    for run in found:
        detail = ", ".join(f"{_line(name)} {_line(value, 60)}" for name, value in run.detail.items())
        state = "" if run.finished_at else "  (not finished)"
        yield f"{_line(run.id)}  {_moment(run.started_at)}  {_line(run.verb)}  by {_line(run.actor)}{state}  {detail}"


def undone(result: Undone) -> Iterator[str]:
    """Tell what an undo brought back and what it left alone."""
    run = f" (run {_line(result.run)})" if result.run else ""
    yield f"taken back: {len(result.restored):,}{run}"
    yield from (f"{_INDENT}{_line(one)}" for one in result.restored)
    yield from (f"{_INDENT}left alone: {_line(one)}: {_line(reason)}" for one, reason in result.skipped)


def _changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Iterator[str]:
    if after is None:
        return
    if before is None:
        yield _line(after.get("content", ""), WIDEST)
        return
    for name in FIELDS:
        old, new = before.get(name), after.get(name)
        if old != new and name not in {"version", "updated_at", "accessed_at", "access_count"}:
            yield f"{name}: {_line(_value(old), 60) or '-'} -> {_line(_value(new), 60) or '-'}"


# --- the whole store ------------------------------------------------------------------------------------
def stats(counts: Stats, scopes: Sequence[Scope], state: Mapping[str, Any]) -> Iterator[str]:
    """Show counts and sizes, largest first, and how search by meaning stands."""
    meaning = state["meaning"]
    model = f"{meaning['space'] or 'none yet'}; waiting: {meaning['waiting']:,}" if meaning["on"] else "switched off"
    rows = [
        ("memories", f"{counts.memories:,} in {', '.join(_line(scope) for scope in scopes)}"),
        ("deleted", f"{counts.deleted:,}"),
        *((name, _counted(getattr(counts, name))) for name in ("kinds", "scopes", "trusts", "tags")),
        ("known scopes", ", ".join(_line(scope) for scope in state["known_scopes"])),
        ("writes go to", _line(state["writes_to"])),
        ("vectors", _line(model)),
        ("last error", _line(meaning.get("error") or "")),
        ("bytes", _counted(counts.bytes)),
        ("store", _line(state["store"], 4_000)),
    ]
    yield from _table([(name, value) for name, value in rows if value])


def checks(found: Sequence[Check]) -> Iterator[str]:
    """Show each thing that was looked at, and what mends the bad ones."""
    for check in found:
        mark = click.style("ok ", fg="green") if check.ok else click.style("BAD", fg="red", bold=True)
        yield f"{mark}  {_line(check.name)}: {_line(check.detail, 1_000)}"
        if check.remedy and not check.ok:
            yield f"     {_line(check.remedy, 1_000)}"


def drained(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what a round over the embed queue came to."""
    yield f"done {came['done']:,}, failed {came['failed']:,}, left {came['left']:,} ({came['rate']:,.1f} a second)"
    if came["space"]:
        yield f"model: {_line(came['space'])}"
    for one in came.get("failures", ()):
        yield f"{one['id']}: {_line(one['reason'])}"
    if came.get("reason"):
        yield f"stopped: {_line(came['reason'])}"


def exported(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what an export wrote."""
    counts = {name: count for name, count in came.items() if isinstance(count, int)}
    yield f"written as {came['format']}: {_listed(counts)}"
    if came["not_carried"]:
        yield f"not carried by this format: {', '.join(_line(name) for name in came['not_carried'])}"


def imported(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what an import came to."""
    counts = {name: count for name, count in came.items() if isinstance(count, int) and not isinstance(count, bool)}
    counts |= {name: len(came[name]) for name in ("refused", "bad")}
    yield f"{'would read' if came['dry_run'] else 'read'} as {came['format']}, mode {came['mode']}: {_listed(counts)}"
    if came["resumed"]:
        yield "an interrupted import of this file was finished"
    if came["run"]:
        yield f"run: {_line(came['run'])}; `zapomni undo --run {_line(came['run'])}` takes it back"


def import_notes(came: Mapping[str, Any]) -> Iterator[str]:
    """Name the lines that were not kept, and what was understood in a way worth telling."""
    told = [f"line {bad['line']}: {_line(bad['reason'])}" for bad in (*came["bad"], *came["refused"])]
    told += [f"line {note['line']}: {_line(note['text'])}" for note in came["notes"]]
    yield from told[:TOLD]
    if len(told) > TOLD:
        yield f"and {len(told) - TOLD:,} more; --json lists them all"
    if came["not_carried"]:
        yield f"not carried over: {', '.join(_line(name) for name in came['not_carried'])}"


def backed_up(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what a backup holds."""
    yield f"{_line(came['file'], 4_000)}: {_memories(came['memories'])}, {came['deleted']:,} deleted"


def restored(came: Mapping[str, Any]) -> Iterator[str]:
    """Tell what a restore came to."""
    done = "restored from" if came["restored"] else "whole, nothing was changed:"
    yield f"{done} {_line(came['file'], 4_000)}: {_memories(came['memories'])}, {came['deleted']:,} deleted"
    if came["before"]:
        yield f"the store before it lies in {_line(came['before'], 4_000)}"


def settings(rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Show each setting with its value and its origin."""
    yield from _table([(row["name"], f"{_line(row['value'], 400)}  ({_line(row['origin'], 400)})") for row in rows])


def error(failure: ZapomniError) -> Iterator[str]:
    """Tell what failed and what can be done; a lost update shows both texts."""
    yield f"error: {_line(failure, 4_000)}"
    if isinstance(failure, Conflict):
        for name, value in (("stored", failure.current), ("yours", failure.wanted)):
            content = value.content if isinstance(value, Memory | Patch) else None
            if isinstance(content, str) and content != "unset":
                yield f"{name}:"
                yield from (f"{_INDENT}{line}" for line in _paragraphs(content))


# --- pieces ---------------------------------------------------------------------------------------------
def _line(value: object, limit: int = 400) -> str:
    """Return a value as one line that is safe to print."""
    return printable(preview(str(value), limit))


def _paragraphs(text: str) -> list[str]:
    return printable(text).split("\n")


def _wrapped(text: str) -> Iterator[str]:
    """Show the beginning of a text as a few lines, broken at spaces or else between two clusters."""
    from shutil import get_terminal_size

    room = max(20, min(WIDEST, get_terminal_size().columns)) - len(_INDENT)
    rest = _line(text, 2 * room * PREVIEW_LINES)
    for _ in range(PREVIEW_LINES - 1):
        if len(rest) > room:
            end = rest.rfind(" ", 1, room + 1)
            end = end if end > 0 else edge_before(rest, room) or room
            yield _INDENT + rest[:end]
            rest = rest[end:].lstrip(" ")
    yield _INDENT + cut(rest, room)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(_line(item) for item in value)
    if isinstance(value, dict):
        return "; ".join(f"{_line(name)}={_line(item)}" for name, item in value.items())
    return "yes" if value is True else "" if value is None else _line(value)


def _memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def _counted(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{_line(name)} {count:,}" for name, count in ordered)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count) or "nothing"


def _table(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        yield f"{click.style(f'{name:<{width}}', dim=True)}  {value}"


def _bold(text: str, *, before: str) -> str:
    return before + click.style(_line(text), bold=True) if text else ""


def _short(memory_id: str) -> str:
    return _line(memory_id)[:SHORT]


def _day(at: datetime) -> str:
    return _local(at).strftime("%Y-%m-%d")


def _moment(at: datetime) -> str:
    return _local(at).strftime("%Y-%m-%d %H:%M:%S")


def _local(at: datetime) -> datetime:
    """Return a time in the zone of this machine; the very first and last days stay in UTC."""
    try:
        return at.astimezone()
    except (OverflowError, ValueError, OSError):
        return at
