"""Making the next batch of a bulk write ready while the store writes the one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future, ThreadPoolExecutor

Given = TypeVar("Given")
Made = TypeVar("Made")


class Ahead(Generic[Given, Made]):
    """What `work` makes of each batch, in their order; what it raises is raised in the place of its batch.

    Whoever has put a whole batch into a transaction says `begin` as the last thing in it: then the next one is made on
    a thread of its own while SQLite indexes and commits, for which it needs no interpreter. Begun any earlier, the two
    would but wait for one another at each row.
    """

    def __init__(self, work: Callable[[Given], Made], batches: Iterable[Given]) -> None:
        self._work = work
        self._left = iter(batches)
        self._pool: ThreadPoolExecutor | None = None
        self._coming: Future[Made] | None = None

    def __iter__(self) -> Iterator[Made]:
        """Yield each batch; one that was not begun is made now."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1, "zapomni-ahead") as self._pool:
            while True:
                if self._coming is None:
                    self.begin()
                if self._coming is None:
                    return
                coming, self._coming = self._coming, None
                yield coming.result()

    def begin(self) -> None:
        """Have the next batch made, if there is one."""
        if self._pool is not None:
            for batch in self._left:
                self._coming = self._pool.submit(self._work, batch)
                return
