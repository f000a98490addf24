"""BLAKE2b, taken from where `hashlib` takes it: that loads OpenSSL besides, three milliseconds of a hook's start."""

from _blake2 import blake2b
from typing import Final

__all__ = ["blake2b", "digest16"]

_PIECE: Final = 2_047
"""Bytes that are hashed without letting another thread run (CPython's `HASHLIB_GIL_MINSIZE` is one more)."""


def digest16(data: bytes) -> bytes:
    """Return 16 bytes of BLAKE2b.

    A thread that waits for the interpreter asks for it when it has waited for five milliseconds, and begins anew each
    time it is let go: one that hashes a text of some kilobytes after another would keep the others waiting throughout.
    """
    made = blake2b(digest_size=16)
    for start in range(0, len(data), _PIECE):
        made.update(data[start : start + _PIECE])
    return made.digest()
