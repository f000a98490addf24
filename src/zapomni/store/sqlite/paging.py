"""Pages: the place after which the next one begins, in a form that nobody can make up."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.errors import InvalidInput
from zapomni.model import Page
from zapomni.store.sqlite.condition import TIMELINE
from zapomni.store.sqlite.connection import rows_of, value_of
from zapomni.store.sqlite.rows import SELECT_MEMORY, memory_of

if TYPE_CHECKING:
    import apsw

    from zapomni.store.sqlite.condition import Condition

_SELECT: Final = SELECT_MEMORY.replace("memories m JOIN", f"{TIMELINE} CROSS JOIN")
_SEAL: Final = 8
"""Bytes by which a cursor is known as ours."""


class Place(NamedTuple):
    """The last memory of a page, in the order of pages."""

    created_at: str
    no: int


def page(db: apsw.Connection, condition: Condition, limit: int, cursor: str | None) -> Page:
    """Return one page, newest first, and of equal times the last written first.

    What is written between two pages stands before them, so no memory comes twice and none is left out.
    Raises `InvalidInput` for a cursor that no page of this store gave.
    """
    if limit < 1:
        raise InvalidInput("limit", f"{limit} is less than 1")
    key: bytes = value_of(db, "SELECT value FROM meta WHERE name = 'store'")
    total = value_of(db, f"SELECT count(*) FROM {TIMELINE} WHERE {condition.sql}", condition.values)
    after = ""
    values = {**condition.values, "count": limit + 1}
    if cursor is not None:
        place = _unseal(cursor, key)
        after = " AND (m.created_at, m.no) < (:page_at, :page_no)"
        values |= {"page_at": place.created_at, "page_no": place.no}
    order = "ORDER BY m.created_at DESC, m.no DESC LIMIT :count"
    rows = rows_of(db, f"{_SELECT} WHERE {condition.sql}{after} {order}", values)
    memories = tuple(memory_of(row) for row in rows[:limit])
    following = None
    if len(rows) > limit:
        following = _seal(Place(_created_at(db, rows[limit - 1][0]), rows[limit - 1][0]), key)
    return Page(memories=memories, total=total, next=following)


def _created_at(db: apsw.Connection, no: int) -> str:
    return str(value_of(db, "SELECT created_at FROM memories WHERE no = ?", (no,)))


def _seal(place: Place, key: bytes) -> str:
    text = json.dumps(place).encode()
    return base64.urlsafe_b64encode(_mark(text, key) + text).decode().rstrip("=")


def _unseal(cursor: str, key: bytes) -> Place:
    try:
        sealed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars="-_", validate=True)
        if sealed[:_SEAL] == _mark(sealed[_SEAL:], key):
            return Place(*json.loads(sealed[_SEAL:]))
    except (binascii.Error, ValueError):
        pass
    raise InvalidInput("cursor", "it is not one that a page of this store gave", remedy="Begin again without a cursor")


def _mark(text: bytes, key: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(text, key=key, digest_size=_SEAL).digest()
