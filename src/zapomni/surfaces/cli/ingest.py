"""`zapomni ingest`: what a language model finds worth remembering in texts, files and images."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from zapomni.errors import InvalidInput, NotFound, Unavailable
from zapomni.model.document import Skipped
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.lines import INDENT, bold, many, memories, one_line, wrapped
from zapomni.surfaces.cli.options import SCOPE, text_or_stdin
from zapomni.surfaces.cli.progress import as_child
from zapomni.surfaces.cli.session import Session, answers
from zapomni.surfaces.reading_shapes import enriched_shape, forecast_shape, ingests_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.app import Zapomni
    from zapomni.services.reading.enrich import Enriched
    from zapomni.services.reading.ingest import Forecast, Ingested, Kept
    from zapomni.services.reading.material import Material


class Gathered(NamedTuple):
    """What is to be ingested, and the files that cannot be."""

    materials: list[Material]
    skipped: list[Skipped]


@click.command("ingest")
@click.argument("words", nargs=-1, metavar="TEXT|-|FILE...")
@click.option("--source", default="", metavar="NAME", help="Where it comes from; a file's own name if not given.")
@click.option("--scope", metavar=SCOPE, help="Whose it is: user, project:NAME, agent:NAME or team:NAME.")
@click.option(
    "--said-at", metavar="TIME", help="When it was said, which its days are counted from; a file's own date, or now."
)
@click.option("--dry-run", is_flag=True, help="Only say how many calls and tokens it would take, and the price.")
@click.option("--enrich", is_flag=True, help="Have the model read what was stored without it; takes no text.")
@click.option("--limit", type=click.IntRange(1, 100_000), metavar="N", help="With --enrich: at most so many.")
@click.option("--for-parent", is_flag=True, hidden=True, help="End when standard input ends.")
@answers
def ingest(
    session: Session,
    words: Sequence[str],
    *,
    source: str,
    scope: str | None,
    said_at: str | None,
    dry_run: bool,
    enrich: bool,
    limit: int | None,
    for_parent: bool,
) -> int:
    """Have a language model read texts, files or images, and remember what is worth it.

    One memory a fact, in the language of the text, each with the place that it stands on; the text is kept whole.
    Secrets are cut out before the model sees it. Each text or file is one run, which `undo --run` takes back.
    Where no model answers the text is stored as it is and waits: the status is then 7, and --enrich goes on later.
    """
    if for_parent:
        as_child(session)
    if enrich:
        if words:
            raise InvalidInput("enrich", "it takes no text", remedy="Ingest the text without --enrich")
        return _would_enrich(session, limit) if dry_run else _enrich(session, limit)
    with session.memory() as app:
        gathered = _gathered(app, words, source)
        materials = [app.reading.said(material, said_at) for material in gathered.materials]
        if dry_run:
            forecast = app.reading.would_ingest(materials)
            session.answer(forecast_shape(forecast, app.config.llm.model, gathered.skipped), _foreseen(forecast))
            session.note(_passed_over(gathered.skipped))
            return 0
        came = [app.reading.take_in(material, scope=scope) for material in materials]
        session.answer(ingests_shape(came, gathered.skipped), _shown(came))
        session.note(_notes(came, gathered.skipped))
        session.embed(app)
    return Unavailable.exit_status if gathered.skipped or any(one.reason for one in came) else 0


def _would_enrich(session: Session, limit: int | None) -> int:
    with session.memory() as app:
        forecast = app.reading.would_enrich(limit=limit)
        session.answer(forecast_shape(forecast, app.config.llm.model), _foreseen(forecast))
    return 0


def _enrich(session: Session, limit: int | None) -> int:
    with session.memory() as app:
        done = app.reading.enrich(limit=limit)
        session.answer(enriched_shape(done), _enriched(done))
        session.note(_left(done))
        session.embed(app)
    return Unavailable.exit_status if done.reason else 0


# --- what is given --------------------------------------------------------------------------------------
def _gathered(app: Zapomni, words: Sequence[str], source: str) -> Gathered:
    """Read the arguments: files where all of them are, else one text."""
    from zapomni.services.reading.material import material_of_text

    if not _are_files(words):
        text = text_or_stdin(words, "text")
        return Gathered([material_of_text(text, source=source or app.actor.name)], [])
    gathered = Gathered([], [])
    for word in words:
        path = Path(word)
        try:
            with path.open("rb") as file:
                changed = os.fstat(file.fileno()).st_mtime_ns
                gathered.materials.append(app.reading.material(file, path.name, source=source, modified_ns=changed))
        except OSError as error:
            gathered.skipped.append(Skipped(path=word, reason=f"it cannot be read ({error.strerror or error})"))
        except InvalidInput as error:
            if error.field != "file":
                raise
            gathered.skipped.append(Skipped(path=word, reason=error.message))
    return gathered


def _are_files(words: Sequence[str]) -> bool:
    """Tell files from a text; raises `NotFound` for what looks like a file and is none.

    A mistyped name is no text that anybody wants remembered.
    """
    if not words or tuple(words) == ("-",):
        return False
    there = [_is_file(word) for word in words]
    if all(there):
        return True
    if all(is_file or _is_folder(word) for word, is_file in zip(words, there, strict=True)):
        remedy = "A folder is attached: `zapomni source add FOLDER --mode ingest`; pipe a text in, if it is one"
        raise InvalidInput("file", f"{' '.join(words)} is a folder", remedy=remedy)
    missing = next(word for word, is_file in zip(words, there, strict=True) if not is_file)
    if any(there) or (len(words) == 1 and _is_like_a_path(missing)):
        remedy = "Name files that are there; pipe a text in, if it is one"
        raise NotFound(f"there is no file {missing}", remedy=remedy)
    return False


def _is_file(word: str) -> bool:
    try:
        return Path(word).is_file()
    except (OSError, ValueError):  # a text may be longer than a name can be
        return False


def _is_folder(word: str) -> bool:
    try:
        return Path(word).is_dir()
    except (OSError, ValueError):
        return False


def _is_like_a_path(word: str) -> bool:
    from zapomni.readers.images import is_image_name
    from zapomni.readers.registry import by_ending
    from zapomni.readers.titles import ending

    return not any(char.isspace() for char in word) and (is_image_name(word) or ending(word) in by_ending())


# --- what people read -----------------------------------------------------------------------------------
def _shown(came: Sequence[Ingested]) -> Iterator[str]:
    for one in came:
        if one.run is not None:
            yield f"{one_line(one.reading.source)}: {memories(len(one.kept))} in {one.scope}, run {one.run}"
        for kept in one.kept:
            yield from _memory(kept)


def _memory(kept: Kept) -> Iterator[str]:
    memory = kept.outcome.memory
    place = f"characters {kept.place.start:,} to {kept.place.end:,}"
    marks = [kept.outcome.status.value, place, *(["waits for a model"] if kept.waits else [])]
    if memory is None:
        yield INDENT + click.style(INDENT.join(marks), dim=True)
        return
    head = INDENT.join([click.style(memory.id[: render.SHORT], fg="yellow"), click.style(INDENT.join(marks), dim=True)])
    yield f"{INDENT}{head}{bold(memory.title, before=INDENT)}"
    yield from (INDENT + line for line in wrapped(memory.content))


def _notes(came: Sequence[Ingested], skipped: Sequence[Skipped]) -> Iterator[str]:
    yield from _passed_over([*skipped, *(file for one in came for file in one.skipped)])
    for one in came:
        yield from (f"{one.redactions[0].field}: {rule} was cut out" for rule in _rules(one))
        yield from map(one_line, one.notes)
        if not one.kept and one.run is not None:
            yield f"{one_line(one.reading.source)}: the model found nothing worth remembering; the text is kept"
    if waiting := sum(one.waiting for one in came):
        reason = next(one.reason for one in came if one.waiting)
        they, them = ("it", "it") if waiting == 1 else ("they", "them")
        yield f"{memories(waiting)} stored as {they} came, for {one_line(reason)}"
        later = f"once a model answers, `zapomni ingest --enrich` takes the facts out of {them}"
        yield f"{they.capitalize()} can be recalled already; {later}"


def _rules(one: Ingested) -> list[str]:
    return list(dict.fromkeys(redaction.rule for redaction in one.redactions))


def _passed_over(skipped: Sequence[Skipped]) -> Iterator[str]:
    yield from (f"{one_line(file.path)}: {one_line(file.reason)}" for file in skipped)


def _foreseen(forecast: Forecast) -> Iterator[str]:
    money = "price not known" if forecast.usd is None else f"${forecast.usd:,.4f}"
    tokens = f"{forecast.tokens_in:,} tokens in, {forecast.tokens_out:,} out"
    yield f"about {many(forecast.calls, 'call')}, {tokens}, {money}"


def _enriched(done: Enriched) -> Iterator[str]:
    for one in done.read:
        yield f"{click.style(one.memory_id[: render.SHORT], fg='yellow')}: {memories(len(one.outcomes))}, run {one.run}"
    if not done.read:
        yield "nothing was enriched"


def _left(done: Enriched) -> Iterator[str]:
    if done.kept:
        they_were, them = ("it was", "it") if len(done.kept) == 1 else ("they were", "them")
        stayed = f"{memories(len(done.kept))} stayed as {they_were}"
        yield f"{stayed}: nothing more was found in {them}, or {they_were} changed meanwhile"
    yield from (f"{memory_id[: render.SHORT]}: {one_line(reason)}" for memory_id, reason in done.failed)
    if done.waiting:
        yield f"{done.waiting:,} still {'waits' if done.waiting == 1 else 'wait'} for a model"
    if done.reason:
        yield f"Stopped: {one_line(done.reason)}"
