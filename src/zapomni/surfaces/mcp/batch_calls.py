"""The tools at work by which an agent does the work of a model: it takes a batch and gives insights or facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import InvalidInput
from zapomni.model import NAME_LIMIT, Status
from zapomni.services.parse import parse_scopes, parse_texts
from zapomni.services.scopes import EVERY
from zapomni.surfaces.mcp.answers import Answer, fitted, plain, quoted
from zapomni.surfaces.reading_shapes import handout_shape, saved_shape, text_read_shape
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.app import Zapomni
    from zapomni.model import Actor
    from zapomni.services.reading.insight import Connection
    from zapomni.surfaces.mcp.arguments import Given

_HOW: Final = """\
Give each insight by save_insight with this batch, its statement, its members (ids) and its connections. At the end, or
where nothing follows, call it once more with this batch and a reason and without a statement: the batch is then done.
"""
_HOW_TO_READ: Final = """
Give the facts by save_insight with this batch: facts is a list of objects of content, kind, title, description,
entities, topics, importance, observed_at, valid_from, valid_until, quote; only content must be there. Where nothing in
the text is worth it, give a reason instead. Dates count from the date of the text, not from today.
"""
_FORM: Final = "Each is an object of from, to (ids of members) and how (a few words)"


def _next(app: Zapomni, given: Given, actor: Actor) -> Answer:
    work = str(given.take("work") or _CONSOLIDATE)
    if work not in _WORKS:
        raise InvalidInput("work", f"{cut(work, NAME_LIMIT)!r} is no work", remedy=f"Give {' or '.join(_WORKS)}")
    return _WORKS[work](app, parse_scopes(given.take("scope")), actor)


def _next_memories(app: Zapomni, scopes: Sequence[str], actor: Actor) -> Answer:
    from zapomni.services.reading.consolidate import (
        INSTRUCTIONS,  # not before a batch is asked for: a server starts fast
    )

    handed = app.reading.next_batch(scopes=scopes, actor=actor)
    if handed is None:
        return plain({**handout_shape(None), "reason": "nothing waits: it takes two memories of one scope"})
    return fitted(lambda preview: {"instructions": INSTRUCTIONS + _HOW, **handout_shape(handed, preview=preview)})


def _next_text(app: Zapomni, scopes: Sequence[str], actor: Actor) -> Answer:
    from zapomni.services.reading.facts import INSTRUCTIONS

    handed = app.reading.next_text(scopes=scopes, actor=actor)
    if handed is None:
        return plain({**handout_shape(None), "reason": "no text waits to be read"})
    return quoted({"instructions": INSTRUCTIONS + _HOW_TO_READ, **handout_shape(handed, preview=None)})


def _save(app: Zapomni, given: Given, actor: Actor) -> Answer:
    take = given.take
    batch, facts = take("batch"), take("facts")
    reason, scopes = str(take("reason") or ""), parse_scopes(take("scope")) or (EVERY,)
    if facts is not None or app.reading.is_text(batch):
        rows = _objects("facts", facts, "Each is an object with a content")
        return plain(text_read_shape(app.reading.save_facts(batch, rows, reason=reason, scopes=scopes, actor=actor)))
    saved = app.reading.save_insight(
        batch,
        str(take("statement") or ""),
        parse_texts("members", take("members")),
        title=str(take("title") or ""),
        connections=_connections(take("connections")),
        reason=reason,
        scopes=scopes,
        actor=actor,
    )
    return plain(saved_shape(saved), failed=any(one.status is Status.REFUSED for one in saved.outcomes))


def _objects(name: str, value: Any, form: str) -> list[Mapping[str, Any]]:
    """Return a list of objects, also of one that was given alone; raises `InvalidInput` for anything else."""
    rows = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(row, Mapping) for row in rows):
        raise InvalidInput(name, "one of them cannot be read", remedy=form)
    return rows


def _connections(value: Any) -> Sequence[Connection]:
    """Read how members bear on one another; raises `InvalidInput` for what is no such list."""
    from zapomni.services.reading.insight import Connection

    read = []
    for row in _objects("connections", value, _FORM):
        ends = [row.get(name) for name in ("from", "to", "how")]
        if not all(isinstance(end, str) and end.strip() for end in ends):
            raise InvalidInput("connections", "one of them cannot be read", remedy=_FORM)
        read.append(Connection(*(str(end).strip() for end in ends)))
    return read


_CONSOLIDATE: Final = "consolidate"
_WORKS: Final = {_CONSOLIDATE: _next_memories, "enrich": _next_text}
"""What a batch may be for."""
BATCH_CALLS: Final[Mapping[str, Callable[[Zapomni, Given, Actor], Answer]]] = {
    "next_batch": _next,
    "save_insight": _save,
}
