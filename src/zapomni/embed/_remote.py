"""An `Embedder` over HTTP: batches, the search for the one text that is refused, and the check of every vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from zapomni.embed._vectors import clean, unit
from zapomni.embed._wire import SERVER_ERROR, Refusal, Transient, Wire
from zapomni.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx2

    from zapomni.embed.base import Task
    from zapomni.model import Vector
    from zapomni.settings import EmbedderSettings

    Answer = list[Vector | EmbedderError]

PLAIN: Final = "text"
"""What any model can embed: tells a refused text from a provider that refuses everything."""


class Item(NamedTuple):
    """One vector as it came: its place if the provider names one, and its numbers."""

    place: object
    values: Any


class Dialect(Protocol):
    """How one provider is asked."""

    usual_url: str
    usual_model: str
    usual_batch: int
    piece: int

    def sized(self, model: str) -> bool:
        """Tell whether the model can be asked for another width."""

    def request(self, model: str, texts: list[str], task: Task, dimension: int | None) -> tuple[str, dict[str, Any]]:
        """Return the path and the body."""

    def read(self, answer: dict[str, Any]) -> list[Item]:
        """Return the vectors; raises `KeyError`, `TypeError` or `AttributeError` for an unknown form."""


class RemoteEmbedder:
    """See `Embedder`. `width` is learned from the first answers unless the settings or the caller give it.

    A width that was asked for stands in the model's name (`text-embedding-3-small#512`), for it makes another
    space; such a name is understood in the settings too.
    """

    preparation: int = 1
    local: bool = False

    def __init__(
        self, settings: EmbedderSettings, dialect: Dialect, transport: httpx2.BaseTransport | None = None
    ) -> None:
        self.provider = settings.provider
        self._name, dimension = _name_and_width(settings.model or dialect.usual_model, settings.dimension)
        self._dimension = dimension if dialect.sized(self._name) else None
        self.model = f"{self._name}#{self._dimension}" if self._dimension else self._name
        self.piece = dialect.piece
        self.width = dimension
        self._batch = settings.batch or dialect.usual_batch
        self._dialect = dialect
        self._wire = Wire(settings, dialect.usual_url, transport)

    def embed(self, texts: Sequence[str], task: Task) -> Answer:
        """Return, in order, one unit vector or error a text; see `Embedder.embed`.

        When the provider fails after some texts have their vectors, the rest get that error each.
        """
        found: Answer = []
        for start in range(0, len(texts), self._batch):
            try:
                found += self._ask([clean(text) for text in texts[start : start + self._batch]], task)
            except EmbedderError as error:
                if all(isinstance(one, EmbedderError) for one in found):
                    raise
                rest = len(texts) - len(found)
                return found + [EmbedderError(error.message, retry_after=error.retry_after)] * rest
        return found

    def prior_mean(self) -> None:
        """No model behind HTTP comes with its mean."""

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def _ask(self, texts: list[str], task: Task) -> Answer:
        """Send one batch; split it as long as the provider refuses it or answers without a clear order."""
        try:
            values = self._fetch(texts, task)
        except Refusal as refusal:
            return self._split(texts, task, refusal, permanent=True)
        except Transient as error:
            if error.status != SERVER_ERROR:
                raise
            # A local model that makes NaN of one sentence answers 500 for its whole batch.
            return self._split(texts, task, error, permanent=False)
        if values is None:
            return self._split(texts, task, None, permanent=False)
        self._learn_width(values, task)
        return [self._check(one) for one in values]

    def _split(self, texts: list[str], task: Task, why: EmbedderError | None, *, permanent: bool) -> Answer:
        """Ask for each half; a single text bears the blame unless a plain word fails as well."""
        if len(texts) == 1 or (why is not None and not permanent):
            self._probe(task)
        if len(texts) > 1:
            middle = len(texts) // 2
            return self._ask(texts[:middle], task) + self._ask(texts[middle:], task)
        problem = why.message if why else f"{self._wire.label} answered with several vectors for one text"
        return [EmbedderError(f"This text got no vector: {problem}", permanent=permanent)]

    def _probe(self, task: Task) -> list[Any]:
        """Embed a plain word; raises a permanent `EmbedderError` when even that is refused."""
        try:
            values = self._fetch([PLAIN], task)
        except Refusal as refusal:
            raise EmbedderError(
                f"{refusal.message} to a plain word too",
                remedy="Check embedder.model and embedder.dimension",
                permanent=True,
            ) from None
        return values or [None]

    def _fetch(self, texts: list[str], task: Task) -> list[Any] | None:
        """Return the numbers of each text, None where one is missing; None alone when no order is clear."""
        path, body = self._dialect.request(self._name, texts, task, self._dimension)
        answer = self._wire.post(path, body, task)
        try:
            items = self._dialect.read(answer)
        except (KeyError, TypeError, AttributeError):
            raise Transient(f"{self._wire.label} answered in a form that is not known") from None
        if not items:
            raise Transient(f"{self._wire.label} answered without any vector; it may still be loading the model")
        return _in_order(items, len(texts))

    def _learn_width(self, values: list[Any], task: Task) -> None:
        """Take the width of the first good vector, if a second answer has the same; else nothing can be trusted."""
        if self.width is not None:
            return
        first = next((len(v) for v in map(self._check, values) if not isinstance(v, EmbedderError)), None)
        if first is None:
            return
        again = self._check(self._probe(task)[0])
        if isinstance(again, EmbedderError) or len(again) != first:
            raise EmbedderError(
                f"{self._wire.label} answers with vectors of different widths", remedy="Set embedder.dimension"
            )
        self.width = first

    def _check(self, values: Any) -> Vector | EmbedderError:
        if values is None:
            return EmbedderError(f"{self._wire.label} left this text out of its answer")
        try:
            return unit(values, self.width)
        except (ValueError, TypeError, OverflowError) as error:
            problem = error if isinstance(error, ValueError) else "the vector holds something else than numbers"
            return EmbedderError(f"{self._wire.label} sent no usable vector: {problem}")


def _name_and_width(model: str, dimension: int | None) -> tuple[str, int | None]:
    """Take a name such as `text-embedding-3-small#512` apart; any other keeps the width of the settings."""
    name, _, width = model.rpartition("#")
    return (name, int(width)) if name and width.isdecimal() else (model, dimension)


def _in_order(items: list[Item], count: int) -> list[Any] | None:
    """Put vectors into their places, or by order when none names its place and none is missing."""
    if all(item.place is None for item in items):
        return [item.values for item in items] if len(items) == count else None
    placed: list[Any] = [None] * count
    seen: set[int] = set()
    for place, values in items:
        if not isinstance(place, int) or place in seen or not 0 <= place < count:
            return None
        seen.add(place)
        placed[place] = values
    return placed
