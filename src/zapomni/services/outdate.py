"""What repeats a memory goes with its text: the insights drawn from it, its line in the record of its session.

Undoing a change of a memory brings back the memory alone: its insights stay deleted, each with an undo of its own, and
what they were drawn from waits for the next consolidation, which concludes anew. Undoing a run brings back both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model import LinkKind, Memory, Origin, Verb
from zapomni.services.sessions.record import follow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from zapomni.model import Actor
    from zapomni.services.context import Context
    from zapomni.store.base import Tx


def outdate(
    context: Context,
    tx: Tx,
    before: Memory,
    after: Memory | None,
    *,
    actor: Actor,
    at: datetime,
    run: str | None = None,
) -> tuple[str, ...]:
    """Delete the insights drawn from a memory that is about to become another, and return their ids.

    Another is one of other content or scope, a deleted and an erased one; call it before that is written. The memory
    and what else those insights were drawn from wait for a consolidation again. With an erased memory its insights are
    erased too, deleted ones as well: they repeat its text.
    """
    if before.deleted_at is not None and after is not None:
        return ()
    if after is not None and _says(before) == _says(after):
        return ()
    follow(context, tx, before, after, actor=actor, at=at, run=run)
    insights = list(_insights(context, tx, before, deleted=after is None))
    for insight in insights:
        members = [link.target for link in context.store.links(insight.id) if link.source == insight.id]
        if insight.deleted_at is None:
            tx.readings.unmark_consolidated(memory_ids=members)
        gone = None if after is None else insight.gone(at)
        tx.put(insight, gone, verb=Verb.ERASE if gone is None else Verb.DELETE, actor=actor, at=at, run=run)
    tx.readings.unmark_consolidated(memory_ids=[before.id])
    return tuple(insight.id for insight in insights)


def _says(memory: Memory) -> tuple[object, ...]:
    return memory.content, memory.scope, memory.deleted_at is None


def _insights(context: Context, tx: Tx, memory: Memory, *, deleted: bool) -> Iterator[Memory]:
    for link in context.store.links(memory.id):
        if link.kind is LinkKind.DERIVED_FROM and link.target == memory.id:
            insight = tx.get(link.source)
            if insight and insight.origin is Origin.CONSOLIDATION and (deleted or insight.deleted_at is None):
                yield insight
