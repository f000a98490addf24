"""The only source of identifiers, so that tests can pass their own."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

IdFactory = Callable[[], str]

ALPHABET: Final = "23456789bcdfghjkmnpqrstvwxyz"
"""No vowels and no look-alikes: an id spells no word and survives being read aloud."""
LENGTH: Final = 16
"""16 of 28 letters carry 76 random bits: one collision is expected after about 3 * 10^11 ids."""


def random_id() -> str:
    """Return a fresh id of 16 lowercase letters and digits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
