"""Insights: what some memories mean together, and the one way in which one is saved, whoever concluded it.

A guard stands before it: an insight says no number, date, name or code that its memories do not say, and repeats no
sentence of theirs without those that stand there (`text.claims`). Members are never changed.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from zapomni.errors import InvalidInput, Refused
from zapomni.model import (
    LIST_LIMIT,
    PAGE_LIMIT,
    TITLE_LIMIT,
    Draft,
    Kind,
    Link,
    LinkKind,
    Memory,
    Origin,
    Outcome,
    Run,
    Status,
)
from zapomni.record import stamp
from zapomni.services.find import everything_in
from zapomni.services.remember import admit, entry_of, read_back
from zapomni.text.claims import dropped, invented
from zapomni.text.clean import cut, is_blank, preview

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zapomni.model import Actor, Filter, Scope
    from zapomni.services.context import Context
    from zapomni.store.base import Tx

VERB: Final = "consolidate"
"""By which the runs of consolidations are known, and what language models are asked for."""
FEWEST: Final = 2
"""Members of an insight: what one memory says, it says itself."""
STATEMENT_LIMIT: Final = 2_000
"""Most characters of a statement: an insight is a few sentences, no second copy of its members."""
_NAMED: Final = 8
"""Claims that a refusal names."""
_QUOTED: Final = 200


class Connection(NamedTuple):
    """How one member bears on another; both are ids."""

    source: str
    target: str
    how: str


class Insight(Struct, frozen=True, kw_only=True):
    """What somebody concluded from some memories, before the guard has looked at it."""

    statement: str
    members: tuple[str, ...]
    title: str = ""
    connections: tuple[Connection, ...] = ()


class Refusal(NamedTuple):
    """An insight that was not saved, as it began, and why."""

    statement: str
    reason: str


class Batch(Struct, frozen=True, kw_only=True):
    """Memories of one scope that were looked at together, as they were then.

    `run` is the run that this is; one that has `begun` is recorded already, with this `detail`.
    """

    run: str
    scope: Scope
    memories: Mapping[str, Memory]
    begun: bool = False
    detail: Mapping[str, Any] = field(default_factory=dict)


class Saved(NamedTuple):
    """What looking at a batch came to: what was written, what was refused, and how many memories are done with."""

    outcomes: tuple[Outcome, ...] = ()
    refused: tuple[Refusal, ...] = ()
    done: int = 0


def save_insights(
    context: Context, batch: Batch, insights: Iterable[Insight | Refusal], *, actor: Actor, whole: bool = True
) -> Saved:
    """Save what was concluded from a batch, with its run and the marks on its members, in one transaction.

    What cannot be saved costs the others nothing and is named; a `Refusal` among the insights is one that came too
    badly formed to be looked at. The `whole` batch is done with when nothing was refused; otherwise only the members
    of what was saved are, and the others wait for the next time. A memory changed meanwhile is never done with.
    """
    outcomes: list[Outcome] = []
    refused: list[Refusal] = []
    done: set[str] = set()
    with context.store.write() as tx:
        now = context.clock()
        if not batch.begun:
            tx.start_run(Run(id=batch.run, verb=VERB, actor=actor.name, started_at=now))
        for insight in insights:
            try:
                outcomes.append(save_insight(context, tx, batch, _formed(insight), actor=actor))
            except (Refused, InvalidInput) as error:
                refused.append(Refusal(cut(insight.statement, _QUOTED), error.message))
            else:
                done.update(_formed(insight).members)
        if whole and not refused:
            done = {one.id for one in batch.memories.values() if _as_it_was(tx, one)}
        tx.readings.mark_consolidated(sorted(done), batch.run, now)
        tx.finish_run(batch.run, context.clock(), _told(batch, outcomes, refused, len(done)))
    return Saved(tuple(read_back(context, one) for one in outcomes), tuple(refused), len(done))


def save_insight(context: Context, tx: Tx, batch: Batch, insight: Insight, *, actor: Actor) -> Outcome:
    """Put one insight into an open transaction, as a memory that is linked to its members.

    Its trust is that of its origin: a candidate until somebody confirms it. A text that is known already is a
    duplicate, an outcome like one that a person refused. Raises `Refused` for what the guard holds back and
    `InvalidInput` for a value that cannot be stored; neither has written anything.
    """
    members = _members(tx, batch, insight)
    _guard(insight, members)
    draft = Draft(
        content=insight.statement.strip(),
        kind=Kind.SEMANTIC,
        scope=batch.scope,
        title=_title(insight, members),
        entities=tuple(dict.fromkeys(name for one in members for name in one.entities))[:LIST_LIMIT],
        importance=max(one.importance for one in members),
        metadata={
            "connections": [{"from": one.source, "to": one.target, "how": one.how} for one in insight.connections]
        },
    )
    author = replace(actor, origin=Origin.CONSOLIDATION)
    outcome = admit(context, tx, entry_of(context, draft, actor=author, run=batch.run))
    if outcome.memory is not None and outcome.memory.origin is Origin.CONSOLIDATION:
        tx.link(Link(source=outcome.id, target=one.id, kind=LinkKind.DERIVED_FROM) for one in members)
    return outcome


class Held(NamedTuple):
    """An insight as it is stored, with the memories that it was drawn from and that are still there."""

    memory: Memory
    members: tuple[Memory, ...]


def list_insights(context: Context, scopes: Sequence[Scope], *, limit: int) -> list[Held]:
    """Return the insights of some scopes with their members, newest first, at most `limit`.

    Pages through what the scopes hold: with 100,000 memories that takes seconds.
    """
    found: list[Held] = []
    cursor: str | None = None
    where = everything_in(scopes)
    while len(found) < limit:
        page = context.store.page(where, PAGE_LIMIT, cursor)
        insights = [one for one in page.memories if one.origin is Origin.CONSOLIDATION]
        found += [_held(context, one, where) for one in insights[: limit - len(found)]]
        cursor = page.next
        if cursor is None:
            break
    return found


def _held(context: Context, insight: Memory, where: Filter) -> Held:
    links = context.store.links(insight.id)
    drawn = [one.target for one in links if one.source == insight.id and one.kind is LinkKind.DERIVED_FROM]
    return Held(insight, tuple(sorted(context.store.get(drawn, where), key=attrgetter("created_at"))))


def sources_of(members: Iterable[Memory]) -> list[str]:
    """Return the texts that an insight on these memories may speak from: content, names and days of each."""
    return [
        "\n".join(
            (
                *(one.title, one.description, one.content, one.path or "", one.source or ""),
                *(*one.tags, *one.entities),
                *(stamp(at) for at in (one.observed_at, one.valid_from, one.valid_until, one.created_at) if at),
            )
        )
        for one in members
    ]


def _formed(insight: Insight | Refusal) -> Insight:
    if isinstance(insight, Refusal):
        raise Refused(insight.reason)
    return insight


def _members(tx: Tx, batch: Batch, insight: Insight) -> list[Memory]:
    """Return the members of an insight, each once; raises `Refused` for any that was not in the batch as it is."""
    named = dict.fromkeys((*insight.members, *(one for pair in insight.connections for one in pair[:2])))
    if strange := [one for one in named if one not in batch.memories]:
        raise Refused(f"it names what was not in the batch: {', '.join(cut(one, 40) for one in strange[:_NAMED])}")
    if loose := [one for one in named if one not in insight.members]:
        raise Refused(f"a connection names what is no member of it: {', '.join(loose[:_NAMED])}")
    if len(set(insight.members)) < FEWEST:
        raise Refused("it has fewer than two members")
    members = [batch.memories[one] for one in dict.fromkeys(insight.members)]
    if changed := [one.id for one in members if not _as_it_was(tx, one)]:
        raise Refused(f"changed since the batch was read: {', '.join(changed[:_NAMED])}")
    return members


def _guard(insight: Insight, members: Sequence[Memory]) -> None:
    """Raise `Refused` for an insight that says too much or too little."""
    if is_blank(insight.statement):
        raise Refused("it says nothing")
    if len(insight.statement) > STATEMENT_LIMIT:
        raise Refused(f"it has {len(insight.statement):,} characters, at most {STATEMENT_LIMIT:,} are an insight")
    sources = sources_of(members)
    texts = (insight.statement, *(one.how for one in insight.connections))
    if made_up := [claim for text in texts for claim in invented(text, sources)]:
        raise Refused(f"it says what none of its memories says: {_list(made_up)}")
    if left_out := [claim for one in members for claim in dropped(insight.statement, one.content, one.entities)]:
        raise Refused(f"it repeats its memories without what they say: {_list(left_out)}")


def _title(insight: Insight, members: Sequence[Memory]) -> str:
    """Return the title, or none in the place of one that the guard would hold back."""
    title = "" if is_blank(insight.title) else preview(insight.title, TITLE_LIMIT)
    return "" if invented(title, [*sources_of(members), insight.statement]) else title


def _as_it_was(tx: Tx, memory: Memory) -> bool:
    current = tx.get(memory.id)
    return current is not None and (current.content, current.scope, current.deleted_at) == (
        memory.content,
        memory.scope,
        None,
    )


def _list(claims: Iterable[str]) -> str:
    return ", ".join(repr(cut(one, 40)) for one in list(dict.fromkeys(claims))[:_NAMED])


def _told(batch: Batch, outcomes: Sequence[Outcome], refused: Sequence[Refusal], done: int) -> dict[str, Any]:
    """Return what a run keeps of itself; one that goes on adds to what it came to before."""
    counts = {
        "done": done,
        "insights": sum(one.status is Status.CREATED for one in outcomes),
        "refused": len(refused),
    }
    told = {name: count + int(batch.detail.get(name, 0)) for name, count in counts.items()}
    return {**batch.detail, "scope": str(batch.scope), "looked_at": len(batch.memories), **told}
