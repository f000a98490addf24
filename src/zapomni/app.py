"""The library's public object: every verb of a memory as one method."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from zapomni.model import PAGE_LIMIT, RECALL_LIMIT, By, Filter, Mode, Query, Status
from zapomni.parts import Parts
from zapomni.services.scopes import scope_to_write, scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from zapomni.exchange.entries import Exported, Format, Imported, ImportMode
    from zapomni.exchange.git import GitExported
    from zapomni.model import Actor, Link, Memory, Outcome, Page, Recollection, Revision, Scope
    from zapomni.services.backup import BackedUp, Restored
    from zapomni.services.history import Undone
    from zapomni.services.revise import Deletions
    from zapomni.store.base import Check, Stats


class Zapomni(Parts):
    """One durable memory; open it with `zapomni.open()` and close it, or use it in a `with` statement.

    Safe to use from many threads; any number of processes may have the same store open. Values may be given
    as text where `services.parse` can read them (dates, kinds, lists). Every method raises only
    `zapomni.errors.ZapomniError`.
    """

    # --- the verbs --------------------------------------------------------------------------------------
    def remember(self, content: str, *, scope: str | None = None, actor: Actor | None = None, **fields: Any) -> Outcome:
        """Store one memory; `fields` are those of `model.Draft`.

        Its words are searchable at once, its vector follows. Raises `InvalidInput`.
        """
        from zapomni.services.parse import parse_draft, with_days
        from zapomni.services.remember import remember

        target, warnings = scope_to_write(self.context, scope)
        values = with_days({"content": content, **fields}, now=self._clock(), zone=self.zone)
        draft = parse_draft(values, zone=self.zone, scope=target)
        return self._woken(remember(self.context, draft, actor=actor or self.actor, warnings=warnings))

    def recall(
        self,
        text: str,
        *,
        scopes: Sequence[str] = (),
        limit: int | None = None,
        mode: Mode | str = Mode.HYBRID,
        by: By | str = By.TEXT,
        strict: bool = False,
        budget: int | None = None,
        with_docs: bool = False,
        explain: bool = False,
        **where: Any,
    ) -> Recollection:
        """Return the memories that answer a question, best first; `where` holds the fields of a filter.

        `by` description looks at titles and descriptions alone, of at most 2,000 memories.
        `with_docs` searches the documents too: the best of both share limit and budget. `explain` has an empty answer
        say why it is (`Recollection.explanations`).
        """
        from zapomni.services.parse import parse_choice, parse_whole
        from zapomni.services.recall import recall

        usual = self.config.recall
        query = Query(
            text=str(text),
            where=self.filter(scopes, where),
            limit=parse_whole("limit", limit, usual.limit, low=1, high=RECALL_LIMIT),
            mode=parse_choice("mode", mode, Mode, Mode.HYBRID),
            by=parse_choice("by", by, By, By.TEXT),
            strict=strict,
            budget=parse_whole("budget", budget, usual.budget or 0, low=0, high=10**9) or None,
            explain=explain,
        )
        asked: dict[str, Any] = {"scopes": scopes, "limit": query.limit, "mode": query.mode, "strict": strict}
        asked["explain"] = explain
        beside = partial(self.documents.search, query.text, **asked, tags=query.where.tags) if with_docs else None
        return recall(self.context, self.embedding, query, beside)

    def show(self, memory_id: str, *, scopes: Sequence[str] = ()) -> tuple[Memory, list[Link]]:
        """Return one memory whole with its links; a unique beginning of its id is enough."""
        from zapomni.services.listing import show

        return show(self.context, memory_id, scopes=self.scopes(scopes))

    def list(
        self, *, scopes: Sequence[str] = (), limit: int | None = None, cursor: str | None = None, **where: Any
    ) -> Page:
        """Return one page of memories, newest first."""
        from zapomni.services.listing import list_memories
        from zapomni.services.parse import parse_whole

        size = parse_whole("limit", limit, 20, low=1, high=PAGE_LIMIT)
        return list_memories(self.context, self.filter(scopes, where), limit=size, cursor=str(cursor or "") or None)

    def update(
        self,
        memory_id: str,
        *,
        scopes: Sequence[str] = (),
        move_to: str | None = None,
        version: int | None = None,
        actor: Actor | None = None,
        **fields: Any,
    ) -> Outcome:
        """Change some fields of a memory; `version` makes a lost update an error that shows both."""
        from zapomni.services.parse import parse_patch, with_days
        from zapomni.services.revise import update

        target = scope_to_write(self.context, move_to)[0] if move_to else None
        values = with_days(fields, now=self._clock(), zone=self.zone)
        patch = parse_patch(values, zone=self.zone, scope=target)
        outcome = update(
            self.context,
            memory_id,
            patch,
            scopes=self.scopes(scopes),
            actor=actor or self.actor,
            version=version,
        )
        return self._woken(outcome)

    def delete(
        self,
        memory_id: str,
        *,
        scopes: Sequence[str] = (),
        erase: bool = False,
        never: str | None = None,
        actor: Actor | None = None,
    ) -> Outcome:
        """Delete a memory recoverably, or with `erase` for good; `never` refuses its content from now on."""
        from zapomni.services.revise import delete
        from zapomni.services.revise import erase as erase_for_good

        seen, who = self.scopes(scopes), actor or self.actor
        if erase:
            return erase_for_good(self.context, memory_id, scopes=seen, actor=who)
        return delete(self.context, memory_id, scopes=seen, actor=who, never=never)

    def deletable(self, *, scopes: Sequence[str] = (), erase: bool = False, **where: Any) -> Sequence[Memory]:
        """Return what a deletion by this filter takes: what `list` shows, with `erase` also what was deleted before."""
        from zapomni.services.listing import deletable

        return deletable(self.context, self.filter(scopes, where), for_good=erase)

    def delete_many(
        self, ids: Sequence[str], *, scopes: Sequence[str] = (), erase: bool = False, never: str | None = None
    ) -> Deletions:
        """Delete several memories as one run, which `undo_run` takes back; an error stands in its memory's place."""
        from zapomni.services.revise import delete_many

        seen = self.scopes(scopes)
        return delete_many(self.context, ids, scopes=seen, actor=self.actor, for_good=erase, never=never)

    def history(self, memory_id: str, *, scopes: Sequence[str] = ()) -> tuple[Memory | None, Sequence[Revision]]:
        """Return a memory with its revisions, oldest first; deleted ones too, None for an erased one."""
        from zapomni.services.history import history

        return history(self.context, memory_id, scopes=self.scopes(scopes))

    def undo(
        self, memory_id: str, *, scopes: Sequence[str] = (), to: int | None = None, actor: Actor | None = None
    ) -> Undone:
        """Take back the latest change of a memory, or bring it to what it was after revision `to`."""
        from zapomni.services.history import undo

        return undo(self.context, memory_id, scopes=self.scopes(scopes), to=to, actor=actor or self.actor)

    def undo_run(self, run: str, *, actor: Actor | None = None) -> Undone:
        """Take back every change of a run; memories changed since are named and left alone."""
        from zapomni.services.history import undo_run

        return undo_run(self.context, run, actor=actor or self.actor)

    def stats(self, *, scopes: Sequence[str] = (), **where: Any) -> Stats:
        """Count memories and measure the store."""
        from zapomni.services.listing import stats

        return stats(self.context, self.filter(scopes, where))

    def check(self) -> Sequence[Check]:
        """Look at the store's health."""
        return self.store.check()

    def doctor(self, *, repair: bool = False) -> Sequence[Check]:
        """Look at settings, store and vectors; `repair` builds anew what is derived."""
        from zapomni.services.doctor import doctor

        return doctor(self.config, lambda: self.store, lambda: self.embedding, repair=repair)

    # --- files ------------------------------------------------------------------------------------------
    def export(
        self,
        target: str | Path | BinaryIO,
        *,
        form: Format | str = "zapomni",
        history: bool = False,
        scopes: Sequence[str] = (),
    ) -> Exported:
        """Write the memories of some scopes, or of all, to a file or stream: one state, while others write."""
        from zapomni.exchange.exporting import export, read_form

        self.context.touches.flush()
        with self.store_file.snapshot(self.scopes(scopes) if scopes else ()) as snapshot:
            written = export(snapshot, target, read_form(form), clock=self._clock, history=history)
        apart = sum(listed.changes for listed in self.versions.branches())
        on_branches = (f"{apart:,} on branches, until they are merged",) if apart else ()
        return replace(written, not_carried=(*written.not_carried, *on_branches))

    def export_git(self, folder: str | Path, *, scopes: Sequence[str] = (), force: bool = False) -> GitExported:
        """Bring a git repository to the whole history of some scopes, or of all."""
        from zapomni.exchange.git import export_git
        from zapomni.services.parse import parse_path

        place, wanted = parse_path("git", folder), self.scopes(scopes) if scopes else ()
        with self.store_file.snapshot() as snapshot:
            return export_git(snapshot, place, wanted, force=force)

    def import_(
        self,
        source: str | Path | BinaryIO,
        *,
        mode: ImportMode | str = "merge",
        form: Format | str | None = None,
        scope: str | None = None,
        dry_run: bool = False,
        actor: Actor | None = None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> Imported:
        """Bring the memories of a file or stream in; `scope` is for those that name none."""
        from zapomni.exchange.importing import import_file, read_wish
        from zapomni.services.branching.fork import refuse_on_branch

        refuse_on_branch(self.context, "import")
        target = scope_to_write(self.context, scope)[0]
        wish = read_wish(self.zone, actor or self.actor, mode=mode, form=form, scope=target, dry_run=dry_run)
        came = import_file(self.context, source, wish, progress=progress)
        self.wake()
        return came

    def backup(self, path: str | Path, *, force: bool = False) -> BackedUp:
        """Write a whole copy of the store while it is in use, and check it."""
        from zapomni.services.backup import backup
        from zapomni.services.parse import parse_path

        place = parse_path("path", path)
        self.context.touches.flush()
        return backup(self.store, self.store_file, place, force=force)

    def restore(self, path: str | Path, *, verify: bool = False, force: bool = False) -> Restored:
        """Check a backup and bring the store to its content; `verify` only checks."""
        from zapomni.services.backup import restore
        from zapomni.services.parse import parse_path

        return restore(self.store_file, parse_path("path", path), clock=self._clock, verify=verify, force=force)

    # --- what surfaces need beside the verbs ------------------------------------------------------------
    def scopes(self, asked: Sequence[str] = ()) -> tuple[Scope, ...]:
        """Return the scopes that a read sees."""
        return scopes_to_read(self.context, asked)

    def filter(self, scopes: Sequence[str], where: Mapping[str, Any]) -> Filter:
        """Read a filter from plain values inside the scopes that may be seen."""
        from zapomni.services.parse import parse_filter

        return parse_filter(where, scopes=self.scopes(scopes), now=self._clock(), zone=self.zone)

    def _woken(self, outcome: Outcome) -> Outcome:
        """Have the worker look at what was written; where vectors are switched off, none is waited for."""
        self.wake()
        if outcome.memory is not None and outcome.status in {Status.CREATED, Status.UPDATED}:
            outcome = replace(outcome, warnings=(*outcome.warnings, *self.vaults.warnings(outcome.memory)))
        return outcome if self.embedding.wanted is not None else replace(outcome, waiting=False)
