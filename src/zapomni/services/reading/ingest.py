"""Ingest: what a model finds worth remembering in a text, as memories that know where they stand in it.

The model is asked first, then everything is written in one transaction and one run: the text whole, a memory for
each fact, the place of each. Where no model answers the text itself becomes the memory, and waits for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import InvalidInput, ModelError
from zapomni.model import CONTENT_LIMIT, Draft, Outcome, Run, Status, Trust
from zapomni.model.document import Skipped
from zapomni.services.reading.facts import UNSET, Extracted, Fact, extract, forecast, is_hopeless, look
from zapomni.services.reading.retire import ingest_actor, retire, standing_of
from zapomni.services.remember import Entry, admit, entry_of, read_back
from zapomni.store.readings import Reading, Span
from zapomni.text.clean import preview
from zapomni.text.quotes import Place, places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from zapomni.llm.base import Llm, Usage
    from zapomni.model import Actor, Memory, Redaction, Scope
    from zapomni.services.context import Context
    from zapomni.services.reading.facts import Terms
    from zapomni.services.reading.material import Material
    from zapomni.store.base import Tx

DESCRIBED: Final = 500
"""Characters of a text that describe it while no model has read it (issue 4; features G-3)."""
DOUBTED: Final = 40
"""Characters of a doubtful claim that a note repeats."""


class Kept(NamedTuple):
    """A memory that a text came to: what its write came to, where it stands, whether it waits for a model."""

    outcome: Outcome
    place: Place
    waits: bool = False


class Ingested(Struct, frozen=True, kw_only=True):
    """What ingesting one text or image came to; `run` is what undoes it.

    `reading` is the text as it is kept, empty for an image that nobody saw. `reason` says why something waits or was
    passed over, `hopeless` that another call now would be in vain. Of what a changed file said before, `retired` are
    memories and the insights on them that went, `conflicts` those kept because somebody edited them.
    """

    run: str | None = None
    scope: Scope
    reading: Reading
    kept: tuple[Kept, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    retired: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    reason: str | None = None
    hopeless: bool = False

    @property
    def waiting(self) -> int:
        """How many of the memories wait for a model."""
        return sum(kept.waits for kept in self.kept)


class Forecast(NamedTuple):
    """About what ingesting would take: calls, tokens in and out, and US dollars where prices are set."""

    calls: int
    tokens_in: int
    tokens_out: int
    usd: float | None


def ingest(
    context: Context,
    llm: Llm | None,
    material: Material,
    *,
    scope: Scope,
    actor: Actor,
    terms: Terms,
    run: str | None = None,
    why: str | None = None,
    replacing: Sequence[Reading] = (),
) -> Ingested:
    """Read a text or an image and remember what is worth it; a model that fails is an answer, not an error.

    `run` is the id that the run gets, so that calls can be counted for it; `why` says why there is no model.
    `replacing` are the readings of the same file that this one stands for: what they alone said is retired in the
    same run. An image that nobody saw is named in `skipped`, and what was known of it stays.
    """
    if material.image:
        found = _seen(context, llm, material, terms, why)
    else:
        at = material.said_at or context.clock()
        found = extract(llm, material.text, source=material.source, at=at, terms=terms, why=why)
    text = material.text or "\n".join(fact.draft.content for fact in found.facts)
    reading = _reading(context, material, scope, text, run or context.new_id())
    if material.image and found.failed:
        return _unseen(context, replace(reading, run=None), found, keep=not replacing)
    template = Draft(content="", title=material.title, source=material.source, observed_at=material.said_at)
    waiting = waiting_facts(material.text, found, template)
    came = write(
        context, Batch(reading, dated(found.facts, material.said_at), waiting, ingest_actor(actor)), replacing=replacing
    )
    return replace(
        came,
        redactions=(*material.redactions, *came.redactions),
        notes=(*material.notes, *found.notes, *came.notes),
        reason=found.reason,
        hopeless=found.hopeless,
    )


def foresee(
    materials: Sequence[Material],
    price: Callable[[int, int], float | None],
    *,
    context: Context,
    terms: Terms,
) -> Forecast:
    """Return about what ingesting would use, without asking anybody or writing anything."""
    used: list[Usage] = []
    for one in materials:
        used += forecast(one.text, one.image, source=one.source, at=one.said_at or context.clock(), terms=terms)
    return added_up(used, price)


def added_up(used: Sequence[Usage], price: Callable[[int, int], float | None]) -> Forecast:
    """Return what some calls would use together."""
    tokens_in = sum(usage.tokens_in for usage in used)
    tokens_out = sum(usage.tokens_out for usage in used)
    return Forecast(len(used), tokens_in, tokens_out, price(tokens_in, tokens_out))


# --- images ---------------------------------------------------------------------------------------------
def _seen(context: Context, llm: Llm | None, material: Material, terms: Terms, why: str | None) -> Extracted:
    """Ask the model what an image shows; its facts, a line each, are the text of the reading."""
    assert material.image is not None
    unread = Extracted(failed=(Place(0, 0),), parts=1, reason=why or UNSET, hopeless=True)
    if llm is None:
        return unread
    try:
        said = material.said_at or context.clock()
        drafts, notes = look(llm, material.image, source=material.source, at=said, terms=terms)
    except ModelError as error:
        return replace(unread, reason=str(error), hopeless=is_hopeless(error))
    facts, at = [], 0
    for draft in drafts:
        facts.append(Fact(draft, Place(at, at + len(draft.content))))
        at += len(draft.content) + 1
    return Extracted(facts=tuple(facts), parts=1, notes=tuple(notes))


def _unseen(context: Context, reading: Reading, found: Extracted, *, keep: bool) -> Ingested:
    """Name an image that nobody saw; a file's empty reading keeps it from being shown again at every look."""
    if keep and reading.path is not None:
        with context.store.write() as tx:
            tx.readings.keep(reading)
    name = reading.path or reading.source
    skipped = Skipped(path=name, reason=f"no model has seen this image: {found.reason}")
    return Ingested(
        scope=reading.scope, reading=reading, skipped=(skipped,), reason=found.reason, hopeless=found.hopeless
    )


# --- one transaction ------------------------------------------------------------------------------------
class Batch(NamedTuple):
    """What one run writes: a reading, its facts, and the texts that wait for a model."""

    reading: Reading
    facts: Sequence[Fact]
    waiting: Sequence[Fact]
    actor: Actor


def write(context: Context, batch: Batch, *, replacing: Sequence[Reading] = ()) -> Ingested:
    """Keep a reading with its memories, and retire what those it replaces alone had said; all of it or nothing."""
    reading = batch.reading
    run = reading.run or context.new_id()
    facts, notes = entries_of(context, batch.facts, reading.scope, batch.actor, run)
    waiting, _ = entries_of(context, batch.waiting, reading.scope, batch.actor, run)
    with context.store.write() as tx:
        start = context.clock()
        tx.start_run(Run(id=run, verb="ingest", actor=batch.actor.name, started_at=start, detail=_detail(reading)))
        tx.readings.keep(reading)
        before = standing_of(context, tx, replacing)
        kept = admit_all(context, tx, facts, edited=before.edited)
        kept += admit_all(context, tx, waiting, waits=True)
        tie(tx, reading, kept)
        staying = {one.outcome.id for one in kept}
        gone = [memory for memory in before.ours if memory.id not in staying]
        insights = retire(context, tx, gone, actor=batch.actor, run=run)
        for old in replacing:
            tx.readings.drop(old.id)
        tx.finish_run(run, context.clock(), {**_detail(reading), "memories": len(kept), "retired": len(gone)})
    conflicts = tuple(memory.id for memory in before.edited.values() if memory.id not in staying)
    checked = tuple(one._replace(outcome=read_back(context, one.outcome)) for one in kept)
    return Ingested(
        run=run,
        scope=reading.scope,
        reading=reading,
        kept=checked,
        redactions=tuple(one for kept_ in checked for one in kept_.outcome.redactions),
        notes=(
            *notes,
            *(note for one in checked if one.outcome.status is not Status.DUPLICATE for note in one.outcome.warnings),
        ),
        retired=(*(memory.id for memory in gone), *insights),
        conflicts=conflicts,
    )


def entries_of(
    context: Context, facts: Sequence[Fact], scope: Scope, actor: Actor, run: str
) -> tuple[list[tuple[Entry, Place]], list[str]]:
    """Prepare facts for the gateway, those with doubts as candidates.

    One that cannot be stored is a note and costs the others nothing.
    """
    entries, notes = [], []
    for fact in facts:
        try:
            trust = Trust.CANDIDATE if fact.doubts else None
            entry = entry_of(context, replace(fact.draft, scope=scope), actor=actor, run=run, trust=trust)
        except InvalidInput as error:
            notes.append(f"a fact was left out: {error.message}")
        else:
            entries.append((entry, fact.place))
            notes += [_doubted(fact)] if fact.doubts else []
    return entries, notes


def _doubted(fact: Fact) -> str:
    named = ", ".join(repr(preview(one, DOUBTED)) for one in fact.doubts)
    return f"a fact is a candidate until somebody confirms it, for its text does not say {named}"


def admit_all(
    context: Context,
    tx: Tx,
    entries: Sequence[tuple[Entry, Place]],
    *,
    edited: dict[bytes, Memory] | None = None,
    waits: bool = False,
) -> list[Kept]:
    """Put prepared facts into an open transaction; what somebody edited since is left as he left it.

    Those that wait are put on the queue, but for a text that was stored before and so waits already, or no more.
    """
    kept = []
    for entry, place in entries:
        known = (edited or {}).get(entry.digest)
        if known is not None:
            outcome = Outcome(status=Status.UNCHANGED, id=known.id, memory=known)
        else:
            outcome = admit(context, tx, entry)
        if waits and outcome.status is Status.CREATED:
            tx.readings.await_enrichment(outcome.id)
        elif not waits and outcome.status is Status.DUPLICATE:
            tx.readings.enriched(outcome.id)  # a model has read this very text now
        kept.append(Kept(outcome, place, waits and outcome.status is Status.CREATED))
    return kept


def tie(tx: Tx, reading: Reading, kept: Sequence[Kept], *, by: int = 0) -> None:
    """Say of each memory where it stands in the reading, `by` characters further on; the first place counts."""
    first: dict[str, Place] = {}
    for one in kept:
        if one.outcome.id:  # a refused one has none
            first.setdefault(one.outcome.id, one.place)
    for memory_id, place in first.items():
        tx.readings.tie(memory_id, Span(reading.id, place.start + by, place.end + by))


def dated(facts: Sequence[Fact], said_at: datetime | None) -> tuple[Fact, ...]:
    """Return facts of which those without a time of their own have the one at which they were said."""
    return tuple(
        fact._replace(draft=replace(fact.draft, observed_at=fact.draft.observed_at or said_at)) for fact in facts
    )


def waiting_facts(text: str, found: Extracted, template: Draft) -> list[Fact]:
    """Return what stands for the parts that no model read; a text that nobody read at all stays in one, if it fits."""
    whole = len(found.failed) == found.parts
    return [
        Fact(replace(template, content=content, description=preview(content[: 2 * DESCRIBED], DESCRIBED)), place)
        for place in (places(text, CONTENT_LIMIT) if whole else found.failed)
        for content in [text[place.start : place.end]]
    ]


def _reading(context: Context, material: Material, scope: Scope, text: str, run: str) -> Reading:
    return Reading(
        id=context.new_id(),
        scope=scope,
        source=material.source,
        path=material.path,
        text=text,
        sha256=material.sha256,
        at=context.clock(),
        run=run,
    )


def _detail(reading: Reading) -> dict[str, object]:
    path = {} if reading.path is None else {"path": reading.path}
    return {"source": reading.source, **path, "reading": reading.id}
