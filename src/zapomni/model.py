"""The nouns: every value that zapomni stores, asks for or answers with.

Frozen, slotted, keyword-only dataclasses and closed enums. Nothing here reads, writes or knows a clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping
    from datetime import datetime

    Vector = array[float]
    """A unit vector of 32-bit floats (`array("f")`): a buffer that numpy and SQLite take without a copy."""

CONTENT_LIMIT: Final = 100_000
"""Most characters of one memory's content (features ST-17)."""
QUERY_LIMIT: Final = 10_000
"""Most characters of one query (features ST-17)."""
TITLE_LIMIT: Final = 200
DESCRIPTION_LIMIT: Final = 1_000
NAME_LIMIT: Final = 200
"""Most characters of a tag, an entity, a scope name, a path or a source."""
LIST_LIMIT: Final = 100
"""Most tags or entities of one memory."""
METADATA_LIMIT: Final = 20_000
"""Most characters of metadata, counted as compact JSON."""
PAGE_LIMIT: Final = 1_000
"""Most memories of one page."""
RECALL_LIMIT: Final = 100
"""Most hits of one recall."""


class Kind(StrEnum):
    """What sort of thing a memory is (article A)."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    WORKING = "working"


class About(StrEnum):
    """Whom or what a memory speaks of (article B)."""

    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"


class Trust(StrEnum):
    """How far a memory is believed; set by the write path, never by the payload."""

    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    DISPUTED = "disputed"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"


class Origin(StrEnum):
    """Who wrote a memory."""

    USER = "user"
    AGENT = "agent"
    CONSOLIDATION = "consolidation"
    IMPORT = "import"
    FILE = "file"
    SESSION = "session"


class LinkKind(StrEnum):
    """How one memory points at another."""

    DERIVED_FROM = "derived_from"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    RELATES = "relates"
    MENTIONS = "mentions"


class ScopeKind(StrEnum):
    """The four sorts of owner."""

    USER = "user"
    PROJECT = "project"
    AGENT = "agent"
    TEAM = "team"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Scope:
    """Who a memory belongs to; written `user`, `project:NAME`, `agent:NAME` or `team:NAME`.

    Names are compared exactly, letter case included. `name` is empty for `user` alone.
    """

    kind: ScopeKind
    name: str = ""

    def __str__(self) -> str:
        return self.kind.value if self.kind is ScopeKind.USER else f"{self.kind.value}:{self.name}"


USER_SCOPE: Final = Scope(kind=ScopeKind.USER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who asks for a change: a name for the history (`cli`, `mcp:claude-code`) and the origin it stands for."""

    name: str
    origin: Origin = Origin.AGENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One memory pointing at another; both are ids."""

    source: str
    target: str
    kind: LinkKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One fact, event, procedure or working note.

    `content` is verbatim. Times are aware datetimes in UTC. `position` is the place inside an ordered
    `source` (a turn of a conversation), so that neighbours can be found. `key` is the caller's idempotency
    key, unique within the scope. `version` starts at 1 and grows by one with each change.
    """

    id: str
    kind: Kind
    scope: Scope
    content: str
    title: str = ""
    description: str = ""
    about: About | None = None
    path: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    importance: float = 0.5
    pinned: bool = False
    trust: Trust = Trust.CONFIRMED
    origin: Origin = Origin.AGENT
    source: str | None = None
    position: int | None = None
    key: str | None = None
    observed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime
    updated_at: datetime
    accessed_at: datetime | None = None
    access_count: int = 0
    deleted_at: datetime | None = None
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
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


class Verb(StrEnum):
    """What one revision did."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    RESTORE = "restore"
    ERASE = "erase"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One batch of changes (an import, a consolidation): the unit of undo."""

    id: str
    verb: str
    actor: str
    started_at: datetime
    finished_at: datetime | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A value that a person refused; every write path consults it and it never expires."""

    scope: Scope
    digest: str
    reason: str
    at: datetime
    actor: str


class SpaceState(StrEnum):
    """Where an embedding generation stands."""

    BUILDING = "building"
    ACTIVE = "active"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """One embedding generation; vectors of two spaces are never compared.

    `no` is the store's number of the space. `preparation` counts versions of how text is cut and prefixed.
    `mean` is the centre subtracted from both vectors before the cosine; empty means none.
    """

    no: int
    provider: str
    model: str
    dimension: int
    preparation: int
    state: SpaceState
    mean: tuple[float, ...] = ()

    @property
    def label(self) -> str:
        """The space as people read it."""
        return f"{self.provider}:{self.model} ({self.dimension}d)"


class Mode(StrEnum):
    """How a recall looks for its answer."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked: text of at most `QUERY_LIMIT` characters, who may be seen, how many, by which mode.

    `budget` is in tokens, None for no packing. `strict` turns a missing vector leg into an error.
    """

    text: str
    where: Filter = field(default_factory=Filter)
    limit: int = 10
    mode: Mode = Mode.HYBRID
    strict: bool = False
    budget: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a hit's score: its name, its value and a sentence on where it comes from."""

    name: str
    value: float
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that was found, its score (finite, higher is better) and every part of that score."""

    memory: Memory
    score: float
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """The answer to a query.

    `mode` is the mode that really answered and `reason` says why it is not the one asked for.
    `waiting` counts memories whose vector is still to come. `left_out` names hits that the budget
    had no room for.
    """

    hits: tuple[Hit, ...]
    mode: Mode
    scopes: tuple[Scope, ...]
    reason: str | None = None
    waiting: int = 0
    left_out: tuple[str, ...] = ()


class Status(StrEnum):
    """What a write came to."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    DUPLICATE = "duplicate"
    DELETED = "deleted"
    ERASED = "erased"
    CONFLICT = "conflict"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """One secret that was cut out before storing: the rule that knew it and the field it stood in."""

    rule: str
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a write came to, as a new process would read it back.

    `memory` is the record as stored (the existing one for `duplicate`), None for `refused` and `erased`.
    `similar` holds near duplicates of the same scope. `waiting` is true while its vector is to come.
    """

    status: Status
    id: str
    memory: Memory | None = None
    similar: tuple[Memory, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    warnings: tuple[str, ...] = ()
    waiting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing: the total of all pages and the cursor of the next one, None at the end."""

    memories: tuple[Memory, ...]
    total: int
    next: str | None = None
