"""The documents beside a memory: every verb on sources and their files as one method."""

from __future__ import annotations

from contextlib import suppress
from threading import RLock
from typing import TYPE_CHECKING, Any

from zapomni.errors import InvalidInput, NotFound, Refused
from zapomni.files.reading import DEPTH, LIST_LIMIT, PART, PART_LIMIT, FileList, FilePart, list_files
from zapomni.files.walk import DEPTH_LIMIT
from zapomni.model import RECALL_LIMIT, Mode
from zapomni.model.document import DocumentFilter, DocumentKind, DocumentQuery, SourceMode
from zapomni.services.documents.search import chunk_texts, search
from zapomni.services.documents.sources import (
    add_source,
    find_source,
    list_sources,
    make_root,
    real_root,
    wanted_sources,
)
from zapomni.services.parse import given, parse_choice, parse_path, parse_texts, parse_whole
from zapomni.services.scopes import scope_to_write, scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from zapomni.clock import Clock
    from zapomni.embed.base import Embedder
    from zapomni.files.guard import PathGuard
    from zapomni.files.searching import TextMatches
    from zapomni.model import Scope
    from zapomni.model.document import Findings, Scanned, Source, SourceStatus
    from zapomni.services.context import Context
    from zapomni.services.documents.scan import Progress
    from zapomni.services.embedding import EmbedderFor, Embedding
    from zapomni.settings import DocumentSettings
    from zapomni.store.documents import WaitingChunk


class DocumentIndex:
    """What is attached to one memory, as `Zapomni.documents` gives it; safe to use from many threads.

    Every method raises only `zapomni.errors.ZapomniError`.
    """

    def __init__(
        self,
        context: Context,
        settings: DocumentSettings,
        home: Path,
        *,
        named_in: str,
        wanted: Embedder | None,
        embedder_for: EmbedderFor,
        clock: Clock,
    ) -> None:
        """Build the verbs; `named_in` is where the setting of the folders stands."""
        self._context = context
        self._settings = settings
        self._named_in = named_in
        self._home = home
        self._wanted = wanted
        self._embedder_for = embedder_for
        self._clock = clock
        self._lock = RLock()
        self._embedding: Embedding[WaitingChunk] | None = None

    @property
    def embedding(self) -> Embedding[WaitingChunk]:
        """The vectors of the documents; no model is loaded before the first text."""
        with self._lock:
            if self._embedding is None:
                from zapomni.services.embedding import Embedding

                store = self._context.store.documents
                self._embedding = Embedding(store, chunk_texts, self._wanted, self._embedder_for, self._clock)
            return self._embedding

    # --- sources ----------------------------------------------------------------------------------------
    def add(
        self,
        root: str | Path,
        *,
        mode: SourceMode | str = SourceMode.INDEX,
        scope: str | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        start: bool = False,
    ) -> Source:
        """Attach a folder or file; nothing is read before the next scan. `start` makes a folder that is not there.

        A mirror must be told its scope: every memory of it becomes a file of the folder.
        """
        place = parse_path("path", root)
        how = parse_choice("mode", mode, SourceMode, SourceMode.INDEX)
        if how is SourceMode.MIRROR and scope is None:
            raise self._no_scope()
        target, _ = scope_to_write(self._context, scope)
        if start:
            make_root(place)
        return add_source(
            self._context, place, scope=target, home=self._home, mode=how, include=include, exclude=exclude
        )

    def _no_scope(self) -> InvalidInput:
        known = ", ".join(sorted(map(str, self._context.store.scopes()))) or "none yet"
        return InvalidInput(
            "scope",
            f"a mirrored folder must be told it, for every memory of it becomes a file there (known scopes: {known})",
            remedy="Name who sees it: --scope agent:NAME for one agent, --scope team:NAME for those with NAME in their"
            " setting teams, or --scope user for all that is the user's",
        )

    def is_elsewhere(self) -> bool:
        """Tell whether something is attached in any scope at all, for those who see nothing in theirs."""
        return bool(self._context.store.documents.sources())

    def sources(self, *, scopes: Sequence[str] = ()) -> list[Source]:
        """Return what is attached, oldest first."""
        return list_sources(self._context, self._scopes(scopes))

    def remove(self, source: str, *, scopes: Sequence[str] = ()) -> Source:
        """Let go of a source with all that was indexed of it; its files are not touched.

        Raises `Refused` for a folder that the settings name: the next scan would attach it again.
        """
        found = find_source(self._context, source, self._scopes(scopes))
        self._refuse_named(found)
        self._context.store.documents.remove_source(found.id)
        return found

    def status(self, source: str | None = None, *, scopes: Sequence[str] = ()) -> list[SourceStatus]:
        """Say of one source, or of each, how many documents and chunks it has, what waits and what was skipped.

        An ingested or mirrored source has documents alone: the files that were read into memories, or are some.
        """
        return [self._status(one) for one in wanted_sources(self._context, source, self._scopes(scopes))]

    def _status(self, source: Source) -> SourceStatus:
        if source.mode is SourceMode.INDEX:
            return self._context.store.documents.status(source)
        if source.mode is SourceMode.MIRROR:
            from zapomni.services.mirror.reconcile import mirrored_status

            return mirrored_status(self._context, source)
        from zapomni.services.reading.ingest_source import ingested_status

        return ingested_status(self._context, source)

    def scan(
        self,
        source: str | None = None,
        *,
        scopes: Sequence[str] = (),
        accept_removals: bool = False,
        progress: Callable[[Source], Progress] | None = None,
    ) -> list[Scanned]:
        """Bring the index of one source, or of all that are seen, to what their files say now.

        Sources in other modes are passed over: `Zapomni.reading.scan` reads those in `ingest` mode, and
        `Zapomni.vaults.scan` brings those in `mirror` mode in step.
        """
        from zapomni.services.documents.scan import Cut, scan

        self._attach_settings()
        cut = Cut(size=self._settings.chunk_size, overlap=self._settings.chunk_overlap)
        return [
            scan(
                self._context.store.documents,
                one,
                cut=cut,
                clock=self._clock,
                accept_removals=accept_removals,
                progress=progress(one) if progress is not None else None,
            )
            for one in wanted_sources(self._context, source, self._scopes(scopes))
            if one.mode is SourceMode.INDEX
        ]

    def _attach_settings(self) -> None:
        """Attach the folders that the settings name, where they are not attached yet."""
        known = {source.root for source in self._context.store.documents.sources() if source.mode is SourceMode.INDEX}
        for folder in self._settings.folders:
            if real_root(folder).as_posix() not in known:
                with suppress(NotFound):
                    add_source(self._context, folder, scope=self._context.place.write, home=self._home)

    def _refuse_named(self, source: Source) -> None:
        named = {real_root(folder).as_posix() for folder in self._settings.folders}
        if source.mode is SourceMode.INDEX and source.root in named:
            problem = f"{source.root} is attached by the setting documents.folders ({self._named_in})"
            remedy = "The next scan would bring it back, so nothing was changed: take it out there, then remove it here"
            raise Refused(problem, remedy=remedy)

    # --- questions --------------------------------------------------------------------------------------
    def search(
        self,
        text: str,
        *,
        scopes: Sequence[str] = (),
        limit: int | None = None,
        mode: Mode | str = Mode.HYBRID,
        strict: bool = False,
        explain: bool = False,
        **where: Any,
    ) -> Findings:
        """Return the places in documents that answer a question, best first; `where` holds fields of the filter.

        `explain` has an empty answer say why it is (`Findings.explanations`).
        """
        query = DocumentQuery(
            text=str(text),
            where=self.filter(scopes, where),
            limit=parse_whole("limit", limit, 10, low=1, high=RECALL_LIMIT),
            mode=parse_choice("mode", mode, Mode, Mode.HYBRID),
            strict=strict,
            explain=explain,
        )
        return search(self._context.store.documents, self.embedding, query)

    def filter(self, scopes: Sequence[str], where: Mapping[str, Any]) -> DocumentFilter:
        """Read a filter from plain values (`kind`, `source`, `path`, `tags`) inside the scopes that may be seen."""
        values = given(where)
        seen = self._scopes(scopes)
        kinds = parse_texts("kind", values.pop("kind", ()))
        sources = parse_texts("source", values.pop("source", ()))
        return DocumentFilter(
            scopes=seen,
            kinds=tuple(parse_choice("kind", kind, DocumentKind, DocumentKind.DOCS) for kind in kinds),
            source_ids=tuple(find_source(self._context, name, seen).id for name in sources),
            path=str(values.pop("path")).strip("/") if "path" in values else None,
            tags=parse_texts("tags", values.pop("tags", ())),
        )

    # --- files, for agents ------------------------------------------------------------------------------
    def list_files(
        self,
        path: str = "",
        *,
        scopes: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> FileList:
        """Return what may be seen in a folder of what is attached; `cursor` is the `next` of the page before.

        Raises `Refused` for a path outside, as the two below do.
        """
        depth = parse_whole("max_depth", max_depth, DEPTH, low=1, high=DEPTH_LIMIT)
        size = parse_whole("limit", limit, LIST_LIMIT, low=1, high=LIST_LIMIT)
        return list_files(self._guard(scopes), path, max_depth=depth, limit=size, after=cursor or None)

    def read_file(
        self,
        path: str,
        *,
        scopes: Sequence[str] = (),
        offset: int | None = None,
        max_bytes: int | None = None,
        line: int | None = None,
        lines: int | None = None,
    ) -> FilePart:
        """Return a part of a file: from byte `offset`, or `lines` lines from the line `line`, counted from 1."""
        from zapomni.services.documents.browse import LINES, read_bytes, read_lines

        guard = self._guard(scopes)
        most = parse_whole("max_bytes", max_bytes, PART, low=4, high=PART_LIMIT)
        if line is None and lines is None:
            return read_bytes(guard, path, offset=parse_whole("offset", offset, 0, low=0), most=most)
        if offset is not None:
            raise InvalidInput("offset", "it cannot go with line", remedy="Give one of the two")
        first, count = parse_whole("line", line, 1, low=1), parse_whole("lines", lines, LINES, low=1)
        return read_lines(guard, path, first, count, most=most)

    def search_files(
        self,
        query: str,
        *,
        path: str = "",
        scopes: Sequence[str] = (),
        regex: bool = False,
        case: bool = False,
        max_results: int | None = None,
    ) -> TextMatches:
        """Return the lines in which a text stands, or a pattern with `regex`; letter case counts with `case`."""
        from zapomni.files.searching import RESULTS, search_text

        most = parse_whole("max_results", max_results, RESULTS, low=1, high=RESULTS)
        return search_text(self._guard(scopes), query, path=path, regex=regex, ignore_case=not case, limit=most)

    def _guard(self, scopes: Sequence[str]) -> PathGuard:
        from zapomni.services.documents.browse import guard_of

        return guard_of(self.sources(scopes=scopes))

    def _scopes(self, asked: Sequence[str]) -> tuple[Scope, ...]:
        return scopes_to_read(self._context, asked)
