"""`zapomni ask`: an answer in words, with the memories that it rests on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from zapomni.model import Page
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.lines import day, one_line, paragraphs, table
from zapomni.surfaces.cli.options import filters, given, text_or_stdin
from zapomni.surfaces.cli.session import Session, answers
from zapomni.surfaces.reading_shapes import answer_shape, reading_line, supply_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from zapomni.app import Zapomni
    from zapomni.services.reading.ask import Answer, Supply


@click.command("ask")
@click.argument("question", nargs=-1, metavar="QUESTION|-")
@click.option("--select", is_flag=True, help="Let the model pick at most five memories by their titles first.")
@click.option("--budget", type=click.IntRange(min=1), metavar="TOKENS", help="Read at most this much of the memory.")
@click.option("--dry-run", is_flag=True, help="Show what would be read and what that costs; no model is asked.")
@filters
@answers
def ask(
    session: Session,
    question: Sequence[str],
    scopes: Sequence[str],
    *,
    select: bool,
    budget: int | None,
    dry_run: bool,
    **where: Any,
) -> int:
    """Answer a question in words, from what a model reads of the memory.

    Each statement names the memories that it rests on. Dates and names in the question are understood. Without a
    model (llm.model) it shows what `recall` finds, with status 7.
    """
    text = text_or_stdin(question, "question")
    asked: dict[str, Any] = {"scopes": scopes, "budget": budget, "select": select, **given(where)}
    with session.memory() as app:
        if dry_run:
            _rehearse(session, app, app.reading.would_ask(text, **asked))
            return 0
        answer = app.reading.ask(text, **asked, tell=_telling(session))
        session.answer(answer_shape(answer), _shown(answer))
        session.note(_notes(answer, given(where)))
        return answer.problem.exit_status if answer.problem is not None else 0


def _telling(session: Session) -> Callable[[Supply], None] | None:
    """Return what shows a person who waits at a terminal what is being read; a model takes its time."""
    if session.json or not sys.stderr.isatty():
        return None
    return lambda supply: session.note([f"{reading_line(supply)} …"])


def _rehearse(session: Session, app: Zapomni, supply: Supply) -> None:
    usage, model = supply.usage, app.config.llm.model
    usd = app.reading.ledger.price(usage.tokens_in, usage.tokens_out)
    rows = [
        ("model", one_line(model or "none (llm.model)")),
        ("read", f"{len(supply.memories):,} of {supply.total:,}"),
        ("tokens", f"about {usage.tokens_in:,} in and {usage.tokens_out:,} out"),
        ("price", "not known" if usd is None else f"about ${usd:,.4f}"),
    ]
    session.answer(supply_shape(supply, model, usd), [*table(rows), *_cited(supply.memories)])
    session.note(_narrowed(supply))


def _shown(answer: Answer) -> Iterator[str]:
    if answer.instead is not None:
        yield from render.recollection(answer.instead)
        return
    yield from paragraphs(answer.text)
    if answer.cited:
        yield ""
        yield from _cited(answer.cited)


def _cited(memories: Sequence[Any]) -> Iterator[str]:
    return render.page(Page(memories=tuple(memories), total=len(memories)))


def _notes(answer: Answer, asked: Mapping[str, Any]) -> Iterator[str]:
    if answer.problem is not None:
        yield from render.error(answer.problem)
        if answer.instead is not None:
            yield from render.recollection_notes(answer.instead, asked)
        return
    if answer.unsupported:
        yield f"What the model said names no source and is not shown as the answer: {one_line(answer.unsupported)}"
    if answer.unknown:
        yield f"Taken out, for nothing of that id was read: {', '.join(one_line(one, 40) for one in answer.unknown)}"
    yield from _narrowed(answer.supply)
    used = f"{answer.usage.tokens_in:,} tokens in, {answer.usage.tokens_out:,} out"
    yield f"{answer.read:,} of {answer.supply.total:,} read by {one_line(answer.model or '')}: {used}"


def _narrowed(supply: Supply) -> Iterator[str]:
    where = supply.narrowed
    if where is not None:
        told = [f"from {day(where.since)}"] if where.since else []
        told += [f"before {day(where.until)}"] if where.until else []
        told += [f"about {', '.join(map(one_line, where.entities))}"] if where.entities else []
        yield f"Read first: {', '.join(told)}"
