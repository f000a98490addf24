"""Bringing two changed states of one memory together, field by field, against the state that both came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from zapomni.model import Memory, Patch, Trust
from zapomni.model.branch import Policy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COMPARED: Final = (*Patch.__struct_fields__, "position", "key", "trust")
"""What a branch can change; all else is book-keeping."""
SEPARATOR: Final = "\n\n[update]\n\n"
"""Stands between two texts that are both kept (features M-10)."""
_LISTS: Final = ("tags", "entities")
_BELIEVED: Final = (Trust.REJECTED, Trust.SUPERSEDED, Trust.DISPUTED, Trust.CANDIDATE, Trust.CONFIRMED)
"""From the least believed to the most."""
_BY_PATH: Final[Mapping[str, Policy]] = {
    "experience": Policy.APPEND,
    "metrics.code": Policy.APPEND,
    "metrics.turn": Policy.REPLACE,
    "context.current": Policy.REPLACE,
    "workflow": Policy.LLM_MERGE,
    "behaviour": Policy.LLM_MERGE,
}
"""Features M-12; every other path, and none, is confidence-gated."""


class Joined(Struct, frozen=True, kw_only=True):
    """Two states of a memory as one; None where a person has to decide. `clash` names fields that both changed."""

    memory: Memory | None
    clash: tuple[str, ...] = ()


def policy_of(path: str | None) -> Policy:
    """Return what is done by default with a memory at a topic path, itself or below one that is named."""
    parts = (path or "").split(".")
    heads = (".".join(parts[:depth]) for depth in range(len(parts), 0, -1))
    return next((_BY_PATH[head] for head in heads if head in _BY_PATH), Policy.CONFIDENCE_GATED)


def says_same(one: Memory, other: Memory) -> bool:
    """Tell whether two states of a memory differ in book-keeping alone."""
    return all(_value(one, name) == _value(other, name) for name in COMPARED)


def join(old: Memory | None, base: Memory, own: Memory, policy: Policy) -> Joined:
    """Return the main line's `base` with what the branch's `own` changed of `old`, the state that both came from.

    A field that one side changed is taken from that side; lists and metadata take the changes of both. Whatever else
    both changed differently is settled by the policy. Without `old` every difference was made by both.
    """
    values: dict[str, Any] = {}
    clash = []
    for name in COMPARED:
        was = _value(old, name) if old is not None else None
        here, there = _value(base, name), _value(own, name)
        if here == there or (old is not None and there == was):
            values[name] = here
        elif old is not None and here == was:
            values[name] = there
        elif name in _LISTS:
            values[name] = _both_lists(was or (), here, there)
        elif name == "metadata":
            values[name] = _both_objects(was or {}, here, there)
        else:
            clash.append(name)
    settled = _settled(base, own, clash, policy) if clash else {}
    return Joined(memory=None if settled is None else replace(base, **values, **settled), clash=tuple(clash))


def _settled(base: Memory, own: Memory, clash: Sequence[str], policy: Policy) -> dict[str, Any] | None:
    """Return the values of fields that both sides changed, or None where a person has to say."""
    if policy is Policy.CONFIDENCE_GATED and _confidence(base) != _confidence(own):
        winner = max(base, own, key=_confidence)
        return {name: _value(winner, name) for name in clash}
    if policy not in {Policy.APPEND, Policy.REPLACE}:
        return None
    values = {name: _value(own, name) for name in clash}
    if policy is Policy.APPEND and "content" in values:
        values["content"] = _both_texts(base.content, own.content)
    return values


def _confidence(memory: Memory) -> tuple[int, float]:
    return _BELIEVED.index(memory.trust), memory.importance


def _both_texts(here: str, there: str) -> str:
    if there in here:
        return here
    return there if here in there else f"{here}{SEPARATOR}{there}"


def _both_lists(was: Sequence[str], here: Sequence[str], there: Sequence[str]) -> tuple[str, ...]:
    kept = [item for item in here if item in there or item not in was]
    return tuple(dict.fromkeys([*kept, *(item for item in there if item not in was)]))


def _both_objects(was: Mapping[str, Any], here: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the changes of both; of a key that both changed, the branch's value."""
    changed = {name: value for name, value in there.items() if name not in was or was[name] != value}
    gone = was.keys() - there.keys()
    return {name: value for name, value in here.items() if name not in gone or value != was[name]} | changed


def _value(memory: Memory, name: str) -> Any:
    return memory.scope.base if name == "scope" else getattr(memory, name)
