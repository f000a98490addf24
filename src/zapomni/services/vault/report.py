"""The state of a memory folder: what its index costs, where it is going, and what in it wants repair."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from zapomni.services.vault.budget import NEAR, Size, budgets_of, size_of
from zapomni.services.vault.folder import link_key, links_to
from zapomni.text.fold import digest
from zapomni.text.growth import Count, Forecast, Growth, counts_of, growth, reached
from zapomni.text.growth_picture import Arrival, Bar, Picture, growth_svg
from zapomni.text.index_page import LINE_LIMIT, loaded, parse_index, target_key
from zapomni.text.note_checks import stale_dates, weakness
from zapomni.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date, datetime, tzinfo

    from zapomni.services.vault.budget import Budget
    from zapomni.services.vault.folder import Folder, NoteFile
    from zapomni.settings import IndexSettings
    from zapomni.text.index_page import Line, Loaded

RECORDS: Final = (150, 200)
"""Records from which the article's owner looks for misses of the selection (features B-14)."""


class Target(NamedTuple):
    """A size to come: what it is, the number, whether it is there already, and when it will be, where that is known."""

    what: str
    number: int
    is_reached: bool
    forecast: Forecast | None


class Flaw(NamedTuple):
    """Something that wants repair: the file, the line in it (0 for the whole), what stands there, and why."""

    path: str
    line: int
    words: str
    why: str


class Report(Struct, frozen=True, kw_only=True):
    """What a look at a folder came to.

    `index` counts the lines of the page that is always loaded, `leaves` those of its leaves, `bodies` the notes.
    `cut` are the lines that a harness would not load, `parents` notes with the number of others that link to them,
    `duplicates` groups of notes of the same text. `lately` is None where too little is known of the growth.
    """

    root: str
    index: Size
    leaves: Size
    bodies: Size
    line_bytes: float
    budgets: tuple[Budget, ...]
    cut: tuple[Line, ...]
    counts: tuple[Count, ...]
    lately: Growth | None
    targets: tuple[Target, ...]
    long_lines: tuple[Line, ...]
    weak: tuple[Flaw, ...]
    dead: tuple[Flaw, ...]
    stale: tuple[Flaw, ...]
    headers: tuple[Flaw, ...]
    parents: tuple[tuple[str, int], ...]
    duplicates: tuple[tuple[str, ...], ...]
    unlisted: tuple[str, ...]
    missing: tuple[Flaw, ...]
    doubled: tuple[Flaw, ...]
    skipped: tuple[Flaw, ...]

    @property
    def ratio(self) -> float:
        """How many bytes of bodies stand behind one of the index; 0 without an index."""
        return self.bodies.bytes / self.index.bytes if self.index.bytes else 0.0


def vault_report(
    folder: Folder,
    settings: IndexSettings,
    *,
    now: datetime,
    zone: tzinfo,
    born: Mapping[str, datetime] | None = None,
    counts: Sequence[Count] = (),
) -> Report:
    """Look at a folder, with the owner's own `counts` of records.

    Without them a note is counted from its file's own time, or from what `born` says of its path if that is earlier.
    """
    told = tuple(counts) or tuple(counts_of(_births(folder, born or {}, zone), now.astimezone(zone).date()))
    page, index = parse_index(folder.index), size_of(folder.index)
    line_bytes, lately = _mean_bytes(page.entries), growth(told)
    budgets = budgets_of(index, settings)
    return Report(
        root=folder.root,
        index=index,
        leaves=_sum(size_of(text) for text in folder.leaves.values()),
        bodies=_bodies(folder.notes),
        line_bytes=line_bytes,
        budgets=budgets,
        cut=_numbered(page.lines, loaded(folder.index, lines=settings.lines, bytes=settings.bytes)),
        counts=told,
        lately=lately,
        targets=tuple(_targets(told, lately, budgets, line_bytes)),
        long_lines=_too_long(page.entries),
        weak=tuple(_weak(folder.notes)),
        dead=tuple(_dead(folder.notes)),
        stale=tuple(_stale(folder.notes, now, zone)),
        headers=tuple(_headers(folder.notes)),
        parents=parents_of(folder.notes),
        duplicates=duplicates_of(folder.notes),
        unlisted=tuple(_unlisted(folder)),
        missing=tuple(_missing(folder)),
        doubled=tuple(_doubled(folder)),
        skipped=tuple(Flaw(one.path, 0, "", one.reason) for one in folder.skipped),
    )


def picture_of(report: Report) -> str:
    """Return growth and budget of a folder as SVG."""
    arrivals = [
        Arrival(one.number, one.forecast.day, one.forecast.earliest, one.forecast.latest)
        for one in report.targets
        if one.what == "records" and one.forecast is not None
    ]
    picture = Picture(
        title=f"{report.root.rpartition('/')[2]}: {report.bodies.number} records",
        counts=report.counts,
        lately=report.lately,
        arrivals=arrivals,
        limits=RECORDS,
        bars=[Bar(one.what, one.used, one.most) for one in report.budgets],
    )
    return growth_svg(picture, near=NEAR)


# --- links and duplicates, which compaction asks for too --------------------------------------------------
def parents_of(notes: Sequence[NoteFile]) -> tuple[tuple[str, int], ...]:
    """Return the notes that others link to, with how many do, the most wanted first: they are never merged away."""
    meant = links_to(notes)
    found = Counter(
        target
        for note in notes
        for target in {meant.get(link_key(link)) for link in note.note.links}
        if target is not None and target != note.path
    )
    return tuple(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def duplicates_of(notes: Sequence[NoteFile]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of notes whose bodies say the same, letter case, ё and white space apart."""
    groups: dict[bytes, list[str]] = {}
    for note in notes:
        if note.note.body.strip():
            groups.setdefault(digest(note.note.body), []).append(note.path)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


# --- sizes ------------------------------------------------------------------------------------------------
def _sum(sizes: Iterator[Size]) -> Size:
    return Size(*map(sum, zip((0, 0, 0), *sizes, strict=True)))


def _bodies(notes: Sequence[NoteFile]) -> Size:
    tokens = sum(estimate_tokens(f"{note.note.description}\n{note.note.body}") for note in notes)
    return Size(len(notes), sum(note.size for note in notes), tokens)


def _numbered(lines: Sequence[Line], held: Loaded) -> tuple[Line, ...]:
    return tuple(lines[number - 1] for number in held.cut)


def _mean_bytes(entries: Sequence[Line]) -> float:
    return sum(len(line.text.encode()) for line in entries) / len(entries) if entries else 0.0


def _too_long(entries: Sequence[Line]) -> tuple[Line, ...]:
    return tuple(sorted((one for one in entries if _length(one) > LINE_LIMIT), key=lambda one: -_length(one)))


def _length(line: Line) -> int:
    return len(line.words)


# --- growth -----------------------------------------------------------------------------------------------
def _births(folder: Folder, born: Mapping[str, datetime], zone: tzinfo) -> Iterator[date]:
    for note in folder.notes:
        yield min(note.changed_at, born.get(note.path, note.changed_at)).astimezone(zone).date()


def _targets(
    counts: Sequence[Count], lately: Growth | None, budgets: Sequence[Budget], line_bytes: float
) -> Iterator[Target]:
    """Yield the sizes to come: in records, and where the budgets of the index end at a line a record."""
    there = max(counts).records if counts else 0
    wanted = [("records", number, float(number - there)) for number in RECORDS]
    for budget in budgets:
        a_record = {"lines": 1.0, "bytes": line_bytes}.get(budget.what, 0.0)
        if budget.what == "tokens" and there:
            a_record = budget.used / there
        if a_record:
            wanted.append((budget.what, budget.most, (budget.most - budget.used) / a_record))
    for what, number, more in wanted:
        coming = reached(lately, more) if lately is not None and more > 0 else None
        yield Target(what, number, more <= 0, coming)


# --- flaws ------------------------------------------------------------------------------------------------
def _weak(notes: Sequence[NoteFile]) -> Iterator[Flaw]:
    for note in notes:
        why = weakness(note.name, note.note.description)
        if why is not None:
            yield Flaw(note.path, 0, note.note.description, why)


def _dead(notes: Sequence[NoteFile]) -> Iterator[Flaw]:
    meant = links_to(notes)
    for note in notes:
        for link in note.note.links:
            if link_key(link) not in meant:
                yield Flaw(note.path, _line_with(note, link), f"[[{link}]]", "no note is called so")


def _stale(notes: Sequence[NoteFile], now: datetime, zone: tzinfo) -> Iterator[Flaw]:
    for note in notes:
        for found in stale_dates(note.note.body, now, zone):
            yield Flaw(note.path, found.line + note.body_line - 1, found.words, found.why)


def _headers(notes: Sequence[NoteFile]) -> Iterator[Flaw]:
    return (Flaw(note.path, 0, "", note.note.problem) for note in notes if note.note.problem)


def _unlisted(folder: Folder) -> Iterator[str]:
    listed = {link for text in folder.pages.values() for line in parse_index(text).lines for link in line.links}
    return (note.path for note in folder.notes if target_key(note.path) not in listed)


def _missing(folder: Folder) -> Iterator[Flaw]:
    there = {target_key(path) for path in (*folder.pages, *(note.path for note in folder.notes))}
    there |= {target_key(one.path) for one in folder.skipped}
    for path, text in folder.pages.items():
        for line in parse_index(text).entries:
            target = line.entry.target if line.entry else ""
            if target.endswith(".md") and not target.startswith(("../", "/")) and target_key(target) not in there:
                yield Flaw(path, line.number, target, "there is no such file")


def _doubled(folder: Folder) -> Iterator[Flaw]:
    """Yield the lines that lead where another one leads already, of the index or of a leaf."""
    first: dict[str, str] = {}
    for path, text in folder.pages.items():
        for line in parse_index(text).entries:
            target, place = line.entry.target if line.entry else "", f"{path}:{line.number}"
            if first.setdefault(target_key(target), place) != place:
                yield Flaw(path, line.number, target, f"{first[target_key(target)]} leads there already")


def _line_with(note: NoteFile, link: str) -> int:
    lines = note.note.body.splitlines()
    return next((number for number, line in enumerate(lines, note.body_line) if f"[[{link}" in line), 0)
