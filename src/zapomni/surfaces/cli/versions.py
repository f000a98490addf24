"""`zapomni diff`, `zapomni blame` and `zapomni topics`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.errors import InvalidInput
from zapomni.surfaces import version_shapes
from zapomni.surfaces.cli import render_versions
from zapomni.surfaces.cli.options import filters, given, read_scopes
from zapomni.surfaces.cli.session import Session, answers, on_branch

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("diff")
@click.argument("memory_id", required=False, metavar="[ID]")
@click.option("--from", "start", type=int, metavar="NUMBER", help="As it was after this revision of its history.")
@click.option("--to", "end", type=int, metavar="NUMBER", help="As it was after this one; the newest if not given.")
@click.option("--run", metavar="RUN", help="Everything that this run changed; see `history --runs`.")
@read_scopes
@on_branch
@answers
def diff(
    session: Session,
    memory_id: str | None,
    scopes: Sequence[str],
    *,
    start: int | None,
    end: int | None,
    run: str | None,
) -> None:
    """Show what changed in a memory, or in a whole run.

    By default what its last change did; deleted memories too. The content as a unified diff, every other field as
    it was and as it is.
    """
    if (run is None) == (memory_id is None) or (run is not None and (start is not None or end is not None)):
        how = "`zapomni diff ID` compares versions of a memory, `zapomni diff --run RUN` shows what a run changed"
        raise InvalidInput("diff", "it takes either an id or --run", remedy=how)
    with session.memory() as app:
        if run is None:
            found = [app.versions.diff(memory_id or "", scopes=scopes, start=start, end=end)]
            session.answer(version_shapes.difference_shape(found[0]), render_versions.differences(found))
            return
        named, changes = app.versions.diff_run(run)
        document: dict[str, Any] = {"run": named.id, "verb": named.verb, "count": len(changes)}
        document["memories"] = [version_shapes.difference_shape(one) for one in changes]
        session.answer(document, render_versions.differences(changes))
        session.note([f"{named.verb}: {len(changes):,} changed"])


@click.command("blame")
@click.argument("memory_id", metavar="ID")
@read_scopes
@on_branch
@answers
def blame(session: Session, memory_id: str, scopes: Sequence[str]) -> None:
    """Show where each line of a memory comes from.

    Each line and each field with the revision, time, actor, origin and run that brought it; deleted memories too.
    """
    with session.memory() as app:
        found = app.versions.blame(memory_id, scopes=scopes)
        session.answer(version_shapes.blame_shape(found), render_versions.blame(found))


@click.command("topics")
@filters
@on_branch
@answers
def topics(session: Session, scopes: Sequence[str], **where: Any) -> None:
    """Show the topic paths of memories as a tree with counts.

    `list --path PATH` lists what stands at a path and below it.
    """
    with session.memory() as app:
        found = app.versions.topics(app.filter(scopes, given(where)))
        session.answer(version_shapes.topics_shape(found), render_versions.topics(found))
        session.note([] if found else ["No memory has a path yet; `store --path` gives one"])
