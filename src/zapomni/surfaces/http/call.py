"""One route: what it is, what it takes and gives, and who does it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zapomni.app import Zapomni
    from zapomni.surfaces.http.answers import Answer
    from zapomni.surfaces.http.asked import Asked
    from zapomni.surfaces.http.fields import Schema

BYTES: Final = "application/octet-stream"
JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"


class Call(Struct, frozen=True, kw_only=True):
    """One route.

    `gives` names a schema of `schemas.SCHEMAS`, `statuses` are those of an answer that is no error. `takes` and
    `media_type` are the types of the two bodies; a `body` of None means that none is taken. `thinks` marks what a
    language model does. `is_open` needs no token. `tells` is the event that comes before the answer where a client
    wants events, a schema too.
    """

    method: str
    path: str
    name: str
    title: str
    act: Callable[[Zapomni, Asked], Answer]
    gives: str
    says: str = ""
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Mapping[str, Schema] | None = None
    required: tuple[str, ...] = ()
    statuses: tuple[int, ...] = (200,)
    takes: str = JSON
    media_type: str = JSON
    writes: bool = False
    thinks: bool = False
    is_open: bool = False
    tells: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


def of(fields: Mapping[str, Schema], *names: str) -> dict[str, Schema]:
    """Return some of these fields."""
    return {name: fields[name] for name in names}
