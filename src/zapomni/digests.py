"""BLAKE2b, taken from where `hashlib` takes it: that loads OpenSSL besides, three milliseconds of a hook's start."""

from _blake2 import blake2b

__all__ = ["blake2b"]
