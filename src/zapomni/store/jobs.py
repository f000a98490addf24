"""What waits for vectors: a part of a store's contract that every recall needs."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

Item = TypeVar("Item")
"""What has vectors: a memory, or a chunk of a document."""


class EmbedJob(Struct, Generic[Item], frozen=True, kw_only=True):
    """One item whose vectors of one space are still to come; `key` names it, `version` grows when it changes."""

    item: Item
    key: str
    version: int
    space_no: int
    attempts: int
    error: str | None = None


class Backlog(Struct, frozen=True, kw_only=True):
    """How many embed jobs wait in a space, how many of them failed before, and the last error."""

    waiting: int = 0
    failed: int = 0
    error: str | None = None
