"""The reading memory: every verb for which a language model may be asked, as one method."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, BinaryIO

from msgspec.structs import replace

from zapomni.model import PAGE_LIMIT
from zapomni.services.scopes import scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import tzinfo

    from zapomni.clock import Clock
    from zapomni.llm.base import Llm
    from zapomni.model import Actor, Memory, Query
    from zapomni.model.document import Scanned, Source
    from zapomni.services.context import Context
    from zapomni.services.documents.scan import Progress
    from zapomni.services.embedding import Embedding
    from zapomni.services.reading.ask import Answer, Supply
    from zapomni.services.reading.consolidate import Consolidated, Planned, Wish
    from zapomni.services.reading.enrich import Enriched
    from zapomni.services.reading.facts import Terms
    from zapomni.services.reading.handout import Handout
    from zapomni.services.reading.handout_text import TextRead
    from zapomni.services.reading.ingest import Forecast, Ingested
    from zapomni.services.reading.ingest_forecast import ScanForecast
    from zapomni.services.reading.insight import Connection, Held, Saved
    from zapomni.services.reading.ledger import Ledger
    from zapomni.services.reading.material import Material
    from zapomni.settings import Config


class ReadingMemory:
    """What a model reads of one memory, as `Zapomni.reading` gives it; safe to use from many threads.

    No model is loaded before it is asked. Every method raises only `zapomni.errors.ZapomniError`.
    """

    def __init__(
        self,
        context: Context,
        embedding: Embedding[Memory],
        config: Config,
        *,
        actor: Actor,
        clock: Clock,
        zone: tzinfo,
        llm: Llm | None = None,
    ) -> None:
        """Build from the parts of a memory; `llm` replaces the model that the settings name."""
        self._context = context
        self._embedding = embedding
        self._config = config
        self._actor = actor
        self._clock = clock
        self._zone = zone
        self._given = llm
        self._lock = RLock()
        self._made: Llm | None = None

    @property
    def ledger(self) -> Ledger:
        """The calls of models with what they cost, and the caps of a day."""
        from zapomni.services.reading.ledger import Ledger

        return Ledger(self._context.store.calls, self._config.llm, self._clock, self._zone)

    def llm(self, run: str | None = None) -> Llm | None:
        """Return the model, whose every call goes through the ledger as part of `run`; None where none is set."""
        from zapomni.llm.registry import make_llm
        from zapomni.services.reading.ledger import Metered

        with self._lock:
            if self._made is None:
                self._made = self._given or make_llm(self._config.llm)
            return Metered(self._made, self.ledger, run=run) if self._made is not None else None

    # --- ask ----------------------------------------------------------------------------------------------
    def ask(
        self,
        question: str,
        *,
        scopes: Sequence[str] = (),
        budget: int | None = None,
        limit: int | None = None,
        select: bool = False,
        tell: Callable[[Supply], None] | None = None,
        **where: Any,
    ) -> Answer:
        """Answer a question in words, with citations of what was read; `where` holds the fields of a filter.

        At most `budget` tokens of memories are read. With `select` the model picks a few by their titles first.
        `tell` is called with what will be read before the model is asked. Without a model the answer says so and holds
        what recall finds, at most `limit` hits.
        """
        from zapomni.services.reading.ask import ask

        query = self._query(question, scopes, budget, limit, where)
        return ask(self._context, self._embedding, self.llm(), query, zone=self._zone, choose=select, tell=tell)

    def would_ask(
        self,
        question: str,
        *,
        scopes: Sequence[str] = (),
        budget: int | None = None,
        select: bool = False,
        **where: Any,
    ) -> Supply:
        """Return what a model would read for a question, about how many tokens that takes, and ask none."""
        from zapomni.services.reading.ask import supplied

        query = self._query(question, scopes, budget, None, where)
        return supplied(self._context, self._embedding, query, zone=self._zone, choose=select)

    def _query(
        self, question: str, scopes: Sequence[str], budget: int | None, limit: int | None, where: dict[str, Any]
    ) -> Query:
        from zapomni.model import RECALL_LIMIT, Query
        from zapomni.services.parse import parse_filter, parse_whole
        from zapomni.services.scopes import scopes_to_read

        seen = scopes_to_read(self._context, scopes)
        return Query(
            text=str(question),
            where=parse_filter(where, scopes=seen, now=self._clock(), zone=self._zone),
            limit=parse_whole("limit", limit, self._config.recall.limit, low=1, high=RECALL_LIMIT),
            budget=parse_whole("budget", budget, self._config.ask.budget, low=1, high=10**9),
        )

    # --- ingest -------------------------------------------------------------------------------------------
    def ingest(
        self,
        text: str,
        *,
        source: str = "",
        scope: str | None = None,
        said_at: str | None = None,
        actor: Actor | None = None,
    ) -> Ingested:
        """Read a text and remember what is worth it; without a model the text is kept whole and waits for one.

        `source` names where it comes from; empty means the name of who gives it. `said_at` is when it was said: its
        "yesterday" is counted from then.
        """
        from zapomni.services.reading.material import material_of_text

        who = actor or self._actor
        material = self.said(material_of_text(text, source=source or who.name), said_at)
        return self.take_in(material, scope=scope, actor=who)

    def said(self, material: Material, said_at: str | None) -> Material:
        """Return what is to be ingested with the time at which it was said, where that is told."""
        from zapomni.text.dates import parse_instant

        if not said_at:
            return material
        return replace(material, said_at=parse_instant(said_at, self._zone, now=self._clock(), field="said_at"))

    def ingest_file(
        self,
        file: BinaryIO,
        name: str,
        *,
        source: str = "",
        scope: str | None = None,
        modified_ns: int | None = None,
        actor: Actor | None = None,
    ) -> Ingested:
        """Read a file, or look at an image, and remember what is worth it; `name` tells its format by its ending.

        Its "yesterday" is counted from the date in its header, else in its name, else from when it was changed.
        Raises `InvalidInput` for what is neither text nor image.
        """
        material = self.material(file, name, source=source, modified_ns=modified_ns)
        return self.take_in(material, scope=scope, actor=actor)

    def material(self, file: BinaryIO, name: str, *, source: str = "", modified_ns: int | None = None) -> Material:
        """Return what a file holds as it would be ingested, without asking a model or keeping anything."""
        from zapomni.errors import InvalidInput
        from zapomni.readers.base import Unreadable
        from zapomni.services.reading.dating import Moment
        from zapomni.services.reading.material import checked_source, material_of_file

        try:
            moment = Moment(self._clock(), self._zone, modified_ns)
            return material_of_file(file, name, moment, source=checked_source(source or name))
        except Unreadable as error:
            remedy = "Give a text, Markdown, JSON, CSV, YAML, log or PDF file, or a PNG, JPEG, GIF or WebP image"
            raise InvalidInput("file", f"{name} was not read: {error.message}", remedy=remedy) from None

    def take_in(self, material: Material, *, scope: str | None = None, actor: Actor | None = None) -> Ingested:
        """Ingest what was read from a text or a file."""
        from zapomni.services.reading.ingest import ingest
        from zapomni.services.scopes import scope_to_write

        self._check_line("ingest")
        target, warnings = scope_to_write(self._context, scope)
        run = self._context.new_id()
        who = actor or self._actor
        came = ingest(self._context, self.llm(run), material, scope=target, actor=who, terms=self.terms, run=run)
        return replace(came, notes=(*warnings, *came.notes))

    def would_ingest(self, materials: Sequence[Material]) -> Forecast:
        """Return about how many calls, tokens and dollars ingesting would take, and ask no model."""
        from zapomni.services.reading.ingest import foresee

        return foresee(materials, self.ledger.price, context=self._context, terms=self.terms)

    def enrich(self, *, limit: int | None = None) -> Enriched:
        """Have the model read texts that were stored without it, oldest first; raises `Unavailable` beside another."""
        from zapomni.services.parse import parse_whole
        from zapomni.services.reading.enrich import BATCH, enrich_waiting

        self._check_line("ingest")
        most = parse_whole("limit", limit, BATCH, low=1, high=100_000)
        return enrich_waiting(self._context, self.llm, terms=self.terms, limit=most)

    def would_enrich(self, *, limit: int | None = None) -> Forecast:
        """Return about what `enrich` would take now, and ask no model."""
        from zapomni.services.parse import parse_whole
        from zapomni.services.reading.enrich import BATCH, foresee_enriching
        from zapomni.services.reading.ingest import added_up

        most = parse_whole("limit", limit, BATCH, low=1, high=100_000)
        return added_up(foresee_enriching(self._context, terms=self.terms, limit=most), self.ledger.price)

    def scan(
        self,
        source: str | None = None,
        *,
        scopes: Sequence[str] = (),
        quick: bool = False,
        rest_s: float = 0.0,
        accept_removals: bool = False,
        progress: Callable[[Source], Progress] | None = None,
    ) -> list[Scanned]:
        """Bring what is remembered of one ingested source, or of all that are seen, to what their files say now."""
        from zapomni.model import Origin
        from zapomni.model.document import SourceMode
        from zapomni.services.documents.sources import wanted_sources
        from zapomni.services.reading.ingest_source import scan_ingested
        from zapomni.services.scopes import scopes_to_read

        seen = wanted_sources(self._context, source, scopes_to_read(self._context, scopes))
        found = [one for one in seen if one.mode is SourceMode.INGEST]
        if found:
            self._check_line("ingest")
        return [
            scan_ingested(
                self._context,
                self.llm,
                one,
                actor=replace(self._actor, origin=Origin.FILE),
                terms=self.terms,
                quick=quick,
                rest_s=rest_s,
                accept_removals=accept_removals,
                progress=progress(one) if progress is not None else None,
            )
            for one in found
        ]

    def would_scan(self, source: str | None = None, *, scopes: Sequence[str] = ()) -> list[ScanForecast]:
        """Return about what `scan` would take of one ingested source, or of all that are seen; nothing is changed."""
        from zapomni.model.document import SourceMode
        from zapomni.services.documents.sources import wanted_sources
        from zapomni.services.reading.ingest_forecast import foresee_scan

        found = wanted_sources(self._context, source, scopes_to_read(self._context, scopes))
        return [foresee_scan(self._context, one, terms=self.terms) for one in found if one.mode is SourceMode.INGEST]

    @property
    def terms(self) -> Terms:
        """How things are read: the zone of bare days, and the most that is read at once."""
        from zapomni.services.reading.facts import Terms

        return Terms(zone=self._zone, piece=self._config.ingest.piece)

    # --- consolidate ----------------------------------------------------------------------------------------
    def consolidate(
        self, *, scopes: Sequence[str] = (), every: bool = False, actor: Actor | None = None
    ) -> list[Consolidated]:
        """Have the model look for insights in what waits: a batch of each scope, or with `every` all of it.

        Each batch is a run of its own, which `undo_run` takes back. Raises `Unavailable` where no model is set.
        """
        from zapomni.services.reading.consolidate import consolidate

        self._check_line("consolidate")
        seen, who = scopes_to_read(self._context, scopes), actor or self._actor
        return consolidate(self._context, self.llm, seen, actor=who, wish=self._wish(every))

    def plan_consolidation(self, *, scopes: Sequence[str] = (), every: bool = False) -> list[Planned]:
        """Return what `consolidate` would use; no model is needed and none is asked."""
        from zapomni.services.reading.consolidate import plan

        return plan(self._context, scopes_to_read(self._context, scopes), self._wish(every))

    def insights(self, *, scopes: Sequence[str] = (), limit: int | None = None) -> list[Held]:
        """Return insights with the memories that they were drawn from, newest first, at most `limit` (20)."""
        from zapomni.services.parse import parse_whole
        from zapomni.services.reading.insight import list_insights

        most = parse_whole("limit", limit, 20, low=1, high=PAGE_LIMIT)
        return list_insights(self._context, scopes_to_read(self._context, scopes), limit=most)

    def next_batch(self, *, scopes: Sequence[str] = (), actor: Actor | None = None) -> Handout | None:
        """Hand out memories to be looked at by the caller instead of a model; None when nothing waits."""
        from zapomni.services.reading.handout import next_batch

        self._check_line("consolidate")
        return next_batch(self._context, scopes_to_read(self._context, scopes), actor=actor or self._actor)

    def next_text(self, *, scopes: Sequence[str] = (), actor: Actor | None = None) -> Handout | None:
        """Hand out a text that waits, or its first piece, to be read by the caller; None where none does."""
        from zapomni.services.reading.handout_text import next_text

        self._check_line("ingest")
        seen = scopes_to_read(self._context, scopes)
        return next_text(self._context, seen, actor=actor or self._actor, terms=self.terms)

    def is_text(self, batch: str) -> bool:
        """Tell whether a batch is one of `next_text`."""
        from zapomni.services.reading.handout_text import is_text

        return is_text(self._context, batch)

    def save_facts(
        self,
        batch: str,
        facts: Sequence[Mapping[str, Any]] = (),
        *,
        reason: str = "",
        scopes: Sequence[str] = (),
        actor: Actor | None = None,
    ) -> TextRead:
        """Put what the caller found in a text of `next_text` in its place; without facts a `reason` ends the batch.

        Each fact has the form of `facts.SCHEMA`. Raises `Refused` where none of them speaks of the text.
        """
        from zapomni.services.reading.handout_text import save_facts

        self._check_line("ingest")
        seen, who = scopes_to_read(self._context, scopes), actor or self._actor
        return save_facts(self._context, batch, facts, scopes=seen, actor=who, terms=self.terms, reason=reason)

    def save_insight(
        self,
        batch: str,
        statement: str = "",
        members: Sequence[str] = (),
        *,
        title: str = "",
        connections: Sequence[Connection] = (),
        reason: str = "",
        scopes: Sequence[str] = (),
        actor: Actor | None = None,
    ) -> Saved:
        """Save what the caller concluded from a batch of `next_batch`; without a statement a `reason` ends the batch.

        Raises `Refused` for an insight that says other things than its members.
        """
        from zapomni.services.reading.handout import save_from
        from zapomni.services.reading.insight import Insight

        self._check_line("consolidate")
        drawn = Insight(statement=statement, members=tuple(members), title=title, connections=tuple(connections))
        seen, who = scopes_to_read(self._context, scopes), actor or self._actor
        insight = drawn if statement.strip() else None
        return save_from(self._context, batch, insight, scopes=seen, actor=who, reason=reason)

    def _check_line(self, what: str) -> None:
        """Raise `Refused` on a branch: what a model read or concluded belongs to the main line."""
        from zapomni.services.branching.fork import refuse_on_branch

        refuse_on_branch(self._context, what)

    def _wish(self, every: bool) -> Wish:  # noqa: FBT001 - handed on
        from zapomni.services.reading.consolidate import Wish

        return Wish(self._config.consolidate.batch, every)
