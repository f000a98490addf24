"""The tools at work by which an agent concludes in the place of a model: it takes a batch and gives insights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import InvalidInput
from zapomni.model import Status
from zapomni.services.parse import parse_scopes, parse_texts
from zapomni.services.scopes import EVERY
from zapomni.surfaces.mcp.answers import Answer, fitted, plain
from zapomni.surfaces.reading_shapes import handout_shape, saved_shape

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
_FORM: Final = "Each is an object of from, to (ids of members) and how (a few words)"


def _next(app: Zapomni, given: Given, actor: Actor) -> Answer:
    from zapomni.services.reading.consolidate import (
        INSTRUCTIONS,  # not before a batch is asked for: a server starts fast
    )

    handed = app.reading.next_batch(scopes=parse_scopes(given.take("scope")), actor=actor)
    if handed is None:
        return plain({**handout_shape(None), "reason": "nothing waits: it takes two memories of one scope"})
    return fitted(lambda preview: {"instructions": INSTRUCTIONS + _HOW, **handout_shape(handed, preview=preview)})


def _save(app: Zapomni, given: Given, actor: Actor) -> Answer:
    take = given.take
    saved = app.reading.save_insight(
        take("batch"),
        str(take("statement") or ""),
        parse_texts("members", take("members")),
        title=str(take("title") or ""),
        connections=_connections(take("connections")),
        reason=str(take("reason") or ""),
        scopes=parse_scopes(take("scope")) or (EVERY,),
        actor=actor,
    )
    return plain(saved_shape(saved), failed=any(one.status is Status.REFUSED for one in saved.outcomes))


def _connections(value: Any) -> Sequence[Connection]:
    """Read how members bear on one another; raises `InvalidInput` for what is no such list."""
    from zapomni.services.reading.insight import Connection

    rows = value if isinstance(value, list) else [] if value is None else [value]
    read = []
    for row in rows:
        ends = [row.get(name) for name in ("from", "to", "how")] if isinstance(row, Mapping) else []
        if not ends or not all(isinstance(end, str) and end.strip() for end in ends):
            raise InvalidInput("connections", "one of them cannot be read", remedy=_FORM)
        read.append(Connection(*(str(end).strip() for end in ends)))
    return read


BATCH_CALLS: Final[Mapping[str, Callable[[Zapomni, Given, Actor], Answer]]] = {
    "next_batch": _next,
    "save_insight": _save,
}
