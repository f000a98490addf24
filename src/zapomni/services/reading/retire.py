"""Retiring: memories that ingest made and that their text no longer says, with the insights that cite them.

Only what ingest made is touched, and only while nobody else has changed it: what a person edited stays, and is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.model import Actor, Verb
from zapomni.record import from_record
from zapomni.services.outdate import outdate
from zapomni.text.fold import digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zapomni.model import Memory
    from zapomni.services.context import Context
    from zapomni.store.base import Tx
    from zapomni.store.readings import Reading

INGEST: Final = "ingest"
"""How every name in the history begins that ingest wrote under, before a colon and whoever asked for it."""


class Standing(NamedTuple):
    """What stands in some readings: memories that are ours to replace, and those that somebody edited since.

    `edited` gives each edited one by the digest of what ingest had written.
    """

    ours: tuple[Memory, ...]
    edited: dict[bytes, Memory]


def ingest_actor(asked_by: Actor) -> Actor:
    """Return under which name ingest writes for somebody; its origin stays that of who asked."""
    return Actor(name=f"{INGEST}:{asked_by.name}", origin=asked_by.origin)


def is_ingest(name: str) -> bool:
    """Tell whether ingest wrote under this name."""
    return name.startswith(f"{INGEST}:")


def standing_of(context: Context, tx: Tx, readings: Iterable[Reading]) -> Standing:
    """Return what ingest made of some readings and nothing else says too; memories of other makers are left out."""
    going = {reading.id for reading in readings}
    ids = dict.fromkeys(one for reading_id in going for one in context.store.readings.memories_of(reading_id))
    ours: list[Memory] = []
    edited: dict[bytes, Memory] = {}
    for memory_id in ids:
        memory, history = tx.get(memory_id), context.store.history(memory_id)
        if memory is None or not is_ingest(history[0].actor):
            continue
        if not is_ingest(history[-1].actor):
            edited[_written(memory, history[0].after)] = memory
        elif all(span.reading_id in going for span in context.store.readings.spans(memory_id)):
            ours.append(memory)
    return Standing(tuple(ours), edited)


def retire(context: Context, tx: Tx, memories: Iterable[Memory], *, actor: Actor, run: str) -> tuple[str, ...]:
    """Delete memories with the insights that were drawn from them, and return the ids of those insights.

    What else such an insight was drawn from waits for the next consolidation. Undoing the run brings all back.
    """
    insights: list[str] = []
    for memory in memories:
        now = context.clock()
        after = memory.gone(now)
        insights += outdate(context, tx, memory, after, actor=actor, at=now, run=run)
        tx.put(memory, after, verb=Verb.DELETE, actor=actor, at=now, run=run)
    return tuple(insights)


def _written(memory: Memory, record: object) -> bytes:
    """Return the digest of what ingest wrote; an import may have brought a history without it."""
    return digest(from_record(record).content if isinstance(record, dict) else memory.content)
