"""The review inbox in one SQLite file; `store.proposals` says what each method promises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from zapomni.model.proposal import Proposal, ProposalKind, ProposalState
from zapomni.record import read_stamp, stamp
from zapomni.store.sqlite.connection import column_of, rows_of
from zapomni.store.sqlite.rows import IN_SCOPES, dumps, listed_scopes, scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import apsw

    from zapomni.model import Scope
    from zapomni.store.sqlite.connection import Connections

_SELECT: Final = (
    "SELECT p.id, p.kind, s.kind, s.name, p.memories, p.reason, p.detail, p.created_at, p.actor, p.state,"
    " p.decided_at, p.decided_by, p.answer, p.run FROM proposals p JOIN scopes s ON s.no = p.scope_no"
)


class SqliteProposalWrites:
    """The writes of the inbox in an open transaction."""

    def __init__(self, db: apsw.Connection, scope_no: Callable[[Scope], int]) -> None:
        self._db = db
        self._scope_no = scope_no

    def file(self, proposal: Proposal, mark: bytes) -> bool:
        """Keep a new proposal; False when one of this mark is open, or was rejected, and nothing is kept."""
        self._db.execute(
            "INSERT INTO proposals"
            " (id, kind, scope_no, memories, reason, detail, mark, created_at, actor, state, answer)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (mark) WHERE state <> 'accepted' DO NOTHING",
            (
                *(proposal.id, proposal.kind.value, self._scope_no(proposal.scope), dumps(list(proposal.memories))),
                *(proposal.reason, dumps(dict(proposal.detail)), mark, stamp(proposal.created_at), proposal.actor),
                *(ProposalState.OPEN.value, ""),
            ),
        )
        return bool(self._db.changes())

    def decide(
        self, proposal_id: str, state: ProposalState, *, at: datetime, by: str, answer: str, run: str | None = None
    ) -> bool:
        """Say what became of an open proposal; False when it is not open any more, and nothing changes."""
        self._db.execute(
            "UPDATE proposals SET state = ?, decided_at = ?, decided_by = ?, answer = ?, run = ?"
            " WHERE id = ? AND state = 'open'",
            (state.value, stamp(at), by, answer, run, proposal_id),
        )
        return bool(self._db.changes())

    def reopen(self, run: str) -> None:
        """Let what was accepted in a run wait again, but for what was filed anew since."""
        self._db.execute(
            "UPDATE OR IGNORE proposals"
            " SET state = 'open', decided_at = NULL, decided_by = NULL, answer = '', run = NULL"
            " WHERE run = ? AND state = 'accepted'",
            (run,),
        )

    def forget(self, memory_id: str) -> None:
        """Let go of every proposal about an erased memory: its reason and detail may repeat the text."""
        self._db.execute(
            "DELETE FROM proposals WHERE EXISTS (SELECT 1 FROM json_each(memories) WHERE value = ?)", (memory_id,)
        )


class SqliteProposals:
    """What one SQLite file holds of the review inbox."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def get(self, proposal_id: str) -> Proposal | None:
        """Return one proposal."""
        return next(iter(self._proposals("p.id = ?", (proposal_id,))), None)

    def match_id(self, prefix: str, scopes: Sequence[Scope], limit: int = 10) -> list[str]:
        """Return the ids of these scopes that begin with `prefix`; an exact id alone when there is one."""
        sql = (
            "SELECT p.id FROM proposals p JOIN scopes s ON s.no = p.scope_no"
            f" WHERE {IN_SCOPES} AND substr(p.id, 1, length(?2)) = ?2 ORDER BY p.id <> ?2, p.id LIMIT ?3"
        )
        with self._db.reading() as db:
            found = column_of(db, sql, (listed_scopes(scopes), prefix, limit))
        return [prefix] if prefix in found else found

    def listed(
        self,
        scopes: Sequence[Scope],
        *,
        states: Sequence[ProposalState],
        kinds: Sequence[ProposalKind] = (),
        limit: int,
    ) -> list[Proposal]:
        """Return proposals of some scopes, oldest first; no kinds are every kind."""
        condition = (
            f"{IN_SCOPES} AND p.state IN (SELECT value FROM json_each(?2))"
            " AND (?3 = '[]' OR p.kind IN (SELECT value FROM json_each(?3))) ORDER BY p.no LIMIT ?4"
        )
        return self._proposals(condition, (listed_scopes(scopes), dumps(list(states)), dumps(list(kinds)), limit))

    def _proposals(self, condition: str, values: tuple[Any, ...]) -> list[Proposal]:
        with self._db.reading() as db:
            rows = rows_of(db, f"{_SELECT} WHERE {condition}", values)
        return [_proposal_of(row) for row in rows]


def _proposal_of(row: tuple[Any, ...]) -> Proposal:
    proposal_id, kind, scope_kind, name, memories, reason, detail, created_at, actor, state, at, by, answer, run = row
    return Proposal(
        id=proposal_id,
        kind=ProposalKind(kind),
        scope=scope_of(scope_kind, name),
        memories=tuple(json.loads(memories)),
        reason=reason,
        detail=json.loads(detail),
        created_at=read_stamp(created_at),
        actor=actor,
        state=ProposalState(state),
        decided_at=read_stamp(at) if at is not None else None,
        decided_by=by,
        answer=answer,
        run=run,
    )
