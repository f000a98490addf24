"""The write gateway: the one way by which anything new enters the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import Unavailable
from zapomni.model import Draft, Filter, Memory, Origin, Outcome, Patch, Status, Trust, Verb
from zapomni.services.ahead import Ahead
from zapomni.services.branching.fork import open_branch, twin_behind, write_change
from zapomni.services.find import everything_in
from zapomni.services.prepare import Prepared, prepare
from zapomni.services.scopes import named
from zapomni.services.sessions.record import is_record
from zapomni.text.fold import digest
from zapomni.text.words import query_words, similar_words, similarity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.model import Actor, Rejection, Scope
    from zapomni.services.context import Context
    from zapomni.store.base import Tx

SIMILAR_FROM: Final = 0.8
"""Share of common words from which two memories of one scope are reported as near duplicates: at .85 the
ancestor merges by itself (features LC-5), and a report may be a little more generous than a merge."""
_CANDIDATES: Final = 5
BATCH: Final = 1_000
"""Drafts a transaction: a kill loses at most these, and other writers wait for tens of milliseconds."""
_TRUST: Final = {
    Origin.USER: Trust.CONFIRMED,
    Origin.AGENT: Trust.CONFIRMED,
    Origin.CONSOLIDATION: Trust.CANDIDATE,
    Origin.IMPORT: Trust.CONFIRMED,
    Origin.FILE: Trust.CONFIRMED,
    Origin.SESSION: Trust.CANDIDATE,
}
"""What is said on purpose is believed; what was concluded or overheard waits for review."""
_ON_PURPOSE: Final = frozenset({Origin.USER, Origin.AGENT})
"""Whose own words confirm what waits for review."""
_TAKEN_OVER: Final = tuple(name for name in Draft.__struct_fields__ if name != "scope")
"""What a memory takes over from its draft."""


class Entry(Struct, frozen=True, kw_only=True):
    """A prepared draft on its way in: its scope and who brings it.

    It is believed as far as the origin of who brings it, unless the verb that writes it has found out another `trust`.
    """

    prepared: Prepared
    scope: Scope
    actor: Actor
    run: str | None = None
    trust: Trust | None = None

    @property
    def draft(self) -> Draft:
        """The draft, fit to be stored."""
        draft: Draft = self.prepared.values
        return draft

    @property
    def digest(self) -> bytes:
        """Its duplicate key."""
        return self.prepared.indexed.digest


def remember(context: Context, draft: Draft, *, actor: Actor, warnings: tuple[str, ...] = ()) -> Outcome:
    """Store one memory and read it back.

    Raises `InvalidInput` for a value that cannot be stored. A refused value, an exact duplicate and a
    repeated `key` are outcomes, not errors. What was a candidate is confirmed when a person or an agent says it.
    """
    entry = entry_of(context, draft, actor=actor)
    similar = _similar(context, entry)
    with context.store.write() as tx:
        outcome = _confirmed(context, tx, entry, admit(context, tx, entry))
        if outcome.status is Status.REFUSED:
            outcome = replace(outcome, warnings=(*outcome.warnings, *_way_back(context, tx, entry)))
    checked = read_back(context, outcome)
    return replace(
        checked,
        similar=tuple(memory for memory in similar if memory.id != outcome.id),
        warnings=(*warnings, *outcome.warnings),
    )


def remember_many(context: Context, drafts: Sequence[Draft], *, actor: Actor) -> Iterator[Outcome]:
    """Store many memories, a transaction for each thousand; yields one outcome a draft, in order.

    Near duplicates are not looked for. A draft that cannot be stored raises `InvalidInput` before its batch
    is written.
    """

    def readied(batch: Sequence[Draft]) -> list[Entry]:
        return [entry_of(context, draft, actor=actor) for draft in batch]

    ahead = Ahead(readied, [drafts[start : start + BATCH] for start in range(0, len(drafts), BATCH)])
    for entries in ahead:
        with context.store.write() as tx:
            tx.meanwhile(ahead.begin)
            outcomes = [admit(context, tx, entry) for entry in entries]
        yield from outcomes


def entry_of(
    context: Context, draft: Draft, *, actor: Actor, run: str | None = None, trust: Trust | None = None
) -> Entry:
    """Prepare a draft for `admit`: validated, redacted, with its scope and what the store derives from it."""
    prepared = prepare(draft)
    _ = prepared.indexed  # now, and not while others wait for the store
    values: Draft = prepared.values
    return Entry(
        prepared=prepared,
        scope=(values.scope or context.place.write).on(context.place.branch),
        actor=actor,
        run=run,
        trust=trust,
    )


def admit(context: Context, tx: Tx, entry: Entry) -> Outcome:
    """Put one prepared draft into an open transaction; the caller reads it back after the commit."""
    if entry.scope.branch:
        open_branch(tx, entry.scope.branch)
        tx.register_scope(entry.scope.base, None)
    rejection = tx.rejection(entry.scope.base, entry.digest)
    if rejection is not None:
        return _outcome(entry, Status.REFUSED, None, f"refused before by {rejection.actor}: {rejection.reason}")
    known, by_key = _known(tx, entry)
    if known is not None and (by_key or (entry.draft.key and known.key is None)):
        return _again(context, tx, entry, known)  # a text that is known already is, from now on, known by this key
    if known is not None:
        return _outcome(entry, Status.DUPLICATE, known, *_kept(entry, known))
    memory = new_memory(context, entry)
    at, indexed = memory.created_at, entry.prepared.indexed
    tx.put(None, memory, verb=Verb.CREATE, actor=entry.actor, at=at, run=entry.run, indexed=indexed)
    return _outcome(entry, Status.CREATED, memory)


def is_confirmed_by(memory: Memory, actor: Actor) -> bool:
    """Tell whether a memory waits for review and `actor`, who says the same on purpose, ends that.

    What is disputed, rejected or superseded was reviewed, and is not believed for being said again.
    """
    return memory.trust is Trust.CANDIDATE and memory.deleted_at is None and actor.origin in _ON_PURPOSE


def lifted(context: Context, tx: Tx, rejection: Rejection) -> str:
    """Return the words by which a refusal names what lifts it; empty where nothing does any more."""
    deleted = tx.rejected_by(rejection)
    there = named(context.place, rejection.scope)
    return f"The refusal is lifted by `zapomni undo {deleted}{there}`" if deleted is not None else ""


def confirmation(memory: Memory) -> str:
    """Return the words by which an outcome names that a candidate was confirmed."""
    how = "captured" if memory.origin is Origin.SESSION else "concluded"
    return f"it was {how} and not reviewed; it is confirmed now"


def read_back(context: Context, outcome: Outcome) -> Outcome:
    """Return the outcome with the memory as the store now gives it.

    Raises `Unavailable` when the store does not give back what it acknowledged.
    """
    if outcome.memory is None:
        return outcome
    found = context.store.get([outcome.id], everything_in((), deleted=True))
    if not found:
        raise Unavailable(
            f"memory {outcome.id} was written but cannot be read back", remedy="Run `zapomni doctor` and store it again"
        )
    return replace(outcome, memory=found[0])


def new_memory(context: Context, entry: Entry) -> Memory:
    """Return the memory that a prepared draft becomes; it is not stored yet."""
    draft, now = entry.draft, context.clock()
    return Memory(
        id=context.new_id(),
        kind=draft.kind,
        scope=entry.scope,
        content=draft.content,
        title=draft.title,
        description=draft.description,
        about=draft.about,
        path=draft.path,
        tags=draft.tags,
        entities=draft.entities,
        importance=draft.importance,
        pinned=draft.pinned,
        trust=entry.trust or _TRUST[entry.actor.origin],
        origin=entry.actor.origin,
        source=draft.source,
        position=draft.position,
        key=draft.key,
        observed_at=draft.observed_at,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        metadata=draft.metadata,
        created_at=now,
        updated_at=now,
    )


def _again(context: Context, tx: Tx, entry: Entry, found: Memory) -> Outcome:
    """Bring the record of this key to what the draft sets, or leave it when it says so already."""
    fields = {*Patch.__struct_fields__, "key"}
    values = {name: value for name, value in _set_fields(entry.draft).items() if name in fields}
    if found.deleted_at is None and all(getattr(found, name) == value for name, value in values.items()):
        return _outcome(entry, Status.DUPLICATE, found)
    now = context.clock()
    after = replace(found, **values, updated_at=now, deleted_at=None, version=found.version + 1)
    written = write_change(context, tx, found, after, verb=Verb.UPDATE, actor=entry.actor, run=entry.run)
    return _outcome(entry, Status.UPDATED, written)


def _way_back(context: Context, tx: Tx, entry: Entry) -> tuple[str, ...]:
    rejection = tx.rejection(entry.scope.base, entry.digest)
    way = lifted(context, tx, rejection) if rejection is not None else ""
    return (way,) if way else ()


def _confirmed(context: Context, tx: Tx, entry: Entry, outcome: Outcome) -> Outcome:
    """Confirm a candidate that an explicit store came upon; any other outcome stays as it is."""
    found = outcome.memory
    if found is None or not is_confirmed_by(found, entry.actor):
        return outcome
    after = replace(found, trust=Trust.CONFIRMED, updated_at=context.clock(), version=found.version + 1)
    written = write_change(context, tx, found, after, verb=Verb.UPDATE, actor=entry.actor, run=entry.run)
    notes = (*outcome.notes, confirmation(found))
    return replace(outcome, status=Status.UPDATED, id=written.id, memory=written, notes=notes, waiting=True)


def _known(tx: Tx, entry: Entry) -> tuple[Memory | None, bool]:
    """Return what is stored under the key of a draft or with its text, and whether the key found it."""
    keyed = tx.find_key(entry.scope, entry.draft.key) if entry.draft.key else None
    found = keyed or tx.find_digest(entry.scope, entry.digest)
    if found is None and entry.scope.branch:
        return twin_behind(tx, entry.scope, entry.digest, entry.draft.key)
    return found, keyed is not None


def _set_fields(draft: Draft) -> dict[str, Any]:
    """Return the fields of a draft that say something else than their default."""
    usual = Draft(content="")
    return {name: getattr(draft, name) for name in _TAKEN_OVER if getattr(draft, name) != getattr(usual, name)}


def _kept(entry: Entry, twin: Memory) -> tuple[str, ...]:
    """Name what a duplicate brought with it that the stored memory does not take over."""
    other = [
        name
        for name, value in _set_fields(entry.draft).items()
        if name not in {"content", "key"} and getattr(twin, name) != value
    ]
    return (
        (f"stored before; its {', '.join(other)} stay as they are: update {twin.id} to change them",) if other else ()
    )


def _outcome(entry: Entry, status: Status, memory: Memory | None, *notes: str) -> Outcome:
    written = status in {Status.CREATED, Status.UPDATED}
    return Outcome(
        status=status,
        id=memory.id if memory else "",
        memory=memory,
        redactions=entry.prepared.redactions,
        warnings=(*entry.prepared.warnings, *notes),
        waiting=written,
    )


def _similar(context: Context, entry: Entry) -> tuple[Memory, ...]:
    """Return memories of the same scope that say nearly the same, found by their words alone."""
    own = similar_words(entry.draft.content)
    words = query_words(entry.draft.content)
    if not words:
        return ()
    scopes = tuple(dict.fromkeys((entry.scope.base, entry.scope)))
    found = context.store.lexical(words, Filter(scopes=scopes), _CANDIDATES)
    memories = context.store.fetch([hit.no for hit in found.hits])
    return tuple(
        memory
        for memory in memories.values()
        if similarity(own, similar_words(memory.content)) >= SIMILAR_FROM
        and digest(memory.content) != entry.digest
        and not is_record(memory)  # it repeats what others say
    )
