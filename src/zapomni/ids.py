"""The only source of identifiers, so that tests can pass their own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

IdFactory = Callable[[], str]

ALPHABET: Final = "23456789bcdfghjkmnpqrstvwxyz"
"""No vowels and no look-alikes: an id spells no word and survives being read aloud."""
LENGTH: Final = 16
"""16 of 28 letters carry 76 random bits: one collision is expected after about 3 * 10^11 ids."""
_BYTES: Final = 12
_PAIRS: Final = tuple(first + second for first in ALPHABET for second in ALPHABET)
"""Two letters at a time: half as many divisions."""


def random_id() -> str:
    """Return a fresh id of 16 lowercase letters and digits."""
    number = int.from_bytes(os.urandom(_BYTES))  # one reading of the random source; its remainder is even to 2^-19
    letters = []
    for _ in range(LENGTH // 2):
        number, place = divmod(number, len(_PAIRS))
        letters.append(_PAIRS[place])
    return "".join(letters)
