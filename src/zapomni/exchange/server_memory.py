"""The JSON Lines of the MCP reference server `memory`: entities with observations, and relations; read only.

Each observation becomes one memory that names its entity, for a fact without its subject says nothing. A
relation becomes a memory that states it, tied to the first memory of both entities; these are tied too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.errors import InvalidInput
from zapomni.exchange.entries import Dropped, Item, Line, Note, Problem, Tie
from zapomni.exchange.plain import UNREADABLE, text_of, why
from zapomni.model import Draft, LinkKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zapomni.exchange.entries import Entry, Lines, Reading

_NAMES: Final = ("name", "entityName")
"""Some writers call the name of an entity `entityName`."""
_ENTITY: Final = {*_NAMES, "type", "entityType", "observations"}
_RELATION: Final = {"type", "from", "to", "relationType"}


def read(lines: Lines, reading: Reading) -> Iterator[Entry]:
    """Read entities and relations in any order; an object of another type is a problem of its line."""
    for line in lines:
        if isinstance(line, Problem):
            yield line
            continue
        try:
            entries = list(_entries(line, reading))
        except UNREADABLE as error:
            yield Problem(line=line.no, reason=why(error))
            continue
        yield from entries


def _entries(line: Line, reading: Reading) -> Iterator[Entry]:
    match line.value.get("type"):
        case "entity":
            yield from _entity(line, reading)
            known = _ENTITY
        case "relation":
            yield from _relation(line, reading)
            known = _RELATION
        case other:
            raise InvalidInput("type", f"{other!r} is not entity or relation")
    for name in line.value.keys() - known:
        yield Dropped(name=name)


def _entity(line: Line, reading: Reading) -> Iterator[Entry]:
    values = line.value
    label = next((label for label in _NAMES if values.get(label)), None)
    if label is None:
        raise InvalidInput("name", "the entity has none")
    name, sort = text_of(label, values[label]), text_of("entityType", values.get("entityType") or "")
    observations = values.get("observations") or []
    if not isinstance(observations, list) or not all(isinstance(text, str) for text in observations):
        raise InvalidInput("observations", "it must be a list of texts")
    if label != _NAMES[0]:
        yield Note(line=line.no, text=f"{label} was read as {_NAMES[0]}")
    facts = [text for text in observations if text.strip()]
    for text in facts or [f"{name} ({sort})" if sort else name]:
        yield _item(line.no, text if text.startswith(name) else f"{name}: {text}", (name,), reading, _ref(name), sort)


def _relation(line: Line, reading: Reading) -> Iterator[Entry]:
    ends = []
    for label in ("from", "to", "relationType"):
        if not line.value.get(label):
            raise InvalidInput(label, "the relation has none")
        ends.append(text_of(label, line.value[label]))
    source, target, sort = ends
    ref = f"relation {line.no}"
    yield _item(line.no, f"{source} {sort} {target}", tuple(dict.fromkeys((source, target))), reading, ref)
    pairs = [(ref, _ref(source)), (ref, _ref(target)), (_ref(source), _ref(target))]
    for one, other in pairs:
        if one != other:
            yield Tie(line=line.no, source=one, target=other, kind=LinkKind.RELATES)


def _item(no: int, text: str, names: tuple[str, ...], reading: Reading, ref: str, sort: str = "") -> Item:
    metadata: Mapping[str, Any] = {"entity_type": sort} if sort else {}
    draft = Draft(content=text, scope=reading.scope, entities=names, metadata=metadata)
    return Item(line=no, draft=draft, ref=ref)


def _ref(name: str) -> str:
    return f"entity {name}"
