"""What a caller wants stored or changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct, field

from zapomni.model.kinds import About, Kind
from zapomni.model.memory import Scope


class Draft(Struct, frozen=True, kw_only=True):
    """What a caller wants remembered, before the write gateway has looked at it.

    Every field but `content` is optional; `scope=None` means the default scope of the caller's place.
    """

    content: str
    kind: Kind = Kind.SEMANTIC
    scope: Scope | None = None
    title: str = ""
    description: str = ""
    about: About | None = None
    path: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    importance: float = 0.5
    pinned: bool = False
    source: str | None = None
    position: int | None = None
    key: str | None = None
    observed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Unset(StrEnum):
    """Marks a field that a patch leaves alone."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


class Patch(Struct, frozen=True, kw_only=True):
    """A change to some fields of a memory; `UNSET` leaves a field as it is, `None` or empty clears it.

    `metadata` is merged: a null or empty string removes its key (features WR-1).
    """

    content: str | Unset = UNSET
    kind: Kind | Unset = UNSET
    scope: Scope | Unset = UNSET
    title: str | Unset = UNSET
    description: str | Unset = UNSET
    about: About | Unset | None = UNSET
    path: str | Unset | None = UNSET
    tags: tuple[str, ...] | Unset = UNSET
    entities: tuple[str, ...] | Unset = UNSET
    importance: float | Unset = UNSET
    pinned: bool | Unset = UNSET
    source: str | Unset | None = UNSET
    observed_at: datetime | Unset | None = UNSET
    valid_from: datetime | Unset | None = UNSET
    valid_until: datetime | Unset | None = UNSET
    metadata: Mapping[str, Any] | Unset = UNSET
