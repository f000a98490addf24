"""`zapomni miss` and `zapomni misses`: questions that did not find their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zapomni.surfaces.cli.lines import alarm_lines, day, one_line
from zapomni.surfaces.cli.options import at_most, read_scopes, text_or_stdin
from zapomni.surfaces.cli.session import Session, answers
from zapomni.surfaces.review_shapes import missed_shape, misses_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.model.miss import Miss
    from zapomni.services.review.misses import Missed


@click.command("miss")
@click.argument("query", nargs=-1, metavar="QUERY|-")
@click.option("--expected", required=True, metavar="ID", help="The memory that should have been found.")
@read_scopes
@answers
def miss(session: Session, query: Sequence[str], scopes: Sequence[str], *, expected: str) -> None:
    """Report a question that did not find its memory.

    It is kept with what a recall gives instead, and a better description is proposed to the inbox.
    """
    text = text_or_stdin(query, "query")
    with session.memory() as app:
        missed = app.review.miss(text, expected=expected, scopes=scopes)
        session.answer(missed_shape(missed), _told(missed))
        session.note(_notes(missed))


@click.command("misses")
@at_most(20)
@read_scopes
@answers
def misses(session: Session, scopes: Sequence[str], *, limit: int) -> None:
    """List questions that did not find their memory, and whether they become more.

    The alarm of a scope rings when it holds more memories than descriptions can tell apart, and questions miss more
    often than in the 30 days before.
    """
    with session.memory() as app:
        found, alarms = app.review.misses(scopes=scopes, limit=limit), app.review.alarms(scopes=scopes)
        session.answer(misses_shape(found, alarms), [*_listed(found), *alarm_lines(alarms)])
        if not found:
            session.note(["No miss was reported"])


def _told(missed: Missed) -> Iterator[str]:
    yield f"{missed.miss.expected}  missed  {one_line(missed.miss.query)}"
    if missed.proposal is not None:
        yield f"{missed.proposal.id}  proposed  {one_line(missed.proposal.detail['description'])}"


def _notes(missed: Missed) -> Iterator[str]:
    found = missed.miss.found
    if missed.miss.expected in found:
        yield f"`recall` finds it in place {found.index(missed.miss.expected) + 1}"
    if missed.note:
        yield one_line(missed.note)
    if missed.proposal is not None:
        yield f"`zapomni inbox accept {missed.proposal.id}` gives it this description"


def _listed(found: Sequence[Miss]) -> Iterator[str]:
    for one in found:
        yield f"{day(one.at)}  {one.expected}  {one_line(one.query)}"
