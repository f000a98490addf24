"""Which memories may be seen."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from zapomni.model.kinds import About, Kind, Trust
from zapomni.model.memory import Scope


class Filter(Struct, frozen=True, kw_only=True):
    """Which memories may be seen at all; applied inside each leg, before any ranking cut.

    `scopes` empty means every scope. `tags` and `entities` match folded (`text.fold`): any of `tags`,
    all of `all_tags`. `path` matches itself and everything below it. Bounds on time are half-open,
    from `since` to before `until`, over `observed_at` where a memory has one, else `created_at`.
    `as_of` keeps what was valid at that instant; None means now, and `expired=True` lifts the check.
    """

    scopes: tuple[Scope, ...] = ()
    kinds: tuple[Kind, ...] = ()
    about: About | None = None
    tags: tuple[str, ...] = ()
    all_tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    path: str | None = None
    source: str | None = None
    importance_from: float | None = None
    pinned: bool | None = None
    trusts: tuple[Trust, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    expired: bool = False
    deleted: bool = False
