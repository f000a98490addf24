"""What a memory is found by besides its fields: its duplicate key and its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from zapomni.text.fold import digest
from zapomni.text.words import memory_words

if TYPE_CHECKING:
    from zapomni.model import Draft, Memory
    from zapomni.text.words import IndexWords


class Indexed(Struct, frozen=True, kw_only=True):
    """The duplicate key of a text and the tokens of its index: all that is worked out of a memory to store it."""

    digest: bytes
    words: IndexWords


def found_by(memory: Memory | Draft) -> Indexed:
    """Return what a memory, or one that is still a draft, is found by."""
    return Indexed(digest=digest(memory.content), words=memory_words(memory))
