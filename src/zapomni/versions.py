"""The past of a memory: every verb that compares, traces and branches as one method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.services.scopes import scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Actor, Filter, Run, Scope
    from zapomni.services.blame import Blame
    from zapomni.services.context import Context
    from zapomni.services.difference import Difference


class Versions:
    """What was, as `Zapomni.versions` gives it; safe to use from many threads.

    Every method raises only `zapomni.errors.ZapomniError`.
    """

    def __init__(self, context: Context, *, actor: Actor) -> None:
        self._context = context
        self._actor = actor

    def diff(
        self, memory_id: str, *, scopes: Sequence[str] = (), start: int | None = None, end: int | None = None
    ) -> Difference:
        """Compare a memory as it was after two revisions of its history; by default what its last change did."""
        from zapomni.services.difference import difference

        return difference(self._context, memory_id, scopes=self._seen(scopes), start=start, end=end)

    def diff_run(self, run: str) -> tuple[Run, Sequence[Difference]]:
        """Compare every memory that a run changed, before and after it."""
        from zapomni.services.difference import run_differences

        return run_differences(self._context, run)

    def blame(self, memory_id: str, *, scopes: Sequence[str] = ()) -> Blame:
        """Tell of each line and field of a memory which revision brought it."""
        from zapomni.services.blame import blame

        return blame(self._context, memory_id, scopes=self._seen(scopes))

    def topics(self, where: Filter) -> Mapping[str, int]:
        """Count the memories at each topic path, in the order of the paths."""
        return self._context.store.topics(where)

    def _seen(self, scopes: Sequence[str]) -> tuple[Scope, ...]:
        return scopes_to_read(self._context, scopes)
