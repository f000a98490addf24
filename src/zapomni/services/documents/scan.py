"""Scanning a source: bringing the index to what the files say now.

Only files whose size or time changed are opened, one transaction each: a scan that is killed goes on where it
was. What is gone is removed last, and not at all when too much is gone at once.
"""

from __future__ import annotations

import os
from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import ZapomniError
from zapomni.files.rules import Rules
from zapomni.files.tree import Tree
from zapomni.files.walk import walk
from zapomni.model.document import SCANNED_ELSEWHERE, Chunk, Document, Scanned, Skipped
from zapomni.readers.kinds import kind_of
from zapomni.readers.registry import limit_of, reader_for, version_of
from zapomni.text.chunks import chunks
from zapomni.text.secrets import masked, redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import BinaryIO

    from zapomni.clock import Clock
    from zapomni.files.walk import Found, Walk
    from zapomni.model.document import Source
    from zapomni.readers.base import Extract
    from zapomni.store.documents import Documents

    Progress = Callable[[int, int], None]

GONE_SHARE: Final = 0.5
GONE_FEWEST: Final = 5
"""Share and number of a source's files that must be gone for a scan to stop and ask: an unmounted disk, a moved
folder and a mistaken checkout look just like it."""
_CUT: Final = 1
"""Grows when the same text would be cut in another way, so that every file is cut anew."""
_FRESH_NS: Final = 50_000_000
"""A file changed less than this before it was read is read again by the next scan: its time may be as coarse."""
_FARTHEST_NS: Final = 1 << 63
"""A time that no store holds, of the year 2262 or later: such a file is read again by every scan."""
_BLOCK: Final = 1 << 20
_HEAD: Final = 8_192
_BATCH: Final = 100


class Cut(Struct, frozen=True, kw_only=True):
    """How long a chunk is, and what it repeats of the one before, in characters."""

    size: int
    overlap: int


def scan(
    documents: Documents,
    source: Source,
    *,
    cut: Cut,
    clock: Clock,
    accept_removals: bool = False,
    progress: Progress | None = None,
) -> Scanned:
    """Bring the index of one source up to date and say what that came to.

    A file that cannot be read costs nothing but itself: it is named. A root that is gone or cannot be read is the
    answer's `problem`, and what was known of it stays; so it is while another process scans.
    """
    with documents.worker_lock("scan") as mine:
        if not mine:
            return Scanned(source=source, problem=SCANNED_ELSEWHERE)
        try:
            found = walk(source.root, Rules.of(source.include, source.exclude), limit=limit_of)
        except ZapomniError as error:
            scanned = Scanned(source=source, problem=error.message)
        else:
            scanned = _Scan(documents, source, cut, clock).run(found, progress, accept_removals=accept_removals)
        documents.mark_scanned(source.id, clock(), scanned.problem)
        return replace(scanned, source=replace(source, scanned_at=clock(), problem=scanned.problem))


class _Read(NamedTuple):
    """What came of one file."""

    document: Document
    chunks: list[Chunk]


class _Scan:
    """One scan of one source as it goes on."""

    def __init__(self, documents: Documents, source: Source, cut: Cut, clock: Clock) -> None:
        self._documents = documents
        self._source = source
        self._cut = cut
        self._clock = clock
        self._tree = Tree(source.root)
        self._known = documents.documents(source.id)
        self._counts: Counter[str] = Counter()
        self._skipped: list[Skipped] = []
        self._notes: list[Skipped] = []

    def run(self, found: Walk, progress: Progress | None, *, accept_removals: bool) -> Scanned:
        todo = [file for file in found.files if not self._is_current(file)]
        there = {file.path for file in found.files}
        gone = {path: document for path, document in self._known.items() if path not in there and not found.hides(path)}
        self._keep(self._known[path] for path in there - {file.path for file in todo})
        for done, file in enumerate(todo, 1):
            self._take(file, gone)
            if progress is not None:
                progress(done, len(todo))
        self._name_skipped(found.skipped, gone)
        problem = None if accept_removals else self._too_much(gone, found)
        if problem is None:
            self._remove(list(gone))
            problem = _nothing(found, self._documents.documents(self._source.id))
        return Scanned(
            source=self._source,
            excluded=found.excluded,
            skipped=tuple(sorted(self._skipped, key=attrgetter("path"))),
            notes=tuple(self._notes),
            problem=problem,
            waits=None,
            **self._counts,
        )

    def _keep(self, unchanged: Iterable[Document]) -> None:
        for document in unchanged:
            if document.problem is not None:
                self._skip(document.path, document.problem)
            else:
                self._counts["unchanged"] += 1

    def _is_current(self, file: Found) -> bool:
        known = self._known.get(file.path)
        return (
            known is not None
            and (known.size, known.modified_ns) == (file.size, file.modified_ns)
            and known.preparation == self._preparation(known.format)
        )

    def _preparation(self, reader: str) -> str:
        return f"{reader}{version_of(reader)} {self._cut.size}/{self._cut.overlap} {_CUT}"

    # --- one file --------------------------------------------------------------------------------------
    def _take(self, file: Found, gone: dict[str, Document]) -> None:
        """Read one file and write what came of it; `gone` loses the one that it was before a move."""
        known = self._known.get(file.path)
        self._counts["read"] += 1
        try:
            with self._tree.open(file.path) as opened:
                digest = digest_of(opened)
                fresh = _stamped(file, opened, self._clock)
                if (
                    known is not None
                    and known.sha256 == digest
                    and known.preparation == self._preparation(known.format)
                ):
                    self._documents.touch_document(replace(known, size=fresh.size, modified_ns=fresh.modified_ns))
                    self._keep([known])
                    return
                read = self._read(fresh, digest, opened)
        except OSError as error:
            self._give_up(file.path, f"it cannot be read ({error.strerror or error})")
            return
        was = None
        if known is None and digest:
            was = next((path for path, document in gone.items() if document.sha256 == digest), None)
        self._documents.put_document(read.document, read.chunks, was=was)
        if was is not None:
            del gone[was]
        self._report(read, known, moved=was is not None)

    def _read(self, file: Found, digest: str, opened: BinaryIO) -> _Read:
        name = (file.path or self._source.root).rpartition("/")[2]
        opened.seek(0)
        head = opened.read(_HEAD)
        opened.seek(0)
        blank = Document(
            source_id=self._source.id,
            path=file.path,
            size=file.size,
            modified_ns=file.modified_ns,
            sha256=digest,
            preparation=self._preparation(""),
            indexed_at=self._clock(),
        )
        try:
            reader = reader_for(name, head)
            blank = replace(blank, format=reader.name, preparation=self._preparation(reader.name))
            extract = _without_secrets(reader.read(opened, name))
        except ZapomniError as error:
            return _Read(replace(blank, problem=error.message), [])
        pieces = self._cut_up(extract) or _title_of(extract)
        document = replace(
            blank,
            kind=kind_of(file.path or name, extract),
            title=extract.title,
            tags=extract.tags,
            encoding=extract.encoding,
            notes=extract.notes,
            problem=None if pieces else "it holds no text",
        )
        return _Read(document, pieces)

    def _cut_up(self, extract: Extract) -> list[Chunk]:
        return chunks(
            extract.text,
            layout=extract.layout.value,
            start=extract.start,
            size=self._cut.size,
            overlap=self._cut.overlap,
            pages=extract.pages,
            lined=extract.lined,
        )

    # --- what a scan comes to ---------------------------------------------------------------------------
    def _report(self, read: _Read, known: Document | None, *, moved: bool) -> None:
        document = read.document
        self._counts["chunks"] += len(read.chunks)
        self._notes += [Skipped(path=document.path, reason=note) for note in document.notes]
        if document.problem is not None:
            self._skip(document.path, document.problem)
        elif moved:
            self._counts["moved"] += 1
        elif known is None or known.problem is not None:
            self._counts["added"] += 1
        else:
            self._counts["changed"] += 1

    def _skip(self, path: str, reason: str) -> None:
        self._skipped.append(Skipped(path=path, reason=reason))

    def _name_skipped(self, skipped: Iterable[Skipped], gone: dict[str, Document]) -> None:
        """Keep the names of what the walk passed over, so that the status can say it too."""
        for one in skipped:
            known = gone.pop(one.path, None)
            if known is None or known.problem != one.reason:
                self._give_up(one.path, one.reason)
            else:
                self._skip(one.path, one.reason)

    def _give_up(self, path: str, reason: str) -> None:
        """Keep the name of a file that cannot be looked at; what stood of it is no longer shown."""
        self._skip(path, reason)
        row = Document(
            source_id=self._source.id, path=path, size=0, modified_ns=0, sha256="", preparation="", problem=reason
        )
        self._documents.put_document(row, [])

    def _too_much(self, gone: Mapping[str, Document], found: Walk) -> str | None:
        """Say why nothing is removed when too much is gone at once."""
        read = sum(document.problem is None for document in self._known.values())
        lost = sum(document.problem is None and not self._tree.is_there(path) for path, document in gone.items())
        return too_much(lost, read, found)

    def _remove(self, paths: list[str]) -> None:
        for start in range(0, len(paths), _BATCH):
            self._documents.drop_documents(self._source.id, paths[start : start + _BATCH])
        lost = sum(self._known[path].problem is None for path in paths)
        self._counts["removed"] += lost
        self._documents.sweep()


def too_much(lost: int, known: int, found: Walk) -> str | None:
    """Say why nothing is removed when so many of the known files are gone at once, None when they may go."""
    empty = not found.files and not found.excluded and not found.skipped
    if lost and lost >= GONE_SHARE * known and (lost >= GONE_FEWEST or empty):
        return f"{lost} of {known} files are gone; nothing was removed, for the folder may be away for a while"
    return None


def digest_of(opened: BinaryIO) -> str:
    """Return the SHA-256 of what is left of a file."""
    from hashlib import sha256

    mark = sha256()
    while block := opened.read(_BLOCK):
        mark.update(block)
    return mark.hexdigest()


def _stamped(file: Found, opened: BinaryIO, clock: Clock) -> Found:
    """Return the size and time that the file had when it was read; no time when it may change within the same tick."""
    info = os.fstat(opened.fileno())
    now_ns = int(clock().timestamp() * 1_000_000_000)
    settled = abs(now_ns - info.st_mtime_ns) > _FRESH_NS and abs(info.st_mtime_ns) < _FARTHEST_NS
    return replace(file, size=info.st_size, modified_ns=info.st_mtime_ns if settled else 0)


def _title_of(extract: Extract) -> list[Chunk]:
    """Return the title of a note that is nothing but a header, as its one chunk."""
    if not extract.start:
        return []
    last = extract.text.count("\n", 0, extract.start - 1) + 1
    return [Chunk(text=extract.title, start=0, end=extract.start, first_line=1, last_line=last)]


def _without_secrets(extract: Extract) -> Extract:
    """Cut secrets out of what is kept and shown, before anything is cut up; they stay in the file alone."""
    return replace(
        extract,
        text=masked(extract.text),
        title=redact(extract.title)[0],
        tags=tuple(redact(tag)[0] for tag in extract.tags),
    )


def _nothing(found: Walk, known: Mapping[str, Document]) -> str | None:
    """Say why a source holds nothing that can be searched."""
    if any(document.problem is None for document in known.values()):
        return None
    reasons = [f"{count} by {reason}" for reason, count in found.excluded.items()]
    if known:
        reasons.append(f"{len(known)} could not be read")
    return f"nothing was indexed: {', '.join(reasons) if reasons else 'it is empty'}"
