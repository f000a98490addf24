"""The nouns: every value that zapomni stores, asks for or answers with.

Frozen, slotted, keyword-only dataclasses and closed enums. Nothing here reads, writes or knows a clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model.change import Outcome, Redaction, Rejection, Revision, Run
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
from zapomni.model.memory import UNSET, USER_SCOPE, Actor, Draft, Link, Memory, Patch, Scope, Unset, deleted_on
from zapomni.model.question import Filter, Hit, Page, Part, Query, Recollection, Space

if TYPE_CHECKING:
    from array import array

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
