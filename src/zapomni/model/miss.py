"""Questions whose memory was not found."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class Miss(Struct, frozen=True, kw_only=True):
    """One question that did not find the memory that was meant.

    `expected` is the id of that memory and `found` are the ids that a recall gives instead, best first; the expected
    one is among them where the recall finds it and somebody else, who chose by description, did not.
    """

    at: datetime
    query: str
    expected: str
    found: tuple[str, ...]
    actor: str
