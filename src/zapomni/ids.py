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
_BYTES: Final = 24
"""Nearly always enough at once: nine of them stand for no letter once in 10^10 ids."""
_EVEN: Final = 256 - 256 % len(ALPHABET)
_LETTERS: Final = bytes(ord(ALPHABET[byte % len(ALPHABET)]) for byte in range(256))
_OVER: Final = bytes(range(_EVEN, 256))
"""Left out, so that every letter stands for as many bytes as any other."""


def random_id() -> str:
    """Return a fresh id of 16 lowercase letters and digits."""
    letters = b""
    while len(letters) < LENGTH:
        letters += os.urandom(_BYTES).translate(_LETTERS, _OVER)
    return letters[:LENGTH].decode()
