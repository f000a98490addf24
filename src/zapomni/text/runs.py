"""Runs: the pieces of a text between white space, most of which are met again and need no second look."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_MOST: Final = 16_384
_LONGEST: Final = 64
"""Runs that are remembered, and their characters: longer ones are rarely met twice."""


@lru_cache(maxsize=4)  # a write parts its text for secrets and then for its digest
def runs_of(text: str) -> tuple[str, ...]:
    """Return the runs of a text in their order."""
    return tuple(text.split())


class Runs(dict[str, T], Generic[T]):
    """What `work` makes of each run of text, remembered; safe to use from any thread."""

    def __init__(self, work: Callable[[str], T]) -> None:
        self._work = work

    def of(self, text: str) -> Iterator[T]:
        """Return what each run of a text comes to, in their order."""
        # Titles and tags are parted as quickly as looked up, and keep no content of many runs from being remembered.
        return map(self.__getitem__, runs_of(text) if len(text) > _LONGEST else text.split())

    def __missing__(self, run: str) -> T:
        made = self._work(run)
        if len(run) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[run] = made
        return made
