"""What is remembered, whose it is and who asks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from zapomni.model.kinds import About, Kind, LinkKind, Origin, ScopeKind, Trust


class Scope(Struct, frozen=True, kw_only=True, order=True):
    """Who a memory belongs to; written `user`, `project:NAME`, `agent:NAME` or `team:NAME`.

    Names are compared exactly, letter case included. `name` is empty for `user` alone. What a branch changed of a
    scope lies in a scope of its own, `branch:BRANCH@SCOPE`, and what it deleted in `branch:BRANCH`.
    """

    kind: ScopeKind
    name: str = ""

    def __str__(self) -> str:
        return self.kind.value if self.kind is ScopeKind.USER else f"{self.kind.value}:{self.name}"

    @property
    def branch(self) -> str:
        """The branch whose changes lie here, empty for the scopes of people, projects, agents and teams."""
        return self.name.partition("@")[0] if self.kind is ScopeKind.BRANCH else ""

    @property
    def base(self) -> Scope:
        """The scope that a branch changed here; any other scope is its own."""
        if self.kind is not ScopeKind.BRANCH:
            return self
        kind, _, name = self.name.partition("@")[2].partition(":")
        return Scope(kind=ScopeKind(kind), name=name)

    def on(self, branch: str) -> Scope:
        """Return where a branch keeps what it changes of this scope; the scope itself where `branch` is empty."""
        return Scope(kind=ScopeKind.BRANCH, name=f"{branch}@{self.base}") if branch else self


USER_SCOPE: Final = Scope(kind=ScopeKind.USER)


def deleted_on(branch: str) -> Scope:
    """Return where a branch keeps what it deleted: nobody reads there, and a merge deletes it."""
    return Scope(kind=ScopeKind.BRANCH, name=branch)


class Actor(Struct, frozen=True, kw_only=True):
    """Who asks for a change: a name for the history (`cli`, `mcp:claude-code`) and the origin it stands for."""

    name: str
    origin: Origin = Origin.AGENT


class Link(Struct, frozen=True, kw_only=True):
    """One memory pointing at another; both are ids."""

    source: str
    target: str
    kind: LinkKind


class Memory(Struct, frozen=True, kw_only=True):
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

    def gone(self, at: datetime) -> Memory:
        """Return its next version, in which it is deleted."""
        return replace(self, deleted_at=at, updated_at=at, version=self.version + 1)
