"""`zapomni inbox`: what is proposed, and what a person says to it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from zapomni.model.proposal import ProposalKind, ProposalState
from zapomni.services.scopes import EVERY
from zapomni.surfaces.cli.lines import bold, day, one_line, paragraphs, table
from zapomni.surfaces.cli.options import SCOPE, at_most, one_of
from zapomni.surfaces.cli.session import Group, Session, answers
from zapomni.surfaces.review_shapes import proposal_shape, proposals_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.app import Zapomni
    from zapomni.model.proposal import Proposal

_scopes = click.option(
    "--scope",
    "scopes",
    multiple=True,
    metavar=SCOPE,
    default=(EVERY,),
    help="Of this scope alone: user, project:NAME, agent:NAME or team:NAME; every scope if not given. Repeatable.",
)
_UNTOLD = frozenset({"choices", "digest", "sha256", "version", "versions", "at", "file"})
"""What a person reads elsewhere, or not at all."""


@click.group("inbox", cls=Group, invoke_without_command=True)
@answers
@click.pass_context
def inbox(ctx: click.Context, _: Session) -> None:
    """Decide what is proposed: conflicts, merges, lessons and better descriptions.

    Nothing in it has changed anything yet. Without a command it lists what waits.
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, scopes=(EVERY,), kinds=(), states=(), limit=100)


@inbox.command("list")
@click.option("--kind", "kinds", multiple=True, type=one_of(ProposalKind), help="Of this kind. Repeatable.")
@click.option(
    "--state", "states", multiple=True, type=one_of(ProposalState), help="Open ones if not given. Repeatable."
)
@at_most(100)
@_scopes
@answers
def list_(session: Session, scopes: Sequence[str], *, kinds: Sequence[str], states: Sequence[str], limit: int) -> None:
    """List what is proposed, oldest first."""
    with session.memory() as app:
        found = app.review.proposals(scopes=scopes, kinds=kinds, states=states, limit=limit)
        session.answer(proposals_shape(found), _listed(found))
        session.note([] if found else ["Nothing waits"])


@inbox.command("show")
@click.argument("proposal_id", metavar="ID")
@_scopes
@answers
def show(session: Session, proposal_id: str, scopes: Sequence[str]) -> None:
    """Show one proposal whole, with the memories that it is about."""
    with session.memory() as app:
        found = app.review.proposal(proposal_id, scopes=scopes)
        session.answer(proposal_shape(found), [*_shown(found), *_memories(app, found), *_file(found)])


@inbox.command("accept")
@click.argument("proposal_id", metavar="ID")
@click.option("--choice", metavar="WORD", help="Which of the choices that `inbox show` names.")
@_scopes
@answers
def accept(session: Session, proposal_id: str, scopes: Sequence[str], *, choice: str | None) -> None:
    """Carry out what is proposed.

    It is one run, and `undo --run` takes it back and opens the proposal again. One that cannot be carried out stays
    open, and nothing is changed.
    """
    with session.memory() as app:
        done = app.review.accept(proposal_id, choice=choice, scopes=scopes)
        session.answer(proposal_shape(done), [f"{done.id}  accepted  {one_line(done.reason)}"])
        session.note([f"`zapomni undo --run {done.run}` takes it back"])
        session.embed(app)


@inbox.command("reject")
@click.argument("proposal_id", metavar="ID")
@click.option("--why", metavar="TEXT", required=True, help="Why not; whoever proposed it is told.")
@_scopes
@answers
def reject(session: Session, proposal_id: str, scopes: Sequence[str], *, why: str) -> None:
    """Refuse what is proposed; it is not proposed again."""
    with session.memory() as app:
        done = app.review.reject(proposal_id, why=why, scopes=scopes)
        session.answer(proposal_shape(done), [f"{done.id}  rejected  {one_line(done.reason)}"])


def _listed(found: Sequence[Proposal]) -> Iterator[str]:
    for one in found:
        state = "" if one.state is ProposalState.OPEN else f"  {one.state.value}"
        yield f"{one.id}  {day(one.created_at)}  {one.kind.value}  {one_line(one.scope)}{state}"
        yield f"  {one_line(one.reason)}"


def _shown(one: Proposal) -> Iterator[str]:
    rows = [
        ("id", one.id),
        ("kind", one.kind.value),
        ("state", one.state.value),
        ("scope", one_line(one.scope)),
        ("proposed", f"{day(one.created_at)} by {one_line(one.actor)}"),
        *([("decided", f"{day(one.decided_at)} by {one_line(one.decided_by)}")] if one.decided_at else []),
        *([("answer", one_line(one.answer))] if one.answer else []),
        *([("run", one.run)] if one.run else []),
        *([("choices", ", ".join(map(one_line, one.choices)))] if one.choices else []),
        ("reason", one_line(one.reason)),
        *((one_line(name), _value(value)) for name, value in one.detail.items() if name not in _UNTOLD),
    ]
    yield from table(rows)


def _memories(app: Zapomni, one: Proposal) -> Iterator[str]:
    from zapomni.services.find import everything_in

    found = app.store.get(one.memories, everything_in(app.store.scopes(), deleted=True))
    if branch := one.detail.get("branch"):  # which hides what the main line says
        found += app.store.get(one.memories, everything_in([one.scope.on(str(branch))], deleted=True))
    for memory in found:
        gone = "  deleted" if memory.deleted_at else ""
        yield ""
        yield f"{memory.id}  {one_line(memory.scope)}{gone}{bold(memory.title, before='  ')}"
        yield from paragraphs(memory.content)


def _file(one: Proposal) -> Iterator[str]:
    """Show the side of a file in a conflict: what stands there beside what the memory says."""
    said = one.detail.get("file")
    if isinstance(said, dict):
        yield ""
        yield f"{one_line(one.detail.get('path', ''))}  the file{bold(str(said.get('title') or ''), before='  ')}"
        yield from paragraphs(str(said.get("content", "")))


def _value(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(_value(item) for item in value)
    if isinstance(value, dict) and "path" in value:
        return one_line(value["path"])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
