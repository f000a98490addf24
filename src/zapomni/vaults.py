"""The mirrored folders of a memory: every verb on them as one method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.model.document import SourceMode
from zapomni.services.scopes import scopes_to_read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.model import Actor, Scope
    from zapomni.model.document import Scanned, Source, SourceStatus
    from zapomni.services.context import Context
    from zapomni.services.mirror import Progress


class Vaults:
    """The mirrored folders of one memory, as `Zapomni.vaults` gives them; safe to use from many threads.

    Every method raises only `zapomni.errors.ZapomniError`.
    """

    def __init__(self, context: Context, *, actor: Actor) -> None:
        self._context = context
        self._actor = actor

    def scan(
        self,
        source: str | None = None,
        *,
        scopes: Sequence[str] = (),
        rest_s: float = 0.0,
        accept_removals: bool = False,
        progress: Callable[[Source], Progress] | None = None,
    ) -> list[Scanned]:
        """Bring one folder, or all that are seen, in step with the memories of its scope, both ways.

        A file that changed within `rest_s` is left for the next scan, for it may not be finished.
        """
        from zapomni.services.mirror import scan_mirror

        return [
            scan_mirror(
                self._context,
                one,
                actor=self._actor,
                rest_s=rest_s,
                accept_removals=accept_removals,
                progress=progress(one) if progress is not None else None,
            )
            for one in self._mirrored(source, scopes)
        ]

    def status(self, source: str | None = None, *, scopes: Sequence[str] = ()) -> list[SourceStatus]:
        """Say of one folder, or of each, how many of its files are memories, and which are none and why."""
        from zapomni.services.mirror import mirrored_status

        return [mirrored_status(self._context, one) for one in self._mirrored(source, scopes)]

    def _mirrored(self, source: str | None, scopes: Sequence[str]) -> list[Source]:
        from zapomni.services.sources import wanted_sources

        found = wanted_sources(self._context, source, self._scopes(scopes))
        return [one for one in found if one.mode is SourceMode.MIRROR]

    def _scopes(self, asked: Sequence[str]) -> tuple[Scope, ...]:
        return scopes_to_read(self._context, asked)
