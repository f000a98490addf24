"""The import verb: brings the memories of a file into the store, in one run that can be continued and undone.

What it brings goes through the same gateway as every write: limits, redaction, rejections and exact
duplicates. Near duplicates are not looked for. Records of our own keep id, times, version, trust and origin.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import Refused, Unavailable
from zapomni.exchange import agent_memory_mcp, jsonl, plain, server_memory
from zapomni.exchange.admission import Admission, Ready, ready_of
from zapomni.exchange.entries import (
    Dropped,
    Format,
    Imported,
    ImportMode,
    Item,
    KnownScope,
    Note,
    Problem,
    Reading,
    Refusal,
    Tie,
)
from zapomni.exchange.rehearsal import Minded, Rehearsal
from zapomni.exchange.source import Source, open_source
from zapomni.model import Actor, Link, Origin, Run
from zapomni.services.ahead import Ahead
from zapomni.services.parse import parse_choice
from zapomni.text.clean import clean, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import tzinfo
    from pathlib import Path
    from typing import BinaryIO

    from zapomni.exchange.entries import Entry, Lines
    from zapomni.model import Scope
    from zapomni.services.context import Context
    from zapomni.store.base import Tx

    Progress = Callable[[int], None]
    """Is told how many memories of the file were dealt with."""

BATCH: Final = 1_000
"""Memories a transaction: a kill loses at most one batch, and other writers get their turn in between."""
_VERB: Final = "import"
_SHOWN: Final = 5
_TOLD: Final = 1_000
_RUNS: Final = 100  # how far back a killed import is looked for
_READERS: Final[dict[Format, Callable[[Lines, Reading], Iterator[Entry]]]] = {
    Format.ZAPOMNI: jsonl.read,
    Format.AGENT_MEMORY_MCP: agent_memory_mcp.read,
    Format.SERVER_MEMORY: server_memory.read,
    Format.PLAIN: plain.read,
}


class Wish(Struct, frozen=True, kw_only=True):
    """How a file is to be imported; `form` None lets the file tell, `scope` None is the caller's place."""

    zone: tzinfo
    actor: Actor
    mode: ImportMode = ImportMode.MERGE
    form: Format | None = None
    scope: Scope | None = None
    dry_run: bool = False


def read_wish(
    zone: tzinfo,
    actor: Actor,
    *,
    mode: ImportMode | str,
    form: Format | str | None,
    scope: Scope | None,
    dry_run: bool,
) -> Wish:
    """Read the names of mode and format; raises `InvalidInput` for one that there is not."""
    return Wish(
        zone=zone,
        actor=actor,
        mode=parse_choice("mode", mode, ImportMode, ImportMode.MERGE),
        form=parse_choice("format", form, Format, Format.PLAIN) if form else None,
        scope=scope,
        dry_run=dry_run,
    )


def import_file(
    context: Context, source: str | Path | BinaryIO, wish: Wish, *, progress: Progress = lambda _: None
) -> Imported:
    """Import a file or stream; importing it again adds nothing and finishes what a killed import left.

    `replace` changes nothing while any line is bad, and takes one transaction for everything. Raises
    `NotFound` for a path that cannot be read, `InvalidInput` for an empty file, `Refused` for a format version
    of the future and for a broken file in `replace`; nothing is changed then.
    """
    reading = Reading(zone=wish.zone, scope=wish.scope or context.place.write)
    with open_source(source) as opened:
        form = wish.form or opened.format()
        if wish.mode is ImportMode.REPLACE:
            _refuse_broken(opened, _read(opened, form, reading))
        work = _Work(context, wish, form, opened)
        with work.all_of_it():
            work.take(_read(opened, form, reading), progress)
        return work.report()


def _read(opened: Source, form: Format, reading: Reading) -> Iterator[Entry]:
    lines = opened.items() if form is Format.AGENT_MEMORY_MCP else opened.lines()
    return _READERS[form](lines, reading)


def _refuse_broken(opened: Source, entries: Iterator[Entry]) -> None:
    """Raise `Refused` when any line of the file cannot be kept."""
    bad: list[Problem] = []
    for entry in entries:
        if isinstance(entry, Problem):
            bad.append(entry)
        elif isinstance(entry, Item):
            checked = ready_of(entry)
            bad += [checked] if isinstance(checked, Problem) else []
    if bad:
        named = "; ".join(f"line {problem.line}: {_told(problem.reason)}" for problem in bad[:_SHOWN])
        more = f"; and {len(bad) - _SHOWN:,} more" if len(bad) > _SHOWN else ""
        raise Refused(
            f"{opened.name} has {len(bad):,} bad lines, so nothing was replaced: {named}{more}",
            remedy="Mend them, or import in mode merge, which keeps the good lines",
        )


def _told(text: str) -> str:
    """Return what is said of a line, fit for every answer: the line may hold anything, of any length."""
    return cut(clean(text)[0], _TOLD)


def _is_there(tx: Tx, memory_id: str) -> bool:
    """Tell whether a memory is in the store; what cannot be stored is no id."""
    return not clean(memory_id)[1] and tx.get(memory_id) is not None


class _Rehearsed(Exception):
    """Ends a transaction of a dry run without a trace."""


class _Work:
    """One import on its way."""

    def __init__(self, context: Context, wish: Wish, form: Format, opened: Source) -> None:
        self._context, self._wish, self._form = context, wish, form
        self._detail = {"file": opened.name, "digest": opened.digest(), "mode": wish.mode.value, "format": form.value}
        self._actor = Actor(name=wish.actor.name, origin=Origin.IMPORT)
        self._run = self._killed_run()
        self._resumed = self._run is not None
        self._admission = Admission(context, self._actor, wish.mode, self._run_in)
        self._minded = Minded()
        self._whole: Tx | None = None
        self._scopes: list[KnownScope] = []
        self._ties: list[Tie] = []
        self._refusals: list[Refusal] = []
        self._links = self._done = self._stored = 0
        self._bad: list[Problem] = []
        self._notes: list[Note] = []
        self._dropped: set[str] = set()

    @contextmanager
    def all_of_it(self) -> Iterator[None]:
        """Hold everything together: in `replace` by one transaction, else batch by batch."""
        if self._wish.mode is ImportMode.REPLACE:
            with self._transaction() as tx:
                self._whole = tx
                yield
            return
        try:
            yield
        except Unavailable as error:
            if self._wish.dry_run or self._run is None:
                raise
            done = f"{error.message}; memories of the file stored by then: {self._stored:,}"
            raise type(error)(done, remedy="Import it again: it goes on where it stopped") from error

    def take(self, entries: Iterator[Entry], progress: Progress) -> None:
        """Bring in every entry: memories in batches, then what was replaced goes, then links and refusals come."""
        ahead = Ahead(self._readied, self._batches(entries))
        for batch in ahead:
            with self._transaction() as tx:
                tx.meanwhile(ahead.begin)
                self._register_scopes(tx)
                for ready in batch:
                    self._admission.admit(tx, ready)
            self._done += len(batch)
            self._stored = self._admission.counts["imported"] + self._admission.counts["updated"]
            progress(self._done)
        with self._transaction() as tx:
            self._register_scopes(tx)
            if self._wish.mode is ImportMode.REPLACE:
                self._admission.delete_others(tx)
            self._connect(tx)
            for refusal in self._refusals:
                tx.reject(refusal.rejection)
            if self._run is not None:
                tx.finish_run(self._run, self._context.clock(), {**self._detail, **self._numbers()})

    def report(self) -> Imported:
        """Return what it came to."""
        return Imported(
            format=self._form,
            mode=self._wish.mode,
            dry_run=self._wish.dry_run,
            run=None if self._wish.dry_run else self._run,
            resumed=self._resumed,
            **self._numbers(),
            refused=tuple(self._admission.refused),
            bad=tuple(
                replace(problem, reason=_told(problem.reason))
                for problem in sorted([*self._bad, *self._admission.bad], key=lambda problem: problem.line)
            ),
            notes=tuple(
                replace(note, text=_told(note.text)) for note in sorted(self._notes, key=lambda note: note.line)
            ),
            not_carried=tuple(sorted({_told(name) for name in self._dropped})),
        )

    def _numbers(self) -> dict[str, int]:
        return {**self._admission.counts, "links": self._links}

    def _set_aside(self, entry: Entry) -> None:
        match entry:
            case Problem():
                self._bad.append(entry)
            case Note():
                self._notes.append(entry)
            case Dropped():
                self._dropped.add(entry.name)
            case KnownScope():
                self._scopes.append(entry)
            case Tie():
                self._ties.append(entry)
            case Refusal():
                self._refusals.append(entry)

    def _batches(self, entries: Iterator[Entry]) -> Iterator[list[Item]]:
        """Yield the memories of the file in batches; everything else is set aside."""
        batch: list[Item] = []
        for entry in entries:
            if not isinstance(entry, Item):
                self._set_aside(entry)
                continue
            batch.append(entry)
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def _readied(self, items: list[Item]) -> list[Ready]:
        """Return what of these can be kept; the others are named."""
        checked = [ready_of(item) for item in items]
        self._bad += [one for one in checked if isinstance(one, Problem)]
        batch = [one for one in checked if isinstance(one, Ready)]
        self._notes += [Note(line=one.item.line, text=text) for one in batch for text in one.warnings]
        return batch

    @contextmanager
    def _transaction(self) -> Iterator[Tx]:
        if self._whole is not None:
            yield self._whole
        elif not self._wish.dry_run:
            with self._context.store.write() as tx:
                yield tx
        else:
            with suppress(_Rehearsed), self._context.store.write() as tx:
                yield Rehearsal(tx, self._minded)
                raise _Rehearsed

    def _register_scopes(self, tx: Tx) -> None:
        known = self._context.store.scope_identities() if self._scopes else {}
        for entry in self._scopes:
            if known.get(entry.scope) is None:
                tx.register_scope(entry.scope, entry.identity)
            elif entry.identity not in {None, known[entry.scope]}:
                text = f"{entry.scope} is tied to {known[entry.scope]} here, not to {entry.identity}"
                self._notes.append(Note(line=1, text=text))
        self._scopes.clear()

    def _connect(self, tx: Tx) -> None:
        """Add the links whose two ends are there; the others are named."""
        ids = self._admission.ids
        wanted: dict[str, list[Link]] = {}
        for tie in self._ties:
            ends = [ids.get(ref, ref) for ref in (tie.source, tie.target)]
            lost = [ref for ref, end in zip((tie.source, tie.target), ends, strict=True) if not _is_there(tx, end)]
            if lost:
                text = f"the link {tie.kind.value} was left out: {lost[0]!r} is neither in the file nor in the store"
                self._notes.append(Note(line=tie.line, text=text))
            elif ends[0] != ends[1]:
                wanted.setdefault(ends[0], []).append(Link(source=ends[0], target=ends[1], kind=tie.kind))
        for source, links in wanted.items():
            fresh = set(links) - set(self._context.store.links(source))
            tx.link(fresh)
            self._links += len(fresh)

    def _killed_run(self) -> str | None:
        """Return the run of an earlier import of this very file that never finished."""
        for run in self._context.store.runs(_RUNS):
            same = {name: run.detail.get(name) for name in self._detail} == self._detail
            if run.verb == _VERB and run.finished_at is None and same and not self._wish.dry_run:
                return run.id
        return None

    def _run_in(self, tx: Tx) -> str:
        """Return the run of this import, begun in this transaction when it is the first to change anything."""
        if self._run is None:
            self._run = self._context.new_id()
            now = self._context.clock()
            tx.start_run(Run(id=self._run, verb=_VERB, actor=self._actor.name, started_at=now, detail=self._detail))
        return self._run
