"""Where each line of a memory, and each of its fields, comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from zapomni.record import FIELDS
from zapomni.services.difference import COUNTED
from zapomni.services.find import erased
from zapomni.services.history import history
from zapomni.text.changes import steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Revision, Scope
    from zapomni.services.context import Context


class Line(Struct, frozen=True, kw_only=True):
    """One line of the content, counted from 1, and the revision that brought it."""

    no: int
    text: str
    revision: Revision


class FieldOrigin(Struct, frozen=True, kw_only=True):
    """One field that says something, as a plain JSON value, and the revision that gave it that value."""

    name: str
    value: Any
    revision: Revision


class Blame(Struct, frozen=True, kw_only=True):
    """A memory line by line and field by field, each with the revision that it comes from."""

    id: str
    lines: tuple[Line, ...]
    fields: tuple[FieldOrigin, ...]


def blame(context: Context, short: str, *, scopes: Sequence[Scope]) -> Blame:
    """Tell of each line and field of a memory (deleted ones too) which revision brought it.

    A line that an undo brought back comes from that undo, as in git. Raises `NotFound` for an erased memory too:
    nothing of its text is left.
    """
    memory, revisions = history(context, short, scopes=scopes)
    if memory is None:
        raise erased(revisions[-1])
    told = [revision for revision in revisions if revision.after is not None]
    return Blame(id=memory.id, lines=_lines(told), fields=_fields(told))


def _lines(revisions: Sequence[Revision]) -> tuple[Line, ...]:
    text: list[str] = []
    brought: list[Revision] = []
    for revision in revisions:
        assert revision.after is not None
        new = str(revision.after["content"]).split("\n")
        if new == text:
            continue
        kept: list[Revision] = []
        for step in steps(text, new):
            kept += brought[step.a : step.a_end] if step.equal else [revision] * (step.b_end - step.b)
        text, brought = new, kept
    return tuple(
        Line(no=no, text=line, revision=revision)
        for no, (line, revision) in enumerate(zip(text, brought, strict=True), start=1)
    )


def _fields(revisions: Sequence[Revision]) -> tuple[FieldOrigin, ...]:
    found: dict[str, FieldOrigin] = {}
    for revision in revisions:
        record = revision.after or {}
        for name in FIELDS:
            value = record.get(name)
            if name not in COUNTED and (name not in found or found[name].value != value):
                found[name] = FieldOrigin(name=name, value=value, revision=revision)
    return tuple(one for one in found.values() if one.value not in (None, "", [], {}, False))
