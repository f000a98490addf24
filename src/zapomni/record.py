"""A memory as plain JSON values and back: the one form for history, export and every `--json`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import InvalidInput
from zapomni.model import NAME_LIMIT, About, Kind, Memory, Origin, Scope, ScopeKind, Trust

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS: Final = Memory.__struct_fields__
_OWNERS: Final = {kind.value for kind in ScopeKind} - {ScopeKind.USER.value, ScopeKind.BRANCH.value}
TIMES: Final = ("observed_at", "valid_from", "valid_until", "created_at", "updated_at", "accessed_at", "deleted_at")


def parse_scope(text: str) -> Scope:
    """Read a scope written `user`, `project:NAME`, `agent:NAME` or `team:NAME`.

    Raises `InvalidInput` for any other form; a bare name is answered with the full form it may have meant.
    """
    head, colon, name = str(text).strip().partition(":")
    name = name.strip()
    if len(name) > NAME_LIMIT or not name.isprintable():
        raise InvalidInput("scope", f"a name is one line of at most {NAME_LIMIT} printable characters")
    if head == ScopeKind.USER.value and not colon:
        return Scope(kind=ScopeKind.USER)
    if colon and name and head in _OWNERS:
        return Scope(kind=ScopeKind(head), name=name)
    if colon and head == ScopeKind.BRANCH.value:
        raise InvalidInput("scope", f"{text!r} belongs to a branch", remedy="Name the scope, and the branch beside it")
    hint = f"Did you mean project:{head}?" if head and not colon else ""
    raise InvalidInput("scope", f"{text!r} is not user, project:NAME, agent:NAME or team:NAME", remedy=hint)


def read_scope(text: str) -> Scope:
    """Read a scope as a record has it, those of branches too.

    Raises what `parse_scope` raises.
    """
    head, _, name = str(text).partition(":")
    return Scope(kind=ScopeKind.BRANCH, name=name) if head == ScopeKind.BRANCH.value else parse_scope(text)


def stamp(at: datetime) -> str:
    """Write an aware time as UTC with microseconds, so that text order is time order."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_stamp(text: str) -> datetime:
    """Read what `stamp` wrote."""
    return datetime.fromisoformat(text)


def to_record(memory: Memory) -> dict[str, Any]:
    """Return every field of a memory as JSON values: enums and scope as text, times by `stamp`."""
    record: dict[str, Any] = {name: getattr(memory, name) for name in FIELDS}
    record["scope"] = str(memory.scope)
    for name in ("kind", "trust", "origin"):
        record[name] = record[name].value
    record["about"] = memory.about.value if memory.about else None
    record["tags"], record["entities"] = list(memory.tags), list(memory.entities)
    record["metadata"] = dict(memory.metadata)
    for name in TIMES:
        record[name] = stamp(record[name]) if record[name] is not None else None
    return record


def from_record(record: Mapping[str, Any]) -> Memory:
    """Read what `to_record` wrote; the record is trusted to be whole.

    Raises `KeyError`, `TypeError` or `ValueError` for a record that this package did not write.
    """
    values = {name: record[name] for name in FIELDS if name in record}
    values["scope"] = read_scope(values["scope"])
    values["kind"], values["trust"], values["origin"] = (
        Kind(values["kind"]),
        Trust(values["trust"]),
        Origin(values["origin"]),
    )
    values["about"] = About(values["about"]) if values.get("about") else None
    values["tags"], values["entities"] = tuple(values.get("tags", ())), tuple(values.get("entities", ()))
    for name in TIMES:
        if values.get(name) is not None:
            values[name] = read_stamp(values[name])
    return Memory(**values)
