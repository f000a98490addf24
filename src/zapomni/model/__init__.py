"""The nouns: every value that zapomni stores, asks for or answers with.

Frozen, slotted, keyword-only structs and closed enums. Nothing here reads, writes or knows a clock. Each noun is
loaded when it is first asked for: a hook needs few of them, and has a few milliseconds for them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zapomni.model.kinds import (
    CONTENT_LIMIT,
    DESCRIPTION_LIMIT,
    LIST_LIMIT,
    METADATA_LIMIT,
    NAME_LIMIT,
    PAGE_LIMIT,
    QUERY_LIMIT,
    RECALL_LIMIT,
    TITLE_LIMIT,
    About,
    By,
    Kind,
    LinkKind,
    Mode,
    Origin,
    ScopeKind,
    SpaceState,
    Status,
    Trust,
    Verb,
)

if TYPE_CHECKING:
    from array import array

    from zapomni.model.answer import Page, Recollection, Space
    from zapomni.model.change import Outcome, Redaction, Rejection, Revision, Run
    from zapomni.model.draft import UNSET, Draft, Patch, Unset
    from zapomni.model.filter import Filter
    from zapomni.model.memory import USER_SCOPE, Actor, Link, Memory, Scope, deleted_on
    from zapomni.model.question import Hit, Part, Query

    Vector = array[float]
    """A unit vector of 32-bit floats (`array("f")`): a buffer that numpy and SQLite take without a copy."""

__all__ = [
    "CONTENT_LIMIT",
    "DESCRIPTION_LIMIT",
    "LIST_LIMIT",
    "METADATA_LIMIT",
    "NAME_LIMIT",
    "PAGE_LIMIT",
    "QUERY_LIMIT",
    "RECALL_LIMIT",
    "TITLE_LIMIT",
    "UNSET",
    "USER_SCOPE",
    "About",
    "Actor",
    "By",
    "Draft",
    "Filter",
    "Hit",
    "Kind",
    "Link",
    "LinkKind",
    "Memory",
    "Mode",
    "Origin",
    "Outcome",
    "Page",
    "Part",
    "Patch",
    "Query",
    "Recollection",
    "Redaction",
    "Rejection",
    "Revision",
    "Run",
    "Scope",
    "ScopeKind",
    "Space",
    "SpaceState",
    "Status",
    "Trust",
    "Unset",
    "Verb",
    "deleted_on",
]

_HOMES = {
    "answer": ("Page", "Recollection", "Space"),
    "change": ("Outcome", "Redaction", "Rejection", "Revision", "Run"),
    "draft": ("UNSET", "Draft", "Patch", "Unset"),
    "filter": ("Filter",),
    "memory": ("USER_SCOPE", "Actor", "Link", "Memory", "Scope", "deleted_on"),
    "question": ("Hit", "Part", "Query"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a noun from the module that it stands in."""
    if name not in _HOME:
        raise AttributeError(f"module 'zapomni.model' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"zapomni.model.{_HOME[name]}"), name)
    return value
