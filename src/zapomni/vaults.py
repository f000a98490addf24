"""The mirrored folders of a memory: every verb on them as one method."""

from __future__ import annotations

from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING

from zapomni.errors import NotFound, Refused
from zapomni.model.document import SourceMode
from zapomni.services.scopes import EVERY, scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    from zapomni.model import Actor, Memory, Scope
    from zapomni.model.document import Scanned, Source, SourceStatus
    from zapomni.services.context import Context
    from zapomni.services.mirror.reconcile import Progress
    from zapomni.services.vault.compact import Compaction
    from zapomni.services.vault.folder import Folder
    from zapomni.services.vault.plan import Plan, Written
    from zapomni.services.vault.report import Report
    from zapomni.settings import IndexSettings


class Vaults:
    """The mirrored folders of one memory, as `Zapomni.vaults` gives them; safe to use from many threads.

    Every method raises only `zapomni.errors.ZapomniError`.
    """

    def __init__(self, context: Context, settings: IndexSettings, *, actor: Actor, zone: tzinfo) -> None:
        self._context = context
        self._settings = settings
        self._actor = actor
        self._zone = zone

    def scan(
        self,
        source: str | None = None,
        *,
        scopes: Sequence[str] = (),
        rest_s: float = 0.0,
        accept_removals: bool = False,
        progress: Callable[[Source], Progress] | None = None,
    ) -> list[Scanned]:
        """Bring one folder, or all that are seen, in step with the memories of its scope, both ways.

        A file that changed within `rest_s` is left for the next scan, for it may not be finished.
        """
        from zapomni.services.mirror.reconcile import scan_mirror

        return [
            scan_mirror(
                self._context,
                one,
                actor=self._actor,
                index=self._settings,
                rest_s=rest_s,
                accept_removals=accept_removals,
                progress=progress(one) if progress is not None else None,
            )
            for one in self._mirrored(source, scopes)
        ]

    def status(self, source: str | None = None, *, scopes: Sequence[str] = ()) -> list[SourceStatus]:
        """Say of one folder, or of each, how many of its files are memories, and which are none and why."""
        from zapomni.services.mirror.reconcile import mirrored_status

        return [mirrored_status(self._context, one) for one in self._mirrored(source, scopes)]

    def warnings(self, memory: Memory) -> tuple[str, ...]:
        """Say what the index of a mirrored folder will have too much of with the line of a memory just written."""
        sources = self._context.store.documents.sources()
        mirrored = [one for one in sources if one.mode is SourceMode.MIRROR and one.scope == memory.scope]
        if not mirrored:
            return ()  # whoever mirrors nothing has nothing loaded for it
        from zapomni.services.vault.keep import index_warnings

        return tuple(
            warning for source in mirrored for warning in index_warnings(self._context, source, memory, self._settings)
        )

    # --- the index and the health of a folder -----------------------------------------------------------
    def report(
        self, folder: str | None = None, *, scopes: Sequence[str] = (), counts: Sequence[str] = ()
    ) -> list[Report]:
        """Look at one folder, mirrored or not, or at each that is mirrored; nothing is written.

        `counts` are the owner's own numbers of records, each as `DATE=NUMBER`; without them notes are counted from
        the day on which each was first known.
        """
        from zapomni.services.vault.counts import parse_counts
        from zapomni.services.vault.folder import births
        from zapomni.services.vault.report import vault_report

        told = parse_counts(counts, self._zone)
        return [
            vault_report(
                read,
                self._settings,
                now=self._context.clock(),
                zone=self._zone,
                born=births(self._context, source) if source is not None else {},
                counts=told,
            )
            for read, source in self._folders(folder, scopes)
        ]

    def plan(self, folder: str | None = None, *, scopes: Sequence[str] = ()) -> list[Plan]:
        """Say what a cut would make of the index of one folder, or of each that is mirrored; nothing is written."""
        from zapomni.services.vault.plan import plan_cut

        return [plan_cut(read) for read, _ in self._folders(folder, scopes)]

    def cut(self, folder: str, *, scopes: Sequence[str] = ()) -> Written:
        """Cut the index of a folder as `plan` says; `restore` takes it back."""
        from zapomni.services.vault.plan import apply_cut

        (plan,) = self.plan(folder, scopes=scopes)
        return apply_cut(self._context, plan, actor=self._actor)

    def restore(self, folder: str, *, scopes: Sequence[str] = ()) -> Written:
        """Put the index of a folder back to what it was before its latest cut."""
        from zapomni.services.vault.plan import restore_cut

        ((read, _),) = self._folders(folder, scopes)
        return restore_cut(self._context, read.root, actor=self._actor)

    def compact(
        self, source: str | None = None, *, scopes: Sequence[str] = (), dry_run: bool = False
    ) -> list[Compaction]:
        """Propose shorter lines and merged copies of one mirrored folder, or of each; `dry_run` files nothing."""
        from zapomni.services.vault.compact import compaction, file_proposals

        done = []
        for read, found in self._folders(source, scopes):
            if found is None:
                remedy = f"`zapomni source add {source} --mode mirror --scope SCOPE` attaches it"
                raise Refused(f"{read.root} is not mirrored, so nothing can be proposed for it", remedy=remedy)
            came = compaction(self._context, found, read)
            done.append(came if dry_run else file_proposals(self._context, came, read, actor=self._actor))
        return done

    def _folders(self, name: str | None, scopes: Sequence[str]) -> list[tuple[Folder, Source | None]]:
        """Return a folder by the name of its source or by its path, or every mirrored one."""
        from zapomni.services.documents.sources import real_root
        from zapomni.services.vault.folder import NOTES, read_folder

        try:
            found: list[Source] = self._mirrored(name, scopes or (EVERY,))
        except NotFound:
            found = []
        if name is None or found:
            return [(read_folder(one.root, include=one.include or NOTES, exclude=one.exclude), one) for one in found]
        root = real_root(Path(name))
        if not isdir(root):  # noqa: PTH112 - Path.is_dir raises for a name that is too long
            remedy = "Name a mirrored source as `zapomni source list` shows it, or a folder of notes"
            raise NotFound(f"there is no folder {root}", remedy=remedy)
        return [(read_folder(str(root)), None)]

    def _mirrored(self, source: str | None, scopes: Sequence[str]) -> list[Source]:
        from zapomni.services.documents.sources import wanted_sources

        found = wanted_sources(self._context, source, self._scopes(scopes))
        return [one for one in found if one.mode is SourceMode.MIRROR]

    def _scopes(self, asked: Sequence[str]) -> tuple[Scope, ...]:
        return scopes_to_read(self._context, asked)
