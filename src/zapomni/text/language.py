"""Telling the two languages apart, where what is measured differs between them."""

from __future__ import annotations

import re
from typing import Final

_RUN: Final = re.compile(r"[^\W\d_]+")
_CYRILLIC: Final = re.compile("[а-яё]+", re.IGNORECASE)
LOOKED_AT: Final = 2_000
"""Characters that are looked at: a text does not change its language after them often enough to matter."""


def is_russian(text: str) -> bool:
    """Return whether more than half of the letters are Cyrillic."""
    head = text[:LOOKED_AT]
    cyrillic = sum(map(len, _CYRILLIC.findall(head)))
    return cyrillic > 0 and 2 * cyrillic > sum(map(len, _RUN.findall(head)))
