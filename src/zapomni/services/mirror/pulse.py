"""Whether the memories of a mirrored folder changed, told without looking at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zapomni.model.document import Source
    from zapomni.store.base import Store


class Pulse:
    """Tells by one value whether the memories of a mirrored source changed; nothing is counted while nobody writes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counted: dict[str, tuple[int, object]] = {}

    def __call__(self, source: Source) -> object:
        """Return a value that is another once the memories of its scope are."""
        generation = self._store.generation()
        known = self._counted.get(source.id)
        if known is None or known[0] != generation:
            known = self._counted[source.id] = generation, self._store.mirrors.pulse(source.scope)
        return known[1]
