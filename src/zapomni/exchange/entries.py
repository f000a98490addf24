"""What every format is read into: the entries of a file, and what an import or export came to."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo

    from zapomni.model import Draft, LinkKind, Rejection, Scope


class Format(StrEnum):
    """The formats by name; `plain` is read only."""

    ZAPOMNI = "zapomni"
    AGENT_MEMORY_MCP = "agent-memory-mcp"
    SERVER_MEMORY = "server-memory"
    PLAIN = "plain"


class ImportMode(StrEnum):
    """What happens to a memory that is here already.

    `merge` keeps it unless the incoming one is newer, `skip` keeps it always, `replace` makes the file the
    whole content of the scopes it holds memories of.
    """

    MERGE = "merge"
    SKIP = "skip"
    REPLACE = "replace"


class Problem(Struct, frozen=True, kw_only=True):
    """A line of a file and what is wrong with it."""

    line: int
    reason: str


class Note(Struct, frozen=True, kw_only=True):
    """A line that was understood in a way its writer should hear of."""

    line: int
    text: str


class Dropped(Struct, frozen=True, kw_only=True):
    """A field that this reader does not carry over."""

    name: str


class Item(Struct, frozen=True, kw_only=True):
    """One memory of a file.

    `carried` holds the fields of `Memory` that it brings from elsewhere (id, times, counts), which the write
    path would otherwise set. `exact` marks a record of our own, whose version and trust count. `ref` is the
    name by which ties of the same file speak of it; of several items of one name they mean the first.
    """

    line: int
    draft: Draft
    ref: str = ""
    carried: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = False


class Tie(Struct, frozen=True, kw_only=True):
    """A link between two refs of the file, or ids of the store."""

    line: int
    source: str
    target: str
    kind: LinkKind


class KnownScope(Struct, frozen=True, kw_only=True):
    """A scope and the repository it is tied to."""

    scope: Scope
    identity: str | None


class Refusal(Struct, frozen=True, kw_only=True):
    """A value that a person refused where the file comes from."""

    rejection: Rejection


Entry: TypeAlias = Item | Tie | KnownScope | Refusal | Problem | Note | Dropped


class Reading(Struct, frozen=True, kw_only=True):
    """What a reader needs beside the lines: the zone of times that name none, and the scope of items without."""

    zone: tzinfo
    scope: Scope


class Line(Struct, frozen=True, kw_only=True):
    """One line of a file, or one item of an array with the line where it begins."""

    no: int
    value: Any
    """The JSON object."""


if TYPE_CHECKING:
    Lines = Iterator[Line | Problem]
    """The objects of a file in their order, with what could not be read in between."""


class Imported(Struct, frozen=True, kw_only=True):
    """What an import came to, or with `dry_run` would come to.

    Each memory of the file counts once: `imported`, `updated`, `skipped` (it is here, and stays as it is),
    `duplicates` (its content stands in its scope already), `refused` or `bad`. `run` is what `undo` takes,
    None when nothing was changed. `resumed` tells that the run of an earlier, killed import was continued.
    """

    format: Format
    mode: ImportMode
    dry_run: bool
    run: str | None = None
    resumed: bool = False
    imported: int = 0
    updated: int = 0
    skipped: int = 0
    duplicates: int = 0
    deleted: int = 0
    links: int = 0
    redactions: int = 0
    refused: tuple[Problem, ...] = ()
    bad: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    not_carried: tuple[str, ...] = ()


class Exported(Struct, frozen=True, kw_only=True):
    """What an export wrote; `not_carried` names what the format has no place for and this store does hold."""

    format: Format
    memories: int = 0
    deleted: int = 0
    links: int = 0
    scopes: int = 0
    rejections: int = 0
    runs: int = 0
    revisions: int = 0
    not_carried: tuple[str, ...] = ()
