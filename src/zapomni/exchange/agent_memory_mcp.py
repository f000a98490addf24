"""The export of ipiton/agent-memory-mcp: a bare JSON array of memories, sorted by `created_at`.

Its `context` is a project, its `superseded_by` and `replaces` are `supersedes` links. What only it knows
(`sediment_layer`, `targeted_access_count`) waits in the metadata and goes back into its place.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import InvalidInput
from zapomni.exchange.entries import Dropped, Exported, Format, Item, Note, Problem, Tie
from zapomni.exchange.plain import UNREADABLE, text_of, times_of, why
from zapomni.model import NAME_LIMIT, Kind, LinkKind, Memory, Origin, Scope, ScopeKind, Trust
from zapomni.record import parse_scope, stamp
from zapomni.services.parse import given, parse_draft, parse_whole
from zapomni.text.clean import cut, is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from zapomni.exchange.entries import Entry, Lines, Reading
    from zapomni.exchange.exporting import Snapshot, Write

_DRAFT: Final = ("content", "title", "tags", "importance", "observed_at", "valid_from", "valid_until")
_LIFE: Final = ("created_at", "updated_at", "accessed_at")
_ASIDE: Final = ("sediment_layer", "targeted_access_count")
"""Fields that are kept in the metadata under their own names."""
_TIES: Final = ("superseded_by", "replaces")
_KNOWN: Final = {*_DRAFT, *_LIFE, *_ASIDE, *_TIES, "id", "type", "context", "metadata", "access_count"}
_NO_PLACE: Final = ("description", "about", "path", "entities", "pinned", "source", "position", "key")
_NEVER: Final = "0001-01-01"  # how Go writes a time that is not set
_ID_LIMIT: Final = 64
_MOST: Final = 2**53


def read(lines: Lines, reading: Reading) -> Iterator[Entry]:
    """Read each item; one that cannot be kept is named by its id."""
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        values = {name: value for name, value in given(line.value).items() if not _is_never(value)}
        try:
            scope = _scope(values.get("context"), reading)
            item = _item(line.no, values, reading, scope)
            ties = list(_ties(line.no, item.ref, values))
        except UNREADABLE as error:
            own_id = values.get("id")
            yield Problem(line=line.no, reason=f"item {own_id if isinstance(own_id, str) else '?'}: {why(error)}")
            continue
        yield item
        if "context" in values and scope.name not in values["context"]:
            yield Note(line=line.no, text=f"the context cannot be the name of a scope and was read as {scope}")
        yield from ties
        for name in values.keys() - _KNOWN:
            yield Dropped(name=name)


def _is_never(value: object) -> bool:
    return isinstance(value, str) and value.startswith(_NEVER)


def _item(no: int, values: Mapping[str, Any], reading: Reading, scope: Scope) -> Item:
    own_id = text_of("id", values["id"]) if "id" in values else ""
    if len(own_id) > _ID_LIMIT or not own_id.isprintable() or " " in own_id:
        raise InvalidInput("id", f"it is longer than {_ID_LIMIT} characters or holds spaces")
    fields = {name: values[name] for name in _DRAFT if name in values}
    fields |= {"kind": values.get("type", Kind.SEMANTIC.value), "metadata": _metadata(values)}
    draft = parse_draft(fields, zone=reading.zone, scope=scope)
    carried: dict[str, Any] = times_of(values, _LIFE, reading)
    carried["access_count"] = parse_whole("access_count", values.get("access_count"), 0, low=0, high=_MOST)
    if own_id:
        carried["id"] = own_id
    if "superseded_by" in values:
        carried["trust"] = Trust.SUPERSEDED
    return Item(line=no, draft=draft, ref=own_id, carried=carried)


def _metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    kept = values.get("metadata", {})
    if not isinstance(kept, dict):
        raise InvalidInput("metadata", "it must be an object of names and values")
    return {**kept, **{name: values[name] for name in _ASIDE if name in values}}


def _scope(context: object, reading: Reading) -> Scope:
    """Return the scope of a context: one of ours where it is written so, else the project of that name.

    A text that cannot be a name becomes the nearest that can: one line without what nobody sees, not too long.
    """
    if context is None:
        return reading.scope
    text = text_of("context", context)
    line = "".join(char for char in " ".join(text.split()) if char.isprintable()).strip()
    if is_blank(line):
        raise InvalidInput("context", "it shows nothing", remedy="Name a project")
    for full in (text, line):
        with suppress(InvalidInput):
            return parse_scope(full)
    return Scope(kind=ScopeKind.PROJECT, name=cut(line, NAME_LIMIT))


def _ties(no: int, ref: str, values: Mapping[str, Any]) -> Iterator[Tie]:
    for name in _TIES:
        if name in values:
            other = text_of(name, values[name])
            source, target = (other, ref) if name == "superseded_by" else (ref, other)
            yield Tie(line=no, source=source, target=target, kind=LinkKind.SUPERSEDES)


def write(snapshot: Snapshot, out: Write, *, exported_at: str, history: bool) -> Exported:  # noqa: ARG001 - one call for all formats
    """Write every undeleted memory; the whole array is in memory once, as it is for each of its readers."""
    losses = {"history": None} if history else {}
    if snapshot.counts()["rejection"]:
        losses["rejections"] = None
    if any(snapshot.scopes().values()):
        losses["repositories of scopes"] = None
    older, newer = _successions(snapshot.links(), losses)
    items: list[tuple[str, str, bytes]] = []
    for memory in snapshot.memories():
        if memory.deleted_at is not None:
            losses["deleted memories"] = None
            continue
        shape = _shape(memory, losses)
        shape |= {"superseded_by": newer.get(memory.id), "replaces": older.get(memory.id)}
        kept = {name: value for name, value in shape.items() if value not in (None, "", [], {})}
        items.append((stamp(memory.created_at), memory.id, json.dumps(kept, ensure_ascii=False).encode()))
    items.sort()
    out(b"[" + b",".join(b"\n  " + text for _, _, text in items) + b"\n]\n")
    return Exported(
        format=Format.AGENT_MEMORY_MCP, memories=len(items), links=len(older), not_carried=tuple(sorted(losses))
    )


def _successions(links: Iterable[Any], losses: dict[str, None]) -> tuple[dict[str, str], dict[str, str]]:
    """Return for each id the one it replaces and the one that replaces it; it has room for one of each."""
    older: dict[str, str] = {}
    newer: dict[str, str] = {}
    for link in links:
        if link.kind is LinkKind.SUPERSEDES and link.source not in older and link.target not in newer:
            older[link.source], newer[link.target] = link.target, link.source
        else:
            losses[f"links ({link.kind.value})"] = None
    return older, newer


def _shape(memory: Memory, losses: dict[str, None]) -> dict[str, Any]:
    for name in _NO_PLACE:
        if getattr(memory, name) not in (None, "", (), False):
            losses[name] = None
    if memory.trust not in {Trust.CONFIRMED, Trust.SUPERSEDED}:
        losses["trust"] = None
    if memory.origin is not Origin.IMPORT:
        losses["origin"] = None
    if memory.version > 1:
        losses["version"] = None
    aside = {name: memory.metadata[name] for name in _ASIDE if name in memory.metadata}
    return {
        "id": memory.id,
        "content": memory.content,
        "type": memory.kind.value,
        "title": memory.title,
        "tags": list(memory.tags),
        "context": _context(memory.scope),
        "importance": memory.importance,
        "metadata": {name: _flat(value, losses) for name, value in memory.metadata.items() if name not in aside},
        **{name: _time(memory, name) for name in (*_LIFE, "observed_at", "valid_from", "valid_until")},
        "accessed_at": stamp(memory.accessed_at or memory.updated_at),
        "access_count": memory.access_count,
        "targeted_access_count": 0,
        **aside,
    }


def _context(scope: Scope) -> str:
    """Return the name of a project; other scopes, and a project named like one, in their full form."""
    if scope.kind is not ScopeKind.PROJECT:
        return str(scope)
    try:
        parse_scope(scope.name)
    except InvalidInput:
        return scope.name
    return str(scope)


def _flat(value: object, losses: dict[str, None]) -> str:
    """Return a value of the metadata as the text that the format asks for."""
    if isinstance(value, str):
        return value
    losses["types of metadata values"] = None
    return json.dumps(value, ensure_ascii=False)


def _time(memory: Memory, name: str) -> str | None:
    at = getattr(memory, name)
    return stamp(at) if at is not None else None
