"""Limits, and the closed lists of words that the nouns use."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

CONTENT_LIMIT: Final = 100_000
"""Most characters of one memory's content (features ST-17)."""


QUERY_LIMIT: Final = 10_000
"""Most characters of one query (features ST-17)."""


TITLE_LIMIT: Final = 200


DESCRIPTION_LIMIT: Final = 1_000


NAME_LIMIT: Final = 200
"""Most characters of a tag, an entity, a scope name, a path or a source."""


LIST_LIMIT: Final = 100
"""Most tags or entities of one memory."""


METADATA_LIMIT: Final = 20_000
"""Most characters of metadata, counted as compact JSON."""


PAGE_LIMIT: Final = 1_000
"""Most memories of one page."""


RECALL_LIMIT: Final = 100
"""Most hits of one recall."""


class Kind(StrEnum):
    """What sort of thing a memory is (article A)."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    WORKING = "working"


class About(StrEnum):
    """Whom or what a memory speaks of (article B)."""

    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"


class Trust(StrEnum):
    """How far a memory is believed; set by the write path, never by the payload."""

    CANDIDATE = "candidate"
    CONFIRMED = "confirmed"
    DISPUTED = "disputed"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"


class Origin(StrEnum):
    """Who wrote a memory."""

    USER = "user"
    AGENT = "agent"
    CONSOLIDATION = "consolidation"
    IMPORT = "import"
    FILE = "file"
    SESSION = "session"


class LinkKind(StrEnum):
    """How one memory points at another."""

    DERIVED_FROM = "derived_from"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    RELATES = "relates"
    MENTIONS = "mentions"


class ScopeKind(StrEnum):
    """The four sorts of owner, and what was changed on a branch of the memory, which people name by its branch."""

    USER = "user"
    PROJECT = "project"
    AGENT = "agent"
    TEAM = "team"
    BRANCH = "branch"


class Verb(StrEnum):
    """What one revision did."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    RESTORE = "restore"
    ERASE = "erase"


class SpaceState(StrEnum):
    """Where an embedding generation stands."""

    BUILDING = "building"
    ACTIVE = "active"
    RETIRED = "retired"


class Mode(StrEnum):
    """How a recall looks for its answer."""

    HYBRID = "hybrid"
    LEXICAL = "lexical"
    SEMANTIC = "semantic"


class By(StrEnum):
    """What of a memory a recall looks at."""

    TEXT = "text"
    DESCRIPTION = "description"


class Status(StrEnum):
    """What a write came to."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    DUPLICATE = "duplicate"
    DELETED = "deleted"
    ERASED = "erased"
    CONFLICT = "conflict"
    REFUSED = "refused"
