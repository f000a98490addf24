"""Making the next batch of a bulk write ready while the store writes the one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future, ThreadPoolExecutor

Given = TypeVar("Given")
Made = TypeVar("Made")


class Ahead(Generic[Given, Made]):
    """What `work` makes of each batch, in their order; what a batch raises is raised in its place.

    Whoever puts a batch into a transaction has `begin` called `meanwhile` that is indexed and committed: the next one
    is fetched and made on a thread of its own while SQLite needs no interpreter. Begun any earlier, the two would but
    wait for one another at each row.
    """

    def __init__(self, work: Callable[[Given], Made], batches: Iterable[Given]) -> None:
        self._work = work
        self._left = iter(batches)
        self._pool: ThreadPoolExecutor | None = None
        self._coming: Future[Made | None] | None = None

    def __iter__(self) -> Iterator[Made]:
        """Yield each batch; one that was not begun is made now."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1, "zapomni-ahead") as self._pool:
            while (made := self._next().result()) is not None:
                self._coming = None
                yield made

    def begin(self) -> None:
        """Have the next batch made, if there is one and nobody has begun with it."""
        self._next()

    def _next(self) -> Future[Made | None]:
        if self._coming is None:
            assert self._pool is not None
            self._coming = self._pool.submit(self._made)
        return self._coming

    def _made(self) -> Made | None:
        for batch in self._left:
            return self._work(batch)
        return None
