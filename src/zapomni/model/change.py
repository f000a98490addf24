"""What a write does and leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from zapomni.model.kinds import Status, Verb
from zapomni.model.memory import Memory, Scope


class Revision(Struct, frozen=True, kw_only=True):
    """One entry of the append-only history.

    `before` and `after` are whole records as plain JSON values (`exchange` form); both are None after
    an erasure. `undoes` names the revision that this one takes back.
    """

    seq: int
    memory_id: str
    verb: Verb
    at: datetime
    actor: str
    run: str | None = None
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    undoes: int | None = None


class Run(Struct, frozen=True, kw_only=True):
    """One batch of changes (an import, a consolidation): the unit of undo."""

    id: str
    verb: str
    actor: str
    started_at: datetime
    finished_at: datetime | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


class Rejection(Struct, frozen=True, kw_only=True):
    """A value that a person refused; every write path consults it and it never expires."""

    scope: Scope
    digest: str
    reason: str
    at: datetime
    actor: str


class Redaction(Struct, frozen=True, kw_only=True):
    """One secret that was cut out before storing: the rule that knew it and the field it stood in."""

    rule: str
    field: str


class Outcome(Struct, frozen=True, kw_only=True):
    """What a write came to, as a new process would read it back.

    `memory` is the record as stored (the existing one for `duplicate`), None for `refused` and `erased`.
    `similar` holds near duplicates of the same scope, `notes` tell what else was done as meant. `waiting` is true while
    its vector is to come.
    """

    status: Status
    id: str
    memory: Memory | None = None
    similar: tuple[Memory, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    waiting: bool = False
