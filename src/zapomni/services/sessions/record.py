"""The one record of a session: what it came to, by sort. It repeats its facts, and follows them when they change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zapomni.model import Memory, Origin, Verb
from zapomni.services.find import everything_in
from zapomni.store.sessions import AWAY
from zapomni.text.clean import preview
from zapomni.text.fold import digest
from zapomni.text.words import similar_words

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence
    from datetime import datetime

    from zapomni.model import Actor
    from zapomni.services.context import Context
    from zapomni.store.base import Tx

RECORD: Final = "session"
"""The tag of the one record of a session; its facts carry their sort."""
IMPORTANCE: Final = 0.3
"""Below that of every fact: who asks for one of them is given it before what repeats them all."""
_HEADINGS: Final = {
    "decided": ("Decided", "Решено"),
    "rule": ("Rules", "Правила"),
    "found": ("Found", "Выяснено"),
    "failed": ("Tried in vain", "Не вышло"),
    "open": ("Left open", "Осталось"),
}
"""By the tag of a fact, which is a `cues.Sort`: every write comes by here, and the cues take milliseconds to load."""
_TITLE: Final = ("Session", "Сессия")
_TOPIC: Final = 80
_TOLD: Final = 160
_LISTED: Final = 8
"""Facts of one sort that a record names; the others are memories of their own as well."""
_TELLS: Final = 0.5
"""Share of a title's words in a text from which the title gives that text away."""


def is_record(memory: Memory) -> bool:
    """Tell whether a memory is the record of a session."""
    return memory.origin is Origin.SESSION and RECORD in memory.tags


def record_title(topic: str, session: str, gone: Iterable[str] = ()) -> str:
    """Return the title of a record: what the session was about, or its id where that repeats a text that is gone."""
    from zapomni.text.language import is_russian

    heading = _TITLE[is_russian(topic)]
    words = similar_words(preview(topic, _TOPIC))
    told = any(len(words & similar_words(text)) >= _TELLS * len(words) for text in gone)
    return f"{heading}: {session if told or not words else preview(topic, _TOPIC)}"


def record_content(facts: Iterable[Memory]) -> str:
    """Return what a record says of its facts, in the language of most of what they say."""
    from zapomni.text.cues import unlabelled
    from zapomni.text.language import is_russian

    by_sort: dict[str, list[str]] = {}
    for memory in facts:
        for tag in memory.tags:
            by_sort.setdefault(tag, []).append(f"- {preview(unlabelled(memory.content), _TOLD)}")
    language = is_russian("\n".join(line for lines in by_sort.values() for line in lines))
    return "\n".join(
        "\n".join((f"{heading[language]}:", *by_sort[sort][-_LISTED:]))
        for sort, heading in _HEADINGS.items()
        if sort in by_sort
    )


def keep_away(context: Context, erased: Iterable[Memory]) -> None:
    """Keep erased texts from being captured again: their transcripts hold them still, and the next hook reads those."""
    for memory in erased:
        if memory.origin is Origin.SESSION and memory.source is not None:
            context.store.sessions.mark(memory.source, [_away(memory.content)], context.clock())


def is_kept_away(text: str, marks: Container[str]) -> bool:
    """Tell by the marks of its source whether a text was erased."""
    return _away(text) in marks


def _away(text: str) -> str:
    return f"{AWAY}{digest(text).hex()}"


def follow(
    context: Context, tx: Tx, before: Memory, after: Memory | None, *, actor: Actor, at: datetime, run: str | None
) -> None:
    """Bring the record of the session in which a memory was captured to what becomes of that; None erases it.

    Call it before that is written. With an erased text its record is erased too, whose history repeats it, and another
    takes its place.
    """
    if before.origin is not Origin.SESSION or before.source is None or is_record(before):
        return
    record = tx.find_key(before.scope, before.source)
    if record is None or not is_record(record):
        return
    facts = _facts(context, before, after)
    title = record_title(record.title.partition(": ")[2], str(record.metadata.get("session", "")), [before.content])
    own = replace(record, content=record_content(facts), updated_at=at, version=record.version + 1)
    if not facts:
        own = record.gone(at)
    if after is None:
        tx.put(record, None, verb=Verb.ERASE, actor=actor, at=at, run=run)
        if facts and record.deleted_at is None:
            fresh = replace(own, id=context.new_id(), title=title, created_at=at, version=1)
            tx.put(None, fresh, verb=Verb.CREATE, actor=actor, at=at, run=run)
    elif record.deleted_at is None and (own.content, title) != (record.content, record.title):
        verb = Verb.UPDATE if facts else Verb.DELETE
        tx.put(record, replace(own, title=title), verb=verb, actor=actor, at=at, run=run)


def _facts(context: Context, before: Memory, after: Memory | None) -> Sequence[Memory]:
    held = context.store.sessions.of_source(before.source or "", everything_in((before.scope,)))
    now = [after if memory.id == before.id else memory for memory in held]
    return [memory for memory in now if memory is not None and memory.deleted_at is None and not is_record(memory)]
