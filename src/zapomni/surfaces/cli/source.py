"""`zapomni source`: what is attached, and bringing the index to what its files say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from zapomni.errors import Unavailable
from zapomni.model.document import SourceMode
from zapomni.surfaces import shapes
from zapomni.surfaces.cli import render_documents as render
from zapomni.surfaces.cli.options import SCOPE, one_of, read_scopes
from zapomni.surfaces.cli.progress import as_child, progress
from zapomni.surfaces.cli.session import EMBED_NOW, Group, Session, answers
from zapomni.surfaces.reading_shapes import scan_forecasts_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.app import Zapomni
    from zapomni.model.document import Scanned, Source

NOTE_REST_S = 2.0
"""Most seconds that a note of a mirrored folder has to rest: a server that watches it has waited for it already, and a
change of a memory brings it to look at all of them."""

_quiet = click.option("--quiet", is_flag=True, help="Show no progress.")


@click.group("source", cls=Group)
def source() -> None:
    """Attach folders and files to be searched."""


@source.command("add")
@click.argument("path", metavar="PATH")
@click.option(
    "--mode", type=one_of(SourceMode), default=SourceMode.INDEX.value, show_default=True, help="What is done with it."
)
@click.option("--scope", metavar=SCOPE, help="Whose it is: user, project:NAME, agent:NAME or team:NAME.")
@click.option("--include", multiple=True, metavar="GLOB", help="Read these alone, as in .gitignore. Repeatable.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these out, as in .gitignore. Repeatable.")
@click.option("--start", is_flag=True, help="Make the folder, and in mirror mode fill it from the memory.")
@click.option("--no-scan", is_flag=True, help="Only attach it; the next scan reads it.")
@_quiet
@answers
def add(session: Session, path: str, *, no_scan: bool, quiet: bool, **fields: Any) -> int:
    """Attach a folder or file, and read it at once.

    In the mode `ingest` a language model reads each file into memories, and does so again when it changes; where no
    model answers what is in it is stored as it is and waits, as with `zapomni ingest`, and the status is then 7.
    In the mode `mirror` each note of a folder is a memory of --scope, which must be given: an edit of either goes to
    the other, and in no other mode are files ever changed. What `.gitignore` leaves out, folders of tools, binary
    files and files that may hold secrets are passed over. Attached again, it takes the new patterns.
    """
    with session.memory() as app:
        added = app.documents.add(path, **fields)
        if no_scan:
            session.answer({"source": shapes.source_shape(added)}, render.sources([added]))
            return 0
        scanned = _scan(session, app, added.id, (str(added.scope),), _Wish(), quiet=quiet)
        document = shapes.scans_shape(scanned, _waiting(app))
        document["source"] = shapes.source_shape(scanned[0].source)
        return _tell(session, app, scanned, document)


@source.command("list")
@read_scopes
@answers
def list_(session: Session, scopes: Sequence[str]) -> None:
    """List what is attached."""
    with session.memory() as app:
        found = app.documents.sources(scopes=scopes)
        session.answer(shapes.sources_shape(found), render.sources(found))
        if not found:
            session.note([render.nothing_attached(elsewhere=app.documents.is_elsewhere())])


@source.command("remove")
@click.argument("name", metavar="SOURCE")
@read_scopes
@answers
def remove(session: Session, name: str, scopes: Sequence[str]) -> None:
    """Let go of a source, by its path or id.

    What was indexed of it is removed; what was read of it into memories stays. Its files are not touched. A folder
    that the setting documents.folders names is taken out there first.
    """
    with session.memory() as app:
        (status,) = app.documents.status(name, scopes=scopes)
        app.documents.remove(status.source.id, scopes=scopes)
    document = {"source": shapes.source_shape(status.source), "documents": status.documents, "chunks": status.chunks}
    session.answer(document, render.removed(status.source, status.documents))


@source.command("scan")
@click.argument("name", required=False, metavar="[SOURCE]")
@click.option("--accept-removals", is_flag=True, help="Remove what is gone, however much it is.")
@click.option("--quick", is_flag=True, help="Of ingested sources look for new and gone files alone.")
@click.option("--dry-run", is_flag=True, help="Only say what reading ingested sources would take, and the price.")
@_quiet
@click.option("--for-parent", is_flag=True, hidden=True, help="End when standard input ends.")
@read_scopes
@answers
def scan(
    session: Session,
    name: str | None,
    scopes: Sequence[str],
    *,
    accept_removals: bool,
    quick: bool,
    dry_run: bool,
    quiet: bool,
    for_parent: bool,
) -> int:
    """Read what changed in one source, or in all of them.

    It may be stopped at any time and goes on where it was. When half of the files are gone at once, nothing is
    removed: the disk may be away. The status is then 7, as it is when what was read waits for a model.
    """
    if for_parent:
        as_child(session)
    with session.memory() as app:
        if dry_run:
            return _foresee(session, app, name, scopes)
        wish = _Wish(accept_removals=accept_removals, quick=quick, for_parent=for_parent)
        scanned = _scan(session, app, name, scopes, wish, quiet=quiet)
        document = shapes.scans_shape(scanned, _waiting(app))
        if not scanned:
            session.note([render.nothing_attached(elsewhere=app.documents.is_elsewhere())])
        return _tell(session, app, scanned, document, embed=not for_parent)


@source.command("status")
@click.argument("name", required=False, metavar="[SOURCE]")
@read_scopes
@answers
def status(session: Session, name: str | None, scopes: Sequence[str]) -> None:
    """Show what stands of each source in the index.

    With the files that were passed over, and why.
    """
    with session.memory() as app:
        found = app.documents.status(name, scopes=scopes)
        session.answer(shapes.statuses_shape(found), render.statuses(found))
        if not found:
            session.note([render.nothing_attached(elsewhere=app.documents.is_elsewhere())])


class _Wish(NamedTuple):
    """How a scan is wanted."""

    accept_removals: bool = False
    quick: bool = False
    for_parent: bool = False


def _scan(
    session: Session, app: Zapomni, name: str | None, scopes: Sequence[str], wish: _Wish, *, quiet: bool
) -> list[Scanned]:
    """Bring sources of every mode up to date; a server has its ingested ones read one by one, each by its name."""
    with progress("reading", shown=not (quiet or session.json)) as move:
        options: dict[str, Any] = {"scopes": scopes, "accept_removals": wish.accept_removals}
        options["progress"] = (lambda _: move) if move is not None else None
        rest_s = app.config.documents.debounce_s if wish.for_parent else 0.0
        scanned = app.documents.scan(name, **options) + app.vaults.scan(
            name, rest_s=min(rest_s, NOTE_REST_S), **options
        )
        if name is None and wish.for_parent:
            return scanned
        return scanned + app.reading.scan(name, quick=wish.quick, rest_s=rest_s, **options)


def _foresee(session: Session, app: Zapomni, name: str | None, scopes: Sequence[str]) -> int:
    """Say what a language model would have to read; searching documents asks none, so that costs nothing."""
    found = app.reading.would_scan(name, scopes=scopes)
    usd = app.reading.ledger.price(sum(one.tokens_in for one in found), sum(one.tokens_out for one in found))
    session.answer(scan_forecasts_shape(found, app.config.llm.model, usd), render.foreseen(found, usd))
    if not found:
        session.note(["Nothing here is read by a model: `zapomni source add PATH --mode ingest` attaches what is"])
    return Unavailable.exit_status if any(one.problem for one in found) else 0


def _tell(
    session: Session, app: Zapomni, scanned: Sequence[Scanned], document: dict[str, Any], *, embed: bool = True
) -> int:
    """Answer with what scans came to, make few vectors at once, and return the status."""
    held = {one.id: app.documents.status(one.id, scopes=("all",))[0].documents for one in _stopped(scanned)}
    session.answer(document, render.scans(scanned, held))
    session.note(render.scan_notes(scanned))
    if embed and document["waiting"] <= EMBED_NOW:
        session.embed(app, documents=True)
    if embed and any(one.source.mode is not SourceMode.INDEX for one in scanned):
        session.embed(app)
    session.note(render.waiting(_waiting(app)))
    return Unavailable.exit_status if held or any(one.waits for one in scanned) else 0


def _stopped(scanned: Sequence[Scanned]) -> list[Source]:
    return [one.source for one in scanned if one.problem]


def _waiting(app: Zapomni) -> int:
    return app.documents.embedding.backlog().waiting
