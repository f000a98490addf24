"""Sources in `ingest` mode: keeping what is remembered of files in step with what they say now.

What was read of which file is known by the readings themselves, by path and SHA-256: there is no second record that
could disagree. A file that did not change costs no call; one that moved or was copied takes over what is known of it.
"""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zapomni.errors import ZapomniError
from zapomni.files.rules import Rules
from zapomni.files.tree import Tree
from zapomni.files.walk import walk
from zapomni.model import Run
from zapomni.model.document import SCANNED_ELSEWHERE, Scanned, Skipped, SourceStatus
from zapomni.readers.images import IMAGE_ENDINGS, IMAGE_LIMIT, is_image_name
from zapomni.readers.registry import limit_of
from zapomni.services.documents.scan import digest_of, too_much
from zapomni.services.reading.dating import Moment
from zapomni.services.reading.ingest import ingest
from zapomni.services.reading.material import SOURCE_LIMIT, material_of_file
from zapomni.services.reading.retire import ingest_actor, retire, standing_of
from zapomni.store.readings import Reading, Span
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.files.walk import Found, Walk
    from zapomni.llm.base import LlmFor
    from zapomni.model import Actor
    from zapomni.model.document import Source
    from zapomni.services.context import Context
    from zapomni.services.reading.facts import Terms
    from zapomni.services.reading.ingest import Ingested
    from zapomni.services.reading.material import Material

    Progress = Callable[[int, int], None]

LOCK: Final = "ingest-scan"
"""The lock of the one process that reads files into memories."""
PATIENCE: Final = 3
"""Failures of the model in a row after which a scan goes on without it: what it reads then waits for enriching."""


def scan_ingested(
    context: Context,
    llm_for: LlmFor,
    source: Source,
    *,
    actor: Actor,
    terms: Terms,
    quick: bool = False,
    rest_s: float = 0.0,
    accept_removals: bool = False,
    progress: Progress | None = None,
) -> Scanned:
    """Bring what is remembered of one source to what its files say now, each changed file in a run of its own.

    `quick` looks at paths alone: what is new is read, what is gone is retired, what changed waits for a whole scan,
    which compares every file's SHA-256. A file that changed within `rest_s` is left for the next scan, for it may
    not be finished. `llm_for` gives the model for the calls of a run. A file that cannot be read costs nothing but
    itself. While another process does this, that is the answer's `problem`.
    """
    with context.store.worker_lock(LOCK) as mine:
        if not mine:
            return Scanned(source=source, problem=SCANNED_ELSEWHERE)
        try:
            found = look_around(source)
        except ZapomniError as error:
            scanned = Scanned(source=source, problem=error.message)
        else:
            one = _Scan(context, llm_for, source, actor, terms, rest_s)
            scanned = one.run(found, progress, quick=quick, accept_removals=accept_removals)
        at = context.clock()
        context.store.documents.mark_scanned(source.id, at, scanned.problem)
        return replace(scanned, source=replace(source, scanned_at=at, problem=scanned.problem))


def look_around(source: Source) -> Walk:
    """Return what lies under a source's root as it is ingested: as it is indexed, and the images too."""
    rules = Rules.of(source.include, source.exclude)
    seen = replace(rules, endings=rules.endings | IMAGE_ENDINGS)
    return walk(source.root, seen, limit=lambda name: IMAGE_LIMIT if is_image_name(name) else limit_of(name))


def is_due(context: Context, source: Source) -> bool:
    """Tell whether a quick scan would find anything: a path that is new, or one that is gone.

    What the last scan stopped over is left to a whole one.
    """
    try:
        found = look_around(source)
    except ZapomniError:
        return source.problem is None
    there = {file.path for file in found.files}
    known = {path for path in known_files(context, source) if not found.hides(path)}
    return bool(there - known) or (bool(known - there) and source.problem is None)


def ingested_status(context: Context, source: Source) -> SourceStatus:
    """Return how many files of a source were read; `skipped` names those of which nothing came."""
    known = known_files(context, source)
    blank = [path for path, readings in known.items() if not any(one.run for one in readings)]
    skipped = tuple(Skipped(path=path, reason="nothing could be read of it; a scan says why") for path in sorted(blank))
    return SourceStatus(source=source, documents=len(known) - len(blank), chunks=0, waiting=0, skipped=skipped)


def known_files(context: Context, source: Source) -> dict[str, list[Reading]]:
    """Return what was read of the files of a source, by path."""
    known: dict[str, list[Reading]] = {}
    for reading in context.store.readings.readings_of(source.scope, label_of(source)):
        if reading.path is not None:
            known.setdefault(reading.path, []).append(reading)
    return known


def label_of(source: Source) -> str:
    """Return the source that readings and memories of an attached folder or file name: its root."""
    return cut(source.root, SOURCE_LIMIT)


class _Scan:
    """One scan of one source as it goes on."""

    def __init__(
        self, context: Context, llm_for: LlmFor, source: Source, actor: Actor, terms: Terms, rest_s: float
    ) -> None:
        self._context = context
        self._llm_for = llm_for
        self._source = source
        self._actor = actor
        self._terms = terms
        self._rest_s = rest_s
        self._tree = Tree(source.root)
        self._known = known_files(context, source)
        self._before = frozenset(path for path, readings in self._known.items() if any(one.run for one in readings))
        self._by_mark = {one.sha256: one for readings in self._known.values() for one in readings if one.run}
        self._gone: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._skipped: list[Skipped] = []
        self._notes: list[Skipped] = []
        self._failures = 0
        self._away: str | None = None
        self._waits: str | None = None

    def run(self, found: Walk, progress: Progress | None, *, quick: bool, accept_removals: bool) -> Scanned:
        there = {file.path for file in found.files}
        self._gone = {path for path in self._known if path not in there and not found.hides(path)}
        todo = [file for file in found.files if not self._is_passed_by(file, quick=quick)]
        self._counts["unchanged"] += len(found.files) - len(todo)
        for done, file in enumerate(todo, 1):
            self._take(file)
            if progress is not None:
                progress(done, len(todo))
        self._skipped += found.skipped
        problem = None if accept_removals else self._too_much(found)
        if problem is None:
            for path in sorted(self._gone):
                self._retire(path)
        return Scanned(
            source=self._source,
            excluded=found.excluded,
            skipped=tuple(sorted(self._skipped, key=attrgetter("path"))),
            notes=tuple(self._notes),
            problem=problem,
            waits=self._waits,
            **self._counts,
        )

    def _is_passed_by(self, file: Found, *, quick: bool) -> bool:
        """Tell whether a file is left for another scan: a known one by a quick scan, and one that is being written."""
        age_s = self._context.clock().timestamp() - file.modified_ns / 1e9
        return (quick and file.path in self._known) or 0 <= age_s < self._rest_s

    # --- one file --------------------------------------------------------------------------------------
    def _take(self, file: Found) -> None:
        known, mark = self._known.get(file.path, []), ""
        try:
            with self._tree.open(file.path) as opened:
                mark = digest_of(opened)
                if any(reading.sha256 == mark and reading.run for reading in known):
                    self._counts["unchanged"] += 1
                    return
                self._counts["read"] += 1
                if not known and mark in self._by_mark:
                    self._adopt(file.path, self._by_mark[mark])
                    return
                opened.seek(0)
                name = (file.path or self._source.root).rpartition("/")[2]
                moment = Moment(self._context.clock(), self._terms.zone, file.modified_ns)
                label = label_of(self._source)
                material = material_of_file(opened, name, moment, source=label, path=file.path, mark=mark)
        except OSError as error:
            self._skip(file.path, f"it cannot be read ({error.strerror or error})")
        except ZapomniError as error:
            self._pass_over(file.path, mark, error.message, known)
        else:
            self._ingest(file.path, material, known)

    def _ingest(self, path: str, material: Material, known: Sequence[Reading]) -> None:
        run = self._context.new_id()
        came = ingest(
            self._context,
            None if self._away else self._llm_for(run),
            material,
            scope=self._source.scope,
            actor=self._actor,
            terms=self._terms,
            run=run,
            why=self._away,
            replacing=known,
        )
        self._heed(came)
        self._skipped += came.skipped
        self._notes += [Skipped(path=path, reason=note) for note in _told(came)]
        if came.run is not None:
            for old in known:
                self._by_mark.pop(old.sha256, None)
            self._known[path] = [came.reading]
            self._by_mark[came.reading.sha256] = came.reading
            self._counts["changed" if any(one.run for one in known) else "added"] += 1

    def _heed(self, came: Ingested) -> None:
        """Ask no more in this scan once that is in vain."""
        self._failures = self._failures + 1 if came.reason else 0
        self._waits = self._waits or came.reason
        if came.hopeless or self._failures >= PATIENCE:
            self._away = came.reason

    def _adopt(self, path: str, donor: Reading) -> None:
        """Let a file that moved, or is a copy, take over what is known of its text."""
        reading = replace(donor, id=self._context.new_id(), path=path)
        moved = donor.path in self._gone
        readings = self._context.store.readings
        with self._context.store.write() as tx:
            tx.readings.keep(reading)
            for memory_id in readings.memories_of(donor.id):
                for span in readings.spans(memory_id):
                    if span.reading_id == donor.id:
                        tx.readings.tie(memory_id, Span(reading.id, span.start, span.end))
            if moved:
                tx.readings.drop(donor.id)
        if moved and donor.path is not None:
            self._gone.discard(donor.path)
            self._by_mark[reading.sha256] = reading
        self._known[path] = [reading]
        self._counts["moved" if moved else "added"] += 1

    def _retire(self, path: str) -> None:
        """Let go of a file that is gone, with the memories that it alone had said."""
        context, actor, run = self._context, ingest_actor(self._actor), self._context.new_id()
        detail = {"source": label_of(self._source), "path": path}
        with context.store.write() as tx:
            tx.start_run(Run(id=run, verb="ingest", actor=actor.name, started_at=context.clock(), detail=detail))
            standing = standing_of(context, tx, self._known[path])
            retire(context, tx, standing.ours, actor=actor, run=run)
            for reading in self._known[path]:
                tx.readings.drop(reading.id)
            tx.finish_run(run, context.clock(), {**detail, "retired": len(standing.ours)})
        self._notes += [Skipped(path=path, reason=_edited(one.id)) for one in standing.edited.values()]
        self._counts["removed"] += 1

    def _pass_over(self, path: str, mark: str, reason: str, known: Sequence[Reading]) -> None:
        """Name a file that cannot be read; an empty reading keeps it from being opened again at every quick scan."""
        self._skip(path, reason)
        if known:
            return
        blank = Reading(
            id=self._context.new_id(),
            scope=self._source.scope,
            source=label_of(self._source),
            path=path,
            text="",
            sha256=mark,
            at=self._context.clock(),
        )
        with self._context.store.write() as tx:
            tx.readings.keep(blank)
        self._known[path] = [blank]

    def _skip(self, path: str, reason: str) -> None:
        self._skipped.append(Skipped(path=path, reason=reason))

    def _too_much(self, found: Walk) -> str | None:
        lost = sum(path in self._before and not self._tree.is_there(path) for path in self._gone)
        return too_much(lost, len(self._before), found)


def _told(came: Ingested) -> list[str]:
    """Return what is to be said about a file that was read."""
    cut_out = [f"{one.rule} was cut out" for one in came.redactions]
    waits = [f"it waits for a model: {came.reason}"] if came.waiting else []
    return [*came.notes, *cut_out, *waits, *map(_edited, came.conflicts)]


def _edited(memory_id: str) -> str:
    return f"memory {memory_id} was edited since it was read, so it stays beside what the file says now"
