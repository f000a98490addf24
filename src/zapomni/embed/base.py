"""What an embedding provider must do: the extension point `zapomni.embedders`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.errors import EmbedderError
    from zapomni.model import Vector

Task = Literal["query", "passage"]


class Embedder(Protocol):
    """Turns texts into unit vectors of one space.

    An entry point in the group `zapomni.embedders` names a function `make(settings) -> Embedder`, where
    `settings` is the frozen `settings.EmbedderSettings`. Making one is cheap: it loads nothing and asks nobody.
    """

    provider: str
    """The entry point's name."""
    model: str
    """The model's id; together with `provider` and `preparation` it names the space."""
    preparation: int
    """Grows whenever the same text would get another vector (prefixes, cuts, normalisation)."""
    local: bool
    """True when nothing leaves this machine and one text costs milliseconds."""
    piece: int
    """How many characters of a text one vector can speak for; longer texts are cut into pieces."""

    def embed(self, texts: Sequence[str], task: Task) -> list[Vector | EmbedderError]:
        """Return, in order, one unit vector a text, or the error that this text alone met.

        Splits into the batches that the provider takes, waits and retries by itself, and checks each
        vector for width, NaN and zero. Somebody waits for the answer to a query: it comes, or fails, within
        seconds (`embedder.query_timeout_s`). Raises `EmbedderError` when the provider as a whole failed.
        """

    def prior_mean(self) -> Vector | None:
        """Return the mean vector of ordinary text, which stands in for a small store's own, or None."""

    def close(self) -> None:
        """Release what was loaded or opened; a second call does nothing."""


@runtime_checkable
class Checkable(Protocol):
    """An `Embedder` that can look at its own files, which the doctor asks of those that can."""

    def check(self) -> None:
        """Raise a permanent `EmbedderError` where they are not what they should be; may take a second."""
