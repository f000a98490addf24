"""Schema changes: numbered SQL files, applied in order, each in one transaction with the record of it.

A change is a file `NNNN_name.sql` of a dialect's folder. It is never edited once released: its hash is kept
in the store and compared. There is no way back but the copy that is taken before a store with memories changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from zapomni.errors import StoreDamaged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Change(Struct, frozen=True, kw_only=True):
    """One step of the schema: its number (from 1), name, SQL and the hash of that SQL."""

    no: int
    name: str
    sql: str
    hash: str


class Ledger(Protocol):
    """A store as seen by its migrations."""

    def recorded(self) -> Mapping[int, str]:
        """Return number and hash of every change that the store has had; empty for a new store."""

    def back_up(self, no: int) -> None:
        """Copy the store, unless it is empty, to a file beside it before change `no` is applied."""

    def apply(self, change: Change) -> None:
        """Apply a change and record it in one transaction; one that is recorded already is passed over."""


def read_changes(folder: Path) -> tuple[Change, ...]:
    """Return the changes of a folder in order.

    Raises `ValueError` when the numbers are not 1, 2, 3 and so on.
    """
    from hashlib import blake2b

    changes = []
    for file in sorted(folder.glob("*.sql")):
        number, _, name = file.stem.partition("_")
        sql = file.read_text(encoding="utf-8")
        changes.append(
            Change(no=int(number), name=name, sql=sql, hash=blake2b(sql.encode(), digest_size=16).hexdigest())
        )
    if [change.no for change in changes] != list(range(1, len(changes) + 1)):
        raise ValueError(f"the changes in {folder} are not numbered 1 to {len(changes)}")
    return tuple(changes)


def pending(changes: Sequence[Change], recorded: Mapping[int, str]) -> list[Change]:
    """Return the changes that a store has not had yet.

    Raises `StoreDamaged` for a store written by a newer version or by changed files.
    """
    latest = max(recorded, default=0)
    if latest > len(changes):
        raise StoreDamaged(
            f"the store has schema {latest}, this version of zapomni knows {len(changes)}",
            remedy="Use the zapomni that wrote it, or a newer one; nothing was changed",
        )
    known = {change.no: change.hash for change in changes[:latest]}
    if known != dict(recorded):
        odd = sorted(no for no in known if recorded.get(no) != known[no])
        raise StoreDamaged(
            f"schema change {odd[0]} of the store is not the one this version of zapomni knows",
            remedy="Use the zapomni that wrote it; nothing was changed",
        )
    return list(changes[latest:])


def migrate(ledger: Ledger, changes: Sequence[Change]) -> int:
    """Bring a store to the newest schema and return how many changes that took.

    Raises what `pending` raises; a change that fails leaves the store at the one before it.
    """
    recorded = ledger.recorded()
    todo = pending(changes, recorded)
    if todo and recorded:
        ledger.back_up(todo[0].no)
    for change in todo:
        ledger.apply(change)
    return len(todo)
