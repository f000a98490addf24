"""What waits for vectors: a part of a store's contract that every recall needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
"""What has vectors: a memory, or a chunk of a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedJob(Generic[Item]):
    """One item whose vectors of one space are still to come; `key` names it, `version` grows when it changes."""

    item: Item
    key: str
    version: int
    space_no: int
    attempts: int
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """How many embed jobs wait in a space, how many of them failed before, and the last error."""

    waiting: int = 0
    failed: int = 0
    error: str | None = None
