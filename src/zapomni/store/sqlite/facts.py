"""What the usual filter asks of a memory, column by column beside the rows of a matrix."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from zapomni.model import Trust
from zapomni.record import read_stamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FACTS: Final = "p.seq, p.memory_no, m.scope_no, m.trust, m.deleted_at, m.valid_from, m.valid_until"
"""The columns of `pieces p` and `memories m` that a row is made of."""

SHOWN, SUPERSEDED, HIDDEN, GONE = range(4)

_ALWAYS: Final = (np.iinfo(np.int64).min, np.iinfo(np.int64).max)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES: Final = (np.int64, np.int64, np.int32, np.int8, np.int64, np.int64)
_ROOM: Final = 4_096


class Facts:
    """Rows in the order of `pieces.seq`. A row that is gone keeps its place, so that rows never move."""

    def __init__(self) -> None:
        self.count = 0
        self.timed = False
        """Whether any row has a beginning or an end."""
        self._columns: list[NDArray[Any]] = [np.empty(0, kind) for kind in _TYPES]

    @property
    def seq(self) -> NDArray[np.int64]:
        """The number of each piece, ascending."""
        return self._columns[0][: self.count]

    @property
    def no(self) -> NDArray[np.int64]:
        """The number of each piece's memory."""
        return self._columns[1][: self.count]

    @property
    def scope(self) -> NDArray[np.int32]:
        """The number of each memory's scope."""
        return self._columns[2][: self.count]

    @property
    def state(self) -> NDArray[np.int8]:
        """`SHOWN`, `SUPERSEDED`, `HIDDEN` (deleted or rejected) or `GONE`."""
        return self._columns[3][: self.count]

    def holding(self, nos: Sequence[int]) -> NDArray[np.bool_]:
        """Mark the rows of these memories."""
        table = np.zeros(int(self.no.max(initial=0)) + 1, np.bool_)
        wanted = np.asarray(nos, np.int64)
        table[wanted[wanted < len(table)]] = True
        marks: NDArray[np.bool_] = table[self.no]
        return marks

    def usual(self, scopes: Sequence[int] | None, at: datetime) -> NDArray[np.bool_]:
        """Mark what the usual filter shows of these scopes, None for all; superseded rows are left to the caller."""
        marks: NDArray[np.bool_] = self.state <= SUPERSEDED
        if scopes is not None:
            seen = np.zeros(self.count, np.bool_)
            for scope in scopes:
                seen |= self.scope == scope
            marks &= seen
        if self.timed:
            instant = _micros(at)
            marks &= self._columns[4][: self.count] <= instant
            marks &= self._columns[5][: self.count] > instant
        return marks

    def append(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows of `FACTS`; what stands behind those columns is passed over."""
        end = self.count + len(rows)
        if end > len(self._columns[0]):
            self._grow(max(_ROOM, end + end // 4))
        for column, values in zip(self._columns, zip(*map(self._read, rows), strict=True), strict=True):
            column[self.count : end] = values
        self.count = end

    def put_back(self, row: Sequence[Any]) -> None:
        """Bring a row that is here already to what it is now."""
        at = int(np.searchsorted(self.seq, row[0]))
        for column, value in zip(self._columns, self._read(row), strict=True):
            column[at] = value

    def _grow(self, room: int) -> None:
        for at, column in enumerate(self._columns):
            grown = np.empty(room, column.dtype)
            grown[: self.count] = column[: self.count]
            self._columns[at] = grown

    def _read(self, row: Sequence[Any]) -> tuple[int, int, int, int, int, int]:
        seq, no, scope_no, trust, deleted_at, valid_from, valid_until = row[:7]
        if deleted_at is not None or trust == Trust.REJECTED.value:
            state = HIDDEN
        else:
            state = SUPERSEDED if trust == Trust.SUPERSEDED.value else SHOWN
        if valid_from is None and valid_until is None:
            return seq, no, scope_no, state, *_ALWAYS
        self.timed = True
        since = _ALWAYS[0] if valid_from is None else _micros(read_stamp(valid_from))
        until = _ALWAYS[1] if valid_until is None else _micros(read_stamp(valid_until))
        return seq, no, scope_no, state, since, until


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)
