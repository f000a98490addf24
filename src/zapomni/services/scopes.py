"""Which scopes a request may see and which one it writes to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from zapomni.errors import NotFound
from zapomni.model import deleted_on
from zapomni.record import parse_scope
from zapomni.text.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.model import Scope
    from zapomni.services.context import Context, Place

EVERY: Final = "all"
"""The word that lifts the scope of a read; no scope can be written that way."""
_PLAIN: Final = re.compile(r"[\w:.@+-]+")
"""Names that every shell takes as they are."""


def scopes_to_read(context: Context, asked: Sequence[str]) -> tuple[Scope, ...]:
    """Return the scopes that a read sees: those asked for, else those of the caller's place.

    Raises `InvalidInput` for a text that is no scope and `NotFound` for a scope that nobody ever wrote to.
    """
    if not asked:
        return context.place.read
    known, branch = context.store.scopes(), context.place.branch
    if EVERY in asked:
        own = (scope.on(branch) for scope in known)
        return tuple(dict.fromkeys((*known, *own, *context.place.read)))
    wanted = tuple(dict.fromkeys(parse_scope(text) for text in asked))
    for scope in wanted:
        if scope not in known and scope not in context.place.read:
            raise NotFound(f"no memory was ever stored in scope {scope}", remedy=_meant(scope, known))
    return tuple(dict.fromkeys((*wanted, *(scope.on(branch) for scope in wanted))))


def scope_to_write(context: Context, asked: str | None) -> tuple[Scope, tuple[str, ...]]:
    """Return the scope that a write goes to, with a warning when the name is new but close to a known one.

    None is the scope of the caller's place; a blank text is an error like any other that is no scope.
    """
    if asked is None:
        return context.place.write, ()
    scope = parse_scope(asked)
    known, target = context.store.scopes(), scope.on(context.place.branch)
    if scope in known or target == context.place.write:
        return target, ()
    close = nearest(str(scope), [str(other) for other in known])
    return target, (f"{scope} is a new scope; known ones close to it: {', '.join(close)}",) if close else ()


def named(place: Place, scope: Scope) -> str:
    """Return the option by which a command sees what lies in a scope, with a space before it.

    It is empty where the command sees the scope from the caller's place anyway.
    """
    if scope in place.read or (place.branch and scope == deleted_on(place.branch)):
        return ""
    name = str(scope.base)
    if _PLAIN.fullmatch(name):
        return f" --scope {name}"
    from shlex import quote

    return f" --scope {quote(name)}"


def _meant(scope: Scope, known: Sequence[Scope]) -> str:
    close = nearest(str(scope), [str(other) for other in known])
    return f"Did you mean {' or '.join(close)}?" if close else "`zapomni stats` lists the known scopes"
