"""The writes of one transaction: each revision with everything that follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import apsw

from zapomni.errors import Conflict
from zapomni.model import SpaceState
from zapomni.record import stamp, to_record
from zapomni.store.sqlite import derived
from zapomni.store.sqlite.connection import value_of
from zapomni.store.sqlite.rows import (
    INSERT_MEMORY,
    SELECT_MEMORY,
    UPDATE_MEMORY,
    dumps,
    memory_of,
    rejection_of,
    reserved,
    stamped,
    values_of,
)
from zapomni.text.fold import digest
from zapomni.text.indexed import found_by
from zapomni.text.words import memory_words, word_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from zapomni.model import Actor, Link, Memory, Rejection, Run, Scope, Verb
    from zapomni.store.sqlite.branches import SqliteBranchWrites
    from zapomni.store.sqlite.lessons import SqliteLessonWrites
    from zapomni.store.sqlite.mirrors import SqliteMirrorWrites
    from zapomni.store.sqlite.misses import SqliteMissWrites
    from zapomni.store.sqlite.proposals import SqliteProposalWrites
    from zapomni.store.sqlite.readings import SqliteReadingWrites
    from zapomni.text.indexed import Indexed
    from zapomni.text.words import IndexWords

_INSERT_REVISION: Final = (
    "INSERT INTO revisions (memory_no, memory_id, verb, at, actor, run, before, undoes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_BY_ID: Final = f"{SELECT_MEMORY} WHERE m.id = ?"
_BY_KEY: Final = f"{SELECT_MEMORY} WHERE m.scope_no = ? AND m.key = ?"
_BY_NO: Final = f"{SELECT_MEMORY} WHERE m.no = ?"
_TWIN: Final = (
    "SELECT no FROM memories WHERE scope_no = ? AND digest = ? AND deleted_at IS NULL"
    " ORDER BY trust IN ('superseded', 'rejected'), no LIMIT 1"
)
"""Nearly every text is new, which costs half as much to find out as asking for the whole row."""
_BLANK_READINGS: Final = (
    "UPDATE readings SET text = substr(text, 1, s.start) || replace(hex(zeroblob(s.\"end\" - s.start)), '00', '_')"
    ' || substr(text, s."end" + 1) FROM reading_spans s WHERE s.reading_no = readings.no AND s.memory_no = ?'
)
"""Takes an erased memory's words out of the text they stand in; the places of others in it hold."""
_LISTED_LINKS: Final = "SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)"
_TOGETHER: Final = 1_000
"""Most memories whose words wait to be indexed: a whole import may be one transaction."""
_AGAIN: Final = "Read it again and repeat the change"


class SqliteTx:
    """An open write transaction of one store; `base.Tx` says what each method promises."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._scopes: dict[Scope, int] = {}
        self._spaces: list[int] | None = None
        self._refuses: bool | None = None  # whether anything was ever refused; most stores never refuse
        self.erased = False
        """Whether something was erased, so that its traces must be cleared from the log after the commit."""
        self.first = False
        """Whether the store was empty before."""
        self._unindexed: list[tuple[int, IndexWords]] = []
        self._meanwhile: Callable[[], None] | None = None

    def settle(self) -> None:
        """Index the words of what was added; one by one they make an import an eighth dearer."""
        if self._unindexed:
            derived.add_words(self._db, self._unindexed)
            self._unindexed.clear()

    def finish(self) -> None:
        """Do what is left before the commit."""
        if self._meanwhile is not None:
            self._meanwhile()
        self.settle()

    # --- memories --------------------------------------------------------------------------------------
    def put(
        self,
        before: Memory | None,
        after: Memory | None,
        *,
        verb: Verb,
        actor: Actor,
        at: datetime,
        run: str | None = None,
        undoes: int | None = None,
        indexed: Indexed | None = None,
    ) -> int:
        """Write one revision with everything that follows from it and return its number."""
        was = None
        if after is not None:
            no = self._change(before, after) if before is not None else self._add(after, indexed or found_by(after))
            memory_id = after.id
            was = dumps(to_record(before)) if before is not None else None
        elif before is not None:
            no, memory_id = self._erase(before), before.id
        else:
            raise ValueError("a revision needs a memory before or after it")
        self._db.execute(_INSERT_REVISION, (no, memory_id, verb.value, stamped(at), actor.name, run, was, undoes))
        seq = self._db.last_insert_rowid()
        self.first = self.first or seq == 1
        return seq

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory as this transaction sees it, deleted ones too."""
        return self._one(_BY_ID, (memory_id,))

    def find_digest(self, scope: Scope, digest: bytes) -> Memory | None:
        """Return the undeleted memory of this content; of several, one that is still believed, then the oldest."""
        no = value_of(self._db, _TWIN, (self._known(scope), digest))
        return self._one(_BY_NO, (no,)) if no is not None else None

    def find_key(self, scope: Scope, key: str) -> Memory | None:
        """Return the memory of the scope stored under this idempotency key, deleted ones too."""
        return self._one(_BY_KEY, (self._known(scope), key))

    # --- rejections, links, runs, scopes ---------------------------------------------------------------
    def rejection(self, scope: Scope, digest: bytes) -> Rejection | None:
        """Return the refusal that stands against this content in this scope."""
        if self._refuses is None:
            self._refuses = value_of(self._db, "SELECT 1 FROM rejections LIMIT 1") is not None
        if not self._refuses:
            return None
        sql = "SELECT digest, reason, at, actor FROM rejections WHERE scope_no = ? AND digest = ?"
        for row in self._db.execute(sql, (self._known(scope), digest)):
            return rejection_of(scope, row)
        return None

    def rejected_by(self, rejection: Rejection) -> str | None:
        """Return the id of the memory whose deletion refused this content, None where it is there no more."""
        sql = "SELECT id FROM memories WHERE scope_no = ? AND digest = ? AND deleted_at = ? LIMIT 1"
        mark = bytes.fromhex(rejection.digest)
        found = value_of(self._db, sql, (self._known(rejection.scope), mark, stamp(rejection.at)))
        return None if found is None else str(found)

    def reject(self, rejection: Rejection) -> None:
        """Remember a refused value; a second time changes nothing."""
        self._refuses = True
        self._db.execute(
            "INSERT OR IGNORE INTO rejections (scope_no, digest, reason, at, actor) VALUES (?, ?, ?, ?, ?)",
            (
                self.scope_no(rejection.scope),
                bytes.fromhex(rejection.digest),
                rejection.reason,
                stamp(rejection.at),
                rejection.actor,
            ),
        )

    def lift_rejection(self, scope: Scope, digest: bytes) -> None:
        """Forget that a value was refused; one that was not is passed over."""
        self._db.execute("DELETE FROM rejections WHERE scope_no = ? AND digest = ?", (self._known(scope), digest))

    def meanwhile(self, work: Callable[[], None]) -> None:
        """Have work begun when all that is left to do is indexing and the commit, which need no interpreter."""
        self._meanwhile = work

    def link(self, links: Iterable[Link]) -> None:
        """Add links; those that exist already are left as they are."""
        self._db.execute(f"INSERT OR IGNORE INTO links (source, target, kind) {_LISTED_LINKS}", (_listed(links),))

    def unlink(self, links: Iterable[Link]) -> None:
        """Remove links; those that do not exist are passed over."""
        self._db.execute(f"DELETE FROM links WHERE (source, target, kind) IN ({_LISTED_LINKS})", (_listed(links),))

    @property
    def readings(self) -> SqliteReadingWrites:
        """The writes of the reading memory in this transaction."""
        from zapomni.store.sqlite.readings import SqliteReadingWrites

        return SqliteReadingWrites(self._db, self.scope_no)

    @property
    def proposals(self) -> SqliteProposalWrites:
        """The writes of the review inbox in this transaction."""
        from zapomni.store.sqlite.proposals import SqliteProposalWrites

        return SqliteProposalWrites(self._db, self.scope_no)

    @property
    def lessons(self) -> SqliteLessonWrites:
        """The writes of lessons in this transaction."""
        from zapomni.store.sqlite.lessons import SqliteLessonWrites

        return SqliteLessonWrites(self._db, self.scope_no)

    @property
    def misses(self) -> SqliteMissWrites:
        """The writes of misses in this transaction."""
        from zapomni.store.sqlite.misses import SqliteMissWrites

        return SqliteMissWrites(self._db)

    @property
    def mirrors(self) -> SqliteMirrorWrites:
        """The writes of mirrored folders in this transaction."""
        from zapomni.store.sqlite.mirrors import SqliteMirrorWrites

        return SqliteMirrorWrites(self._db)

    @property
    def branches(self) -> SqliteBranchWrites:
        """Branches of the memory in this transaction."""
        from zapomni.store.sqlite.branches import SqliteBranchWrites

        return SqliteBranchWrites(self._db)

    def start_run(self, run: Run) -> None:
        """Record that a batch of changes begins."""
        self._db.execute(
            "INSERT INTO runs (id, verb, actor, started_at, finished_at, detail) VALUES (?, ?, ?, ?, ?, ?)",
            (run.id, run.verb, run.actor, stamp(run.started_at), stamped(run.finished_at), dumps(dict(run.detail))),
        )

    def finish_run(self, run_id: str, at: datetime, detail: Mapping[str, object]) -> None:
        """Record that a batch of changes ended and what it came to."""
        self._db.execute(
            "UPDATE runs SET finished_at = ?, detail = ? WHERE id = ?", (stamp(at), dumps(dict(detail)), run_id)
        )

    def register_scope(self, scope: Scope, identity: str | None) -> None:
        """Make a scope known; `identity` ties a project to its repository, None leaves it as it is."""
        no = self.scope_no(scope)
        if identity is not None:
            self._db.execute("UPDATE scopes SET identity = ? WHERE no = ?", (identity, no))

    def reserve_scope(self, scope: Scope, identity: str) -> None:
        """Keep the name of a scope for a repository; it becomes known when something is first written to it."""
        if self._known(scope) is not None:
            self.register_scope(scope, identity)
        else:
            self._db.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (reserved(scope), identity))

    # --- inside ----------------------------------------------------------------------------------------
    def _add(self, memory: Memory, indexed: Indexed) -> int:
        columns = values_of(memory, indexed.digest)
        try:
            self._db.execute(INSERT_MEMORY, (self.scope_no(memory.scope), *columns))
        except apsw.ConstraintError as error:
            raise self._taken(memory) from error
        no = self._db.last_insert_rowid()
        derived.add_names(self._db, no, memory)
        if memory.deleted_at is None:
            self._unindexed.append((no, indexed.words))
            derived.add_jobs(self._db, no, self._open_spaces())
        if len(self._unindexed) >= _TOGETHER:
            self.settle()
        return no

    def _change(self, before: Memory, after: Memory) -> int:
        self.settle()
        columns = values_of(after, digest(after.content))
        values = (self.scope_no(after.scope), *columns, before.id, before.version)
        try:
            self._db.execute(UPDATE_MEMORY, values)
        except apsw.ConstraintError as error:
            raise self._taken(after) from error
        if not self._db.changes():
            raise self._moved_on(before, after)
        no: int = value_of(self._db, "SELECT no FROM memories WHERE id = ?", (after.id,))
        if (before.tags, before.entities) != (after.tags, after.entities):
            derived.drop_names(self._db, no)
            derived.add_names(self._db, no, after)
        self._change_words(no, before, after)
        if derived.embedded_text(before) != derived.embedded_text(after):
            derived.drop_vectors(self._db, no)
            derived.drop_jobs(self._db, no)
        if after.deleted_at is not None:
            derived.drop_jobs(self._db, no)
        else:
            derived.add_missing_jobs(self._db, no, self._open_spaces())
        return no

    def _change_words(self, no: int, before: Memory, after: Memory) -> None:
        was, is_now = before.deleted_at is None, after.deleted_at is None
        if was == is_now and (not is_now or word_fields(before) == word_fields(after)):
            return
        if was:
            derived.drop_words(self._db, no)
        if is_now:
            derived.add_words(self._db, [(no, memory_words(after))])

    def _erase(self, memory: Memory) -> int:
        self.settle()
        db = self._db
        no: int | None = value_of(
            db, "SELECT no FROM memories WHERE id = ? AND version = ?", (memory.id, memory.version)
        )
        if no is None:
            raise self._moved_on(memory, None)
        derived.drop_words(db, no)
        derived.drop_vectors(db, no)
        db.execute(_BLANK_READINGS, (no,))
        db.execute("UPDATE mirrored SET text = NULL WHERE memory_id = ?", (memory.id,))
        db.execute("DELETE FROM mirror_removed WHERE memory_id = ?", (memory.id,))
        db.execute("DELETE FROM mirror_lines WHERE memory_id = ?", (memory.id,))
        db.execute("DELETE FROM links WHERE source = ? OR target = ?", (memory.id, memory.id))
        self.proposals.forget(memory.id)
        db.execute("DELETE FROM description_vectors")  # all of them: they are made anew, and no text stands beside them
        db.execute("DELETE FROM memories WHERE no = ?", (no,))  # takes names, pieces and jobs with it
        db.execute("UPDATE revisions SET before = NULL WHERE memory_id = ?", (memory.id,))
        self.erased = True
        return no

    def _one(self, sql: str, values: tuple[Any, ...]) -> Memory | None:
        for row in self._db.execute(sql, values):
            return memory_of(row)
        return None

    def _known(self, scope: Scope) -> int | None:
        """Return the number of a scope, None for one that was never written."""
        no = self._scopes.get(scope)
        if no is None:
            sql = "SELECT no FROM scopes WHERE kind = ? AND name = ?"
            no = value_of(self._db, sql, (scope.kind.value, scope.name))
            if no is not None:
                self._scopes[scope] = no
        return no

    def scope_no(self, scope: Scope) -> int:
        """Return the number of a scope, made known when it is new."""
        no = self._known(scope)
        if no is None:
            sql = "INSERT INTO scopes (kind, name, identity) SELECT ?, ?, (SELECT value FROM meta WHERE name = ?)"
            self._db.execute(sql, (scope.kind.value, scope.name, reserved(scope)))
            no = self._scopes[scope] = self._db.last_insert_rowid()
            self._db.execute("DELETE FROM meta WHERE name = ?", (reserved(scope),))
        return no

    def _open_spaces(self) -> list[int]:
        if self._spaces is None:
            sql = "SELECT no FROM spaces WHERE state <> ?"
            self._spaces = [no for (no,) in self._db.execute(sql, (SpaceState.RETIRED.value,))]
        return self._spaces

    def _moved_on(self, before: Memory, wanted: Memory | None) -> Conflict:
        current = self.get(before.id)
        if current is None:
            return Conflict(f"memory {before.id} is no longer there", wanted=wanted, remedy="It was erased meanwhile")
        seen = f"memory {before.id} is at version {current.version}, not {before.version}"
        return Conflict(seen, current=current, wanted=wanted, remedy=_AGAIN)

    def _taken(self, memory: Memory) -> Conflict:
        holder = self.find_key(memory.scope, memory.key) if memory.key is not None else None
        if holder is not None and holder.id != memory.id:
            seen = f"the key {memory.key!r} of {memory.scope} is taken by memory {holder.id}"
            return Conflict(seen, current=holder, wanted=memory, remedy="Give another key")
        seen = f"the id {memory.id} is taken"
        return Conflict(seen, current=self.get(memory.id), wanted=memory, remedy=_AGAIN)


def _listed(links: Iterable[Link]) -> str:
    return dumps([(link.source, link.target, link.kind.value) for link in links])
