"""The one translation of a `Filter` into SQL: every leg of every reading asks the same question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from zapomni.model import Filter, Trust
from zapomni.record import stamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from zapomni.model import Scope

TIMELINE: Final = "memories m INDEXED BY memories_timeline"
"""What every counting and listing reads. Without statistics the planner takes an index by scope, and then reads
and sorts every row of that scope: twelve times the work at 10,000 memories."""
SEEN: Final = "memories m INDEXED BY memories_seen"
"""What the legs join with by number: the index answers the usual filter, the row itself a fifth slower."""

_FEW: Final = 4

_SUCCESSOR: Final = (
    "EXISTS (SELECT 1 FROM links l JOIN memories n ON n.id = l.source WHERE l.target = m.id"
    " AND l.kind = 'supersedes' AND n.deleted_at IS NULL AND n.trust <> 'rejected'{holding})"
)
_HOLDING: Final = " AND coalesce(n.valid_from, n.created_at) <= {at}"

OF_BRANCH: Final = (
    "{scopes}.kind = 'branch'"
    " AND ({scopes}.name = {name} OR substr({scopes}.name, 1, length({name}) + 1) = {name} || '@')"
)
"""Whether a scope is one of those of a branch."""
_REPLACED: Final = (
    "NOT EXISTS (SELECT 1 FROM branch_bases b JOIN memories c ON c.no = b.memory_no JOIN scopes o ON o.no = c.scope_no"
    " WHERE b.base_id = m.id AND c.deleted_at IS NULL AND {of_branch})"
)
"""Hides what a branch among the scopes has of its own."""

SUCCEEDED: Final = (
    "SELECT m.no FROM memories m INDEXED BY memories_superseded"
    f" WHERE m.trust = 'superseded' AND {_SUCCESSOR.format(holding=_HOLDING.format(at=':at'))}"
)
"""The superseded memories that a reading at `:at` hides."""


class Condition(Struct, frozen=True):
    """A condition on `memories m` and the values of its named parameters."""

    sql: str
    values: dict[str, Any] = field(default_factory=dict)


def condition(where: Filter, now: datetime) -> Condition:
    """Return what a filter lets through, at `now` where it names no `as_of`.

    Where a scope of a branch is among the scopes, what that branch changed or deleted is hidden. Without `trusts`,
    a rejected memory is hidden, and a superseded one while a successor is there: undeleted, not rejected and
    holding at that time. `deleted` and `expired` let more through, they ask for nothing.
    """
    terms = _Terms()
    if not where.deleted:
        terms.add("m.deleted_at IS NULL")
    if where.scopes:
        terms.add(_scoped(terms, where.scopes))
        for branch in sorted({scope.branch for scope in where.scopes if scope.branch}):
            terms.add(_REPLACED.format(of_branch=OF_BRANCH.format(scopes="o", name=terms.bind(branch))))
    at = terms.bind(stamp(where.as_of or now)) if not where.expired else ""
    _add_trust(terms, where, at)
    if at:
        terms.add(f"(m.valid_until IS NULL OR m.valid_until > {at})")
        terms.add(f"(m.valid_from IS NULL OR m.valid_from <= {at})")
    _add_fields(terms, where)
    _add_names(terms, where)
    _add_times(terms, where)
    return Condition(" AND ".join(terms.sql) or "TRUE", terms.values)


class _Terms:
    """Conditions that all must hold, and the values bound in them."""

    def __init__(self) -> None:
        self.sql: list[str] = []
        self.values: dict[str, Any] = {}

    def bind(self, value: Any) -> str:
        name = f"f{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def bind_all(self, values: Iterable[Any]) -> str:
        return ", ".join(self.bind(value) for value in values)

    def add(self, term: str) -> None:
        self.sql.append(term)


def _scoped(terms: _Terms, scopes: Sequence[Scope]) -> str:
    """Return the condition for a few scopes as comparisons, which cost half of looking into a list, or for many."""
    if len(scopes) <= _FEW:
        one = "m.scope_no = (SELECT no FROM scopes WHERE kind = {} AND name = {})"
        return f"({' OR '.join(one.format(terms.bind(s.kind.value), terms.bind(s.name)) for s in scopes)})"
    pairs = ", ".join(f"({terms.bind(s.kind.value)}, {terms.bind(s.name)})" for s in scopes)
    return f"m.scope_no IN (SELECT no FROM scopes WHERE (kind, name) IN (VALUES {pairs}))"


def _add_trust(terms: _Terms, where: Filter, at: str) -> None:
    if where.trusts:
        if set(where.trusts) != set(Trust):
            terms.add(f"m.trust IN ({terms.bind_all(trust.value for trust in where.trusts)})")
        return
    terms.add("m.trust <> 'rejected'")
    successor = _SUCCESSOR.format(holding=_HOLDING.format(at=at) if at else "")
    terms.add(f"NOT (m.trust = 'superseded' AND {successor})")


def _add_fields(terms: _Terms, where: Filter) -> None:
    if where.kinds:
        terms.add(f"m.kind IN ({terms.bind_all(kind.value for kind in where.kinds)})")
    if where.about is not None:
        terms.add(f"m.about = {terms.bind(where.about.value)}")
    if where.path is not None:
        path = terms.bind(where.path)
        # "/" follows "." in every encoding of text, so this range is all that begins with the path and a dot.
        terms.add(f"(m.path = {path} OR (m.path > {path} || '.' AND m.path < {path} || '/'))")
    if where.source is not None:
        terms.add(f"m.source = {terms.bind(where.source)}")
    if where.importance_from is not None:
        terms.add(f"m.importance >= {terms.bind(where.importance_from)}")
    if where.pinned is not None:
        terms.add(f"m.pinned = {terms.bind(int(where.pinned))}")


def _add_names(terms: _Terms, where: Filter) -> None:
    if where.tags:
        terms.add(_named(terms, "tags", where.tags))
    for tag in where.all_tags:
        terms.add(_named(terms, "tags", (tag,)))
    if where.entities:
        terms.add(_named(terms, "entities", where.entities))


def _named(terms: _Terms, table: str, names: Iterable[str]) -> str:
    from zapomni.text.fold import name_key  # its tables cost a hook more than everything else here

    folds = terms.bind_all(name_key(name) for name in names)
    return f"EXISTS (SELECT 1 FROM {table} t WHERE t.memory_no = m.no AND t.fold IN ({folds}))"


def _add_times(terms: _Terms, where: Filter) -> None:
    if where.since is not None:
        terms.add(f"coalesce(m.observed_at, m.created_at) >= {terms.bind(stamp(where.since))}")
    if where.until is not None:
        terms.add(f"coalesce(m.observed_at, m.created_at) < {terms.bind(stamp(where.until))}")
