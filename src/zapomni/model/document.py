"""Documents: the files that somebody attached, their pieces, and what is asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from zapomni.model.explanation import Barred, Explanation
from zapomni.model.kinds import Mode
from zapomni.model.memory import Scope
from zapomni.model.question import Part

GLOB_LIMIT: Final = 100
"""Most include or exclude patterns of one source."""


class SourceMode(StrEnum):
    """What is done with the files of a source.

    Their pieces can be searched, a model reads them into memories, or each is a memory, kept in step both ways.
    """

    INDEX = "index"
    INGEST = "ingest"
    MIRROR = "mirror"


class DocumentKind(StrEnum):
    """What kind of document a file is, known by its path and content (article A's source types)."""

    DOCS = "docs"
    ADR = "adr"
    RFC = "rfc"
    CHANGELOG = "changelog"
    RUNBOOK = "runbook"
    POSTMORTEM = "postmortem"
    CONFIG = "config"
    CODE = "code"
    DATA = "data"


class Source(Struct, frozen=True, kw_only=True):
    """A folder or file attached in one mode; `root` is its absolute path.

    `include` and `exclude` are patterns as `.gitignore` has them, relative to the root. `problem` says why the
    last scan stopped, None when it came to its end.
    """

    id: str
    root: str
    mode: SourceMode
    scope: Scope
    created_at: datetime
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    scanned_at: datetime | None = None
    problem: str | None = None


class Document(Struct, frozen=True, kw_only=True):
    """One file of a source as it was read last.

    `path` is relative to the source's root, with `/`; empty for a source that is one file. `modified_ns` is
    the file's own time. `preparation` names the reader and the cut that made its chunks. `problem` says why
    the file has no chunks, None when it was read; `notes` say what was odd about it.
    """

    source_id: str
    path: str
    size: int
    modified_ns: int
    sha256: str
    preparation: str
    kind: DocumentKind = DocumentKind.DOCS
    title: str = ""
    tags: tuple[str, ...] = ()
    format: str = ""
    encoding: str = ""
    chunks: int = 0
    indexed_at: datetime | None = None
    problem: str | None = None
    notes: tuple[str, ...] = ()


class Chunk(Struct, frozen=True, kw_only=True):
    """One piece of a document: its text and where it stands.

    `start` and `end` count the characters of the decoded file, `first_line` and `last_line` its lines from 1;
    lines are 0 where a format has none of its own, `page` is 0 outside paged formats. `trail` holds the
    headings above it, outermost first. `weight` (0 to 1) is less for tables of contents and the like.
    """

    text: str
    start: int
    end: int
    first_line: int = 0
    last_line: int = 0
    page: int = 0
    trail: tuple[str, ...] = ()
    weight: float = 1.0


class DocumentFilter(Struct, frozen=True, kw_only=True):
    """Which documents may be seen; empty means all. `path` is a beginning, `tags` match folded, any of them."""

    scopes: tuple[Scope, ...] = ()
    kinds: tuple[DocumentKind, ...] = ()
    source_ids: tuple[str, ...] = ()
    path: str | None = None
    tags: tuple[str, ...] = ()


class DocumentQuery(Struct, frozen=True, kw_only=True):
    """What is asked of the documents, as a `Query` asks it of the memories."""

    text: str
    where: DocumentFilter = field(default_factory=DocumentFilter)
    limit: int = 10
    mode: Mode = Mode.HYBRID
    strict: bool = False
    explain: bool = False


class DocumentHit(Struct, frozen=True, kw_only=True):
    """A chunk that was found, the document it is of, the root that is under, and its score with every part."""

    source: Source
    document: Document
    chunk: Chunk
    score: float
    parts: tuple[Part, ...] = ()

    @property
    def shown(self) -> str:
        """What is shown of it: its title and its headings, each once and where its text has them not, and its text."""
        held = {line.strip("# ") for line in self.chunk.text.splitlines()}
        above = dict.fromkeys((self.document.title, *self.chunk.trail))
        return "\n".join([*(line for line in above if line and line not in held), self.chunk.text])

    @property
    def handle(self) -> str:
        """By what it can be asked for whole."""
        return self.citation

    @property
    def citation(self) -> str:
        """Where it stands, as editors open it: `path:line`, or `path#page=N`, the path as the root has it."""
        path = f"{self.source.root}/{self.document.path}" if self.document.path else self.source.root
        if self.chunk.page:
            return f"{path}#page={self.chunk.page}"
        return f"{path}:{self.chunk.first_line}" if self.chunk.first_line else path


class Findings(Struct, frozen=True, kw_only=True):
    """The answer of a search in documents; as for memories, `mode` really answered and `reason` says why.

    `waiting` counts chunks whose vector is still to come, `stale` names sources whose last scan did not end.
    `explanations` say why nothing was found, where that was asked for; `barred` names the part of the filter that lets
    nothing through, where that is why.
    """

    hits: tuple[DocumentHit, ...]
    mode: Mode
    scopes: tuple[Scope, ...]
    reason: str | None = None
    waiting: int = 0
    stale: tuple[str, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    barred: Barred | None = None


class Skipped(Struct, frozen=True, kw_only=True):
    """A file or folder that a scan passed over: its path under the root, and why."""

    path: str
    reason: str


SCANNED_ELSEWHERE: Final = "another process is scanning just now"
"""The `problem` of a source that was left to another process, which holds the lock of its mode."""


class Scanned(Struct, frozen=True, kw_only=True):
    """What one scan of a source came to.

    Files: `added`, `changed`, `moved`, `removed`, `unchanged`; `read` counts those whose content was looked at.
    `chunks` were written. `skipped` names files and folders that were passed over, `excluded` counts by rule what
    the rules left out, `notes` say what was odd about files that were read. `problem` says why the scan stopped
    before its end, and then nothing was removed, why it found nothing, or did not begin (`SCANNED_ELSEWHERE`). Of an
    ingested source alone: `waits`, why what was read of some file waits for a model. Of a mirrored folder alone:
    `written` and `dropped` files, which followed their memories, and `conflicts`, whose two sides both stay.
    """

    source: Source
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    read: int = 0
    chunks: int = 0
    written: int = 0
    dropped: int = 0
    conflicts: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[Skipped, ...] = ()
    problem: str | None = None
    waits: str | None = None


class SourceStatus(Struct, frozen=True, kw_only=True):
    """A source with what stands of it in the index: documents, chunks, those that wait for a vector, problems."""

    source: Source
    documents: int
    chunks: int
    waiting: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
