"""Mirrored folders: what was last agreed between a file and its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping


class Agreed(Struct, frozen=True, kw_only=True):
    """One file of a mirrored folder as it stood when file and memory last said the same.

    `path` is relative to the root. `size` and `modified_ns` spare the next scan from opening it, `sha256` is of its
    bytes. `version` is the memory's. `links` are the targets of its `[[links]]`. `memory_id` is None for a file that is
    no memory, and `problem` says why; of a copy both are set. `held` marks a file that is never written, for it
    holds a secret that the memory does not. `clash` names the two sides of which a proposal was filed.
    """

    path: str
    sha256: str
    size: int = 0
    modified_ns: int = 0
    memory_id: str | None = None
    version: int = 0
    links: tuple[str, ...] = ()
    held: bool = False
    problem: str | None = None
    clash: str | None = None

    @property
    def tied(self) -> bool:
        """Whether this file and a memory are one thing."""
        return self.memory_id is not None and self.problem is None


class Removed(Struct, frozen=True, kw_only=True):
    """A file that went with its memory: where it was and what it said, so that an undo brings both back.

    `sha256` is of its bytes, by which it is known again when it comes back, wherever that is.
    """

    path: str
    memory_id: str
    sha256: str
    text: str


class KeptLine(Struct, frozen=True, kw_only=True):
    """A line of an index that went with its memory, so that an undo brings both back.

    `path` is the file that it leads to, `page` where it stood, `text` the line with its end. `above` are marks of the
    nearest lines above it, the last one first and empty for blank ones: hashes, for they speak of other memories. What
    begins with a dash is the mark of a line that had gone before.
    """

    path: str
    page: str
    text: str
    above: tuple[str, ...]


class Moves(Struct, frozen=True, kw_only=True):
    """Files that went elsewhere, all at once: `moved` says where each is, `gone` whose those were that are no more."""

    moved: Mapping[str, str] = {}
    gone: Mapping[str, str] = {}
