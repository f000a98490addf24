"""`zapomni promote` and `zapomni lessons`: raising what one agent learned, and handing it to the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zapomni.services.scopes import EVERY
from zapomni.surfaces.cli.lines import bold, day, one_line, paragraphs
from zapomni.surfaces.cli.options import SCOPE, read_scopes
from zapomni.surfaces.cli.session import Session, answers
from zapomni.surfaces.review_shapes import acknowledged_shape, lessons_shape, proposal_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.services.review.handover import Lesson


@click.command("promote")
@click.argument("memory_id", metavar="ID")
@click.option("--to", required=True, metavar=SCOPE, help="Whose rule it should be: team:NAME or user.")
@click.option("--why", default="", metavar="TEXT", help="Why the others should know it.")
@click.option("--pin", "pinned", is_flag=True, help="Pin it there: tidying leaves it alone and indexes always hold it.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    metavar=SCOPE,
    default=(EVERY,),
    help="Look for it in this scope alone; in every scope if not given. Repeatable.",
)
@answers
def promote(session: Session, memory_id: str, scopes: Sequence[str], *, to: str, why: str, pinned: bool) -> None:
    """Propose that a memory become a rule of a team or of the user.

    Nothing is copied before somebody accepts it in the inbox. The rule is then handed to every other agent.
    """
    with session.memory() as app:
        filed = app.review.promote(memory_id, to=to, why=why, pinned=pinned, scopes=scopes)
        session.answer(proposal_shape(filed), [f"{filed.id}  proposed  {one_line(filed.reason)}"])
        session.note([f"`zapomni inbox accept {filed.id}` makes it a rule of {one_line(filed.scope)}"])


@click.command("lessons")
@click.option("--agent", metavar="NAME", help="For this agent; that of the settings if not given.")
@click.option("--ack", "acknowledged", multiple=True, metavar="ID", help="Take note of this one. Repeatable.")
@read_scopes
@answers
def lessons(session: Session, scopes: Sequence[str], *, agent: str | None, acknowledged: Sequence[str]) -> None:
    """Show rules that other agents raised, and answers to lessons raised in vain.

    Each is shown until it is acknowledged.
    """
    with session.memory() as app:
        if acknowledged:
            done = app.review.acknowledge(acknowledged, agent=agent)
            session.answer(acknowledged_shape(done), _noted(acknowledged, done))
            return
        found = app.review.lessons(agent=agent, scopes=scopes)
        session.answer(lessons_shape(found, preview=None), _listed(found))
        session.note(["`zapomni lessons --ack ID` takes note of one"] if found else ["No lesson waits"])


def _noted(asked: Sequence[str], done: Sequence[str]) -> Iterator[str]:
    yield from (f"{one}  acknowledged" for one in done)
    before = (one for one in dict.fromkeys(asked) if not any(noted.startswith(one.strip()) for noted in done))
    yield from (f"{one_line(one)}  acknowledged before" for one in before)


def _listed(found: Sequence[Lesson]) -> Iterator[str]:
    for at, one in enumerate(found):
        yield from [""] if at else []
        title = bold(one.memory.title, before="  ") if one.memory is not None else ""
        what = f"rejected: {one_line(one.rejected)}" if one.rejected else "a rule"
        yield f"{one.id}  {day(one.at)}  {one_line(one.raised_from)} -> {one_line(one.scope)}  {what}{title}"
        if one.memory is not None:
            yield from paragraphs(one.memory.content)
