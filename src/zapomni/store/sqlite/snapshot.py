"""One state of a whole store, row by row, while others write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.model import Link, LinkKind
from zapomni.store.sqlite import read
from zapomni.store.sqlite.connection import value_of
from zapomni.store.sqlite.rows import (
    SELECT_MEMORY,
    SELECT_REVISION,
    SELECT_RUN,
    memory_of,
    rejection_of,
    revision_of,
    run_of,
    scope_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import apsw

    from zapomni.model import Memory, Rejection, Revision, Run, Scope

_LINKS: Final = (
    " FROM links l JOIN memories a ON a.id = l.source JOIN memories b ON b.id = l.target"
    " WHERE a.scope_no IN ({scopes}) AND b.scope_no IN ({scopes})"
)
_REVISIONS: Final = " WHERE r.memory_id IN (SELECT id FROM memories WHERE scope_no IN ({scopes}))"
_RUNS: Final = (
    " WHERE id IN (SELECT run FROM revisions WHERE memory_id IN (SELECT id FROM memories WHERE scope_no IN ({scopes})))"
)
_REJECTIONS: Final = (
    "SELECT s.kind, s.name, r.digest, r.reason, r.at, r.actor FROM rejections r JOIN scopes s ON s.no = r.scope_no"
    " WHERE r.scope_no IN ({scopes}) ORDER BY s.kind, s.name, r.digest"
)


class SqliteSnapshot:
    """What an open read transaction sees of some scopes, or of all; everything comes in the order it was stored."""

    def __init__(self, db: apsw.Connection, scopes: Sequence[Scope] = ()) -> None:
        self._db = db
        known = read.scopes(db)
        self._scopes = {scope: known[scope] for scope in known if not scopes or scope in scopes}
        self._runs, self._revisions = ("", "") if not scopes else (_RUNS, _REVISIONS)
        rows: Iterator[tuple[Any, ...]] = db.execute("SELECT no, kind, name FROM scopes")
        self._nos = ", ".join(str(no) for no, kind, name in rows if scope_of(kind, name) in self._scopes)

    def scopes(self) -> Mapping[Scope, str | None]:
        """Return the scopes with the repository that each is tied to."""
        return self._scopes

    def memories(self) -> Iterator[Memory]:
        """Yield every memory, deleted ones too."""
        for row in self._rows(f"{SELECT_MEMORY} WHERE m.scope_no IN ({{scopes}}) ORDER BY m.no"):
            yield memory_of(row)

    def links(self) -> Iterator[Link]:
        """Yield every link whose two ends are among the memories."""
        for source, target, kind in self._rows(
            f"SELECT l.source, l.target, l.kind{_LINKS} ORDER BY a.no, l.target, l.kind"
        ):
            yield Link(source=source, target=target, kind=LinkKind(kind))

    def runs(self) -> Iterator[Run]:
        """Yield every run; of some scopes, those that changed a memory there."""
        for row in self._rows(f"{SELECT_RUN}{self._runs} ORDER BY no"):
            yield run_of(row)

    def revisions(self) -> Iterator[Revision]:
        """Yield every revision; of some scopes, those of the memories there."""
        for row in self._rows(f"{SELECT_REVISION}{self._revisions} ORDER BY r.seq"):
            yield revision_of(row)

    def rejections(self) -> Iterator[Rejection]:
        """Yield every value that was refused."""
        for kind, name, *row in self._rows(_REJECTIONS):
            yield rejection_of(scope_of(kind, name), tuple(row))

    def counts(self, *, history: bool = False) -> dict[str, int]:
        """Count each of these; history counts as nothing when it is not asked for."""
        return {
            "scope": len(self._scopes),
            "memory": self._count(" FROM memories WHERE scope_no IN ({scopes})"),
            "link": self._count(_LINKS),
            "run": self._count(f" FROM runs{self._runs}") if history else 0,
            "revision": self._count(f" FROM revisions r{self._revisions}") if history else 0,
            "rejection": self._count(" FROM rejections WHERE scope_no IN ({scopes})"),
        }

    def _rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        return self._db.execute(sql.format(scopes=self._nos))

    def _count(self, rest: str) -> int:
        return int(value_of(self._db, f"SELECT count(*){rest.format(scopes=self._nos)}"))
