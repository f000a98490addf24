"""`zapomni branch`: making, listing, comparing, merging and dropping branches of the memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from zapomni.model.branch import Policy
from zapomni.services.branching.branches import Listed
from zapomni.surfaces import version_shapes
from zapomni.surfaces.cli import render_versions
from zapomni.surfaces.cli.lines import many
from zapomni.surfaces.cli.options import one_of
from zapomni.surfaces.cli.session import Group, Session, answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.versions import Versions


@click.group("branch", cls=Group)
def branch() -> None:
    """Work on the memory apart, compare, merge or drop what came of it.

    `--branch NAME` of the commands that read and write, or the setting `branch`, works on a branch: what is written
    there changes nothing of the main line, and is seen on the branch alone.
    """


@branch.command("create")
@click.argument("name")
@answers
def create(session: Session, name: str) -> None:
    """Make a branch of the whole memory; nothing is copied."""
    with _versions(session) as versions:
        made = Listed(branch=versions.create_branch(name), changes=0)
        session.answer(version_shapes.branch_shape(made), render_versions.branches([made]))


@branch.command("list")
@answers
def list_(session: Session) -> None:
    """List the branches, with how many memories each changed."""
    with _versions(session) as versions:
        found = versions.branches()
        document = {"count": len(found), "branches": [version_shapes.branch_shape(one) for one in found]}
        session.answer(document, render_versions.branches(found))
        session.note([] if found else ["No branch yet"])


@branch.command("diff")
@click.argument("name")
@answers
def diff(session: Session, name: str) -> None:
    """Show what a branch changed of the main line as the branch found it."""
    with _versions(session) as versions:
        found = versions.diff_branch(name)
        session.answer(version_shapes.changes_shape(name, found), render_versions.changes(found))
        session.note([] if found else ["No difference"])


@branch.command("merge")
@click.argument("name")
@click.option("--policy", type=one_of(Policy), help="What settles memories that both sides changed.")
@click.option("--dry-run", is_flag=True, help="Tell what would come of it and change nothing.")
@answers
def merge(session: Session, name: str, policy: str | None, *, dry_run: bool) -> None:
    """Bring what a branch changed into the main line, as one run.

    What both sides changed is settled by --policy, else by the setting `merge_policy`, else by the memory's topic
    path. What is left to a person stays on the branch and waits in the inbox.
    """
    with _versions(session) as versions:
        came = versions.merge_branch(name, policy=policy, dry_run=dry_run)
        session.answer(version_shapes.merged_shape(came), render_versions.merged(came))
        session.note(["Nothing to merge"] if not came.steps else ["Nothing was changed"] if dry_run else [])


@branch.command("drop")
@click.argument("name")
@answers
def drop(session: Session, name: str) -> None:
    """Delete a branch with what it holds; `undo --run` brings it back."""
    with _versions(session) as versions:
        came = versions.drop_branch(name)
        document = {"branch": came.branch, "run": came.run, "dropped": came.dropped}
        session.answer(document, [f"dropped {came.branch} with {many(came.dropped, 'change')}"])
        session.note([f"`zapomni undo --run {came.run}` brings it back"])


@contextmanager
def _versions(session: Session) -> Iterator[Versions]:
    """Open the memory on the main line, whatever branch is set: branches are looked at from there."""
    session.branch = ""
    with session.memory() as app:
        yield app.versions
