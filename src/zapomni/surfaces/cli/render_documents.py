"""What people read about documents: places found in them, and the sources that they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.model import By, Hit, Recollection
from zapomni.surfaces.cli.lines import (
    INDENT,
    TOLD,
    bold,
    counted,
    excerpt,
    explained,
    listed,
    many,
    moment,
    one_line,
    paragraphs,
    table,
    wrapped,
)
from zapomni.surfaces.cli.render import SHORT, untold
from zapomni.surfaces.cli.render import hit as memory_hit
from zapomni.surfaces.cli.session import absolute
from zapomni.surfaces.shapes import MIRROR_COUNTS, SCAN_COUNTS
from zapomni.text.clean import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from zapomni.model import Scope
    from zapomni.model.document import DocumentHit, Findings, Scanned, Skipped, Source, SourceStatus
    from zapomni.services.reading.ingest_forecast import ScanForecast


# --- what was found -------------------------------------------------------------------------------------
def findings(answer: Findings, asked: str, *, explain: bool = False, full: bool = False) -> Iterator[str]:
    """Show places in documents, best first: where each stands, and its text from what was asked for on."""
    yield from _hits(answer.hits, asked, explain=explain, full=full, labelled=False)


def nothing_attached(*, elsewhere: bool) -> str:
    """Tell that nothing is attached where it was looked for, and what to do about that."""
    if elsewhere:
        return "Nothing is attached in these scopes, but in others something is: look with `--scope all`"
    return "Nothing is attached; `zapomni source add PATH` attaches a folder"


def findings_notes(
    answer: Findings, asked: Mapping[str, Any], *, attached: bool, elsewhere: bool, explain: bool = False
) -> Iterator[str]:
    """Tell how the answer was looked for, and what is missing from it."""
    where = _where(answer.scopes, answer.mode.value)
    if not attached:
        yield f"Nothing found in {where}. {nothing_attached(elsewhere=elsewhere)}"
        return
    nothing = _why_nothing(answer, asked, explain=explain)
    yield f"{len(answer.hits)} found in {where}" if answer.hits else f"Nothing found in {where}{nothing}"
    if answer.reason:
        yield f"Not the whole answer: {one_line(answer.reason)}"
    yield from waiting(answer.waiting)
    yield from (f"Not up to date: {one_line(one, 4_000)}; see `zapomni source status`" for one in answer.stale)


def together(
    answer: Recollection, asked: str, *, by: str = By.TEXT, explain: bool = False, full: bool = False
) -> Iterator[str]:
    """Show memories and documents as one list, best first, each with a word that says which it is."""
    both: list[Hit | DocumentHit] = [*answer.hits, *answer.documents]
    hits = sorted(both, key=lambda hit: -hit.score)
    yield from _hits(hits, asked, by=by, explain=explain, full=full, labelled=True)


def together_notes(answer: Recollection, asked: Mapping[str, Any], *, explain: bool = False) -> Iterator[str]:
    """Tell how many there are of both, how they were looked for, and what is missing."""
    counts = {"memories": len(answer.hits), "places in documents": len(answer.documents)}
    where = _where(answer.scopes, answer.mode.value)
    nothing = _why_nothing(answer, asked, explain=explain)
    yield f"Found in {where}: {listed(counts)}" if any(counts.values()) else f"Nothing found in {where}{nothing}"
    if answer.reason:
        yield f"Not the whole answer: {one_line(answer.reason)}"
    if answer.left_out:
        yield f"No room for {len(answer.left_out)} more: {', '.join(one_line(one)[:SHORT] for one in answer.left_out)}"
    if answer.waiting:
        wait, makes = ("waits for its", "it") if answer.waiting == 1 else ("wait for their", "them")
        yield f"{answer.waiting:,} {wait} vector; `zapomni reembed` makes {makes}"


def _why_nothing(answer: Findings | Recollection, asked: Mapping[str, Any], *, explain: bool) -> str:
    if answer.barred is None:
        return untold(answer.reason, explain=explain)
    from zapomni.surfaces.cli.render_why import nothing_passes
    from zapomni.surfaces.why import MEMORIES, PLACES

    return f": {nothing_passes(answer.barred, MEMORIES if isinstance(answer, Recollection) else PLACES, asked)}"


def waiting(count: int) -> Iterator[str]:
    """Tell how many chunks wait for their vector, and what makes it."""
    if count:
        chunks, makes = ("chunk waits for its", "it") if count == 1 else ("chunks wait for their", "them")
        yield f"{count:,} {chunks} vector; `zapomni reembed` makes {makes}"


def _hits(
    hits: Sequence[Hit | DocumentHit],
    asked: str,
    *,
    explain: bool,
    full: bool,
    labelled: bool,
    by: str = By.TEXT,
) -> Iterator[str]:
    from zapomni.text.words import query_words

    words = {word.stem for word in query_words(asked)}
    folder = absolute(".")
    for one in hits:
        if isinstance(one, Hit):
            yield from memory_hit(one, by=by, explain=explain, full=full, label="memory")
            continue
        yield _headline(one, folder, "document" if labelled else "")
        yield from _body(one, words, full=full)
        if explain:
            yield from explained(one.parts)


def _headline(hit: DocumentHit, folder: Path | None, label: str) -> str:
    marks = [label] if label else []
    marks += [hit.document.kind.value]
    place = click.style(printable(_from_here(hit.citation, folder)), fg="yellow")
    head = INDENT.join([place, click.style(f"{hit.score:.2f}", fg="green"), click.style(INDENT.join(marks), dim=True)])
    trail = " > ".join(hit.chunk.trail) or hit.document.title
    return head + bold(trail, before=INDENT)


def _from_here(citation: str, folder: Path | None) -> str:
    """Return a citation relative to the working folder, where it lies below that."""
    start = f"{folder.as_posix().rstrip('/')}/" if folder is not None else ""
    return citation.removeprefix(start) if start else citation


def _body(hit: DocumentHit, words: Collection[str], *, full: bool) -> Iterator[str]:
    if full:
        yield from (f"{INDENT}{line}" for line in paragraphs(hit.chunk.text))
    else:
        yield from wrapped(excerpt(hit.chunk.text, words))
    if hit.document.tags:
        yield click.style(f"{INDENT}tags: {'; '.join(one_line(tag) for tag in hit.document.tags)}", dim=True)


def _where(scopes: Sequence[Scope], mode: str) -> str:
    return f"{', '.join(one_line(scope) for scope in scopes) or 'every scope'} (mode: {mode})"


# --- sources --------------------------------------------------------------------------------------------
def sources(found: Sequence[Source]) -> Iterator[str]:
    """List what is attached, with how its last scan ended."""
    for source in found:
        scanned = f"scanned {moment(source.scanned_at)}" if source.scanned_at else "not scanned yet"
        mode = [source.mode.value] if _is_read(source) or _is_mirrored(source) else []
        marks = [
            *mode,
            one_line(source.scope),
            scanned,
            *([f"stopped: {one_line(source.problem)}"] if source.problem else []),
        ]
        yield INDENT.join([_root(source), click.style(INDENT.join(marks), dim=True)])


def statuses(found: Sequence[SourceStatus]) -> Iterator[str]:
    """Show what stands of each source in the index, and what was passed over."""
    for status in found:
        source = status.source
        yield _root(source)
        rows = [
            ("mode", source.mode.value if _is_read(source) or _is_mirrored(source) else ""),
            ("scope", one_line(source.scope)),
            ("include", "; ".join(one_line(pattern) for pattern in source.include)),
            ("exclude", "; ".join(one_line(pattern) for pattern in source.exclude)),
            ("last scan", moment(source.scanned_at) if source.scanned_at else "none yet"),
            ("problem", one_line(source.problem or "")),
            *_held(status),
            ("passed over", f"{len(status.skipped):,}" if status.skipped else ""),
        ]
        yield from (INDENT + row for row in table([(name, value) for name, value in rows if value]))
        yield from (INDENT * 2 + line for line in _named(status.skipped))


def _held(status: SourceStatus) -> list[tuple[str, str]]:
    if _is_read(status.source):
        return [("files read", f"{status.documents:,}")]
    if _is_mirrored(status.source):
        return [("notes", f"{status.documents:,}")]
    return [
        ("documents", f"{status.documents:,} ({counted(status.kinds) or 'none'})"),
        ("chunks", f"{status.chunks:,}, {status.waiting:,} of them without a vector"),
    ]


def removed(source: Source, documents: int) -> Iterator[str]:
    """Tell what was let go of."""
    count = many(documents, "document")
    if _is_mirrored(source):
        yield f"let go of {_root(source)}: the memories of {many(documents, 'note')} stay; the files are untouched"
        return
    if _is_read(source):
        yield f"let go of {_root(source)}: what was read of {count} stays remembered; the files are untouched"
        return
    yield f"let go of {_root(source)}: {count} left the index; the files are untouched"


def scans(found: Sequence[Scanned], held: Mapping[str, int]) -> Iterator[str]:
    """Tell what scans came to; `held` counts by source the documents that stand in the index now."""
    for scanned in found:
        counted_here = SCAN_COUNTS + (MIRROR_COUNTS if _is_mirrored(scanned.source) else ())
        counts = {name: getattr(scanned, name) for name in counted_here if name != "read"}
        yield f"{_root(scanned.source)}: {listed(counts)}"
        if scanned.excluded:
            yield f"{INDENT}left out by rules: {counted(scanned.excluded)}"
        if scanned.problem:
            yield click.style(f"{INDENT}stopped: {one_line(scanned.problem)}", fg="red")
            yield f"{INDENT}{_remedy(scanned, held.get(scanned.source.id, 0))}"


def foreseen(found: Sequence[ScanForecast], usd: float | None) -> Iterator[str]:
    """Tell what scans of ingested sources would take; the price is that of all of them."""
    for one in found:
        yield f"{_root(one.source)}: {listed({'read': one.read, 'unchanged': one.kept, 'removed': one.removed})}"
        if one.problem:
            yield click.style(f"{INDENT}{one_line(one.problem)}", fg="red")
        yield from _named(one.skipped)
    if found:
        calls, read, written = (
            sum(getattr(one, name) for one in found) for name in ("calls", "tokens_in", "tokens_out")
        )
        money = "price not known" if usd is None else f"${usd:,.4f}"
        yield f"about {many(calls, 'call')}, {read:,} tokens in, {written:,} out, {money}"


def scan_notes(found: Sequence[Scanned]) -> Iterator[str]:
    """Name what was odd about files that were read, and count what was passed over."""
    for scanned in found:
        yield from _named(scanned.notes)
        if scanned.skipped:
            name = printable(scanned.source.root.rpartition("/")[2])
            names = "names it with its reason" if len(scanned.skipped) == 1 else "names them with reasons"
            yield f"{name}: {len(scanned.skipped):,} passed over; `zapomni {_status(scanned.source)}` {names}"
        if scanned.conflicts:
            yield "What was changed on both sides waits in `zapomni inbox`"


def _status(source: Source) -> str:
    """Return the words that show a source where it is seen without being asked for by its scope, or by that."""
    return "source status" + (f" --scope {source.scope}" if str(source.scope).startswith("agent:") else "")


def _remedy(scanned: Scanned, held: int) -> str:
    """Say what can be done about a scan that stopped, or that found nothing."""
    from zapomni.model.document import SCANNED_ELSEWHERE

    one = scanned.source.id[:SHORT]
    if scanned.problem == SCANNED_ELSEWHERE:
        return f"Nothing of it was looked at here: `zapomni source scan {one}` when that one is done"
    if held:
        return f"If they are gone for good: `zapomni source scan {one} --accept-removals`, or `source remove {one}`"
    return "See `zapomni source status`; --include brings back what rules leave out"


def _root(source: Source) -> str:
    return f"{click.style(one_line(source.id)[:SHORT], fg='yellow')}{INDENT}{printable(source.root)}"


def _named(files: Sequence[Skipped]) -> Iterator[str]:
    yield from (f"{one_line(file.path or '(the root)')}: {one_line(file.reason)}" for file in files[:TOLD])
    if len(files) > TOLD:
        yield f"and {len(files) - TOLD:,} more; --json lists them all"


def _is_read(source: Source) -> bool:
    """Tell whether a model reads a source; comparing the word itself loads nothing for those that attach none."""
    return source.mode.value == "ingest"


def _is_mirrored(source: Source) -> bool:
    """Tell whether a source is kept in step both ways."""
    return source.mode.value == "mirror"
