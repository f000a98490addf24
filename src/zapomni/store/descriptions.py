"""What a store must do for selection by description: the vectors of descriptions alone, once they were made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.model import Vector


class Descriptions(Protocol):
    """Vectors of descriptions by the digest of their text; derived, and made anew where they are missing."""

    def vectors(self, space_no: int, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return those of these vectors that are there."""

    def keep(self, space_no: int, vectors: Mapping[bytes, Vector]) -> None:
        """Keep vectors, and drop those of spaces that are retired; where it cannot be written it is passed over."""
