"""What comes back from the memory, and the generation of vectors that it was looked for by."""

from __future__ import annotations

from msgspec import Struct

from zapomni.model.document import DocumentHit
from zapomni.model.explanation import Barred, Explanation
from zapomni.model.kinds import Mode, SpaceState
from zapomni.model.memory import Memory, Scope
from zapomni.model.question import Hit


class Space(Struct, frozen=True, kw_only=True):
    """One embedding generation; vectors of two spaces are never compared.

    `no` is the store's number of the space. `preparation` counts versions of how text is cut and prefixed.
    `mean` is the centre subtracted from both vectors before the cosine; empty means none. `russian` is the
    share of Russian among the texts that the mean is of.
    """

    no: int
    provider: str
    model: str
    dimension: int
    preparation: int
    state: SpaceState
    mean: tuple[float, ...] = ()
    russian: float = 0.5

    @property
    def label(self) -> str:
        """The space as people read it."""
        return f"{self.provider}:{self.model} ({self.dimension}d)"


class Recollection(Struct, frozen=True, kw_only=True):
    """The answer to a query.

    `mode` is the mode that really answered and `reason` says why it is not the one asked for.
    `waiting` counts memories whose vector is still to come. `left_out` names hits that the budget
    had no room for. `documents` are those that were asked for beside the memories. `explanations` say
    why nothing was found, where that was asked for: of the memories, and of the documents beside them.
    `barred` names the part of the filter that lets no memory through, where that is why.
    """

    hits: tuple[Hit, ...]
    mode: Mode
    scopes: tuple[Scope, ...]
    reason: str | None = None
    waiting: int = 0
    left_out: tuple[str, ...] = ()
    documents: tuple[DocumentHit, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    barred: Barred | None = None


class Page(Struct, frozen=True, kw_only=True):
    """One page of a listing: the total of all pages and the cursor of the next one, None at the end."""

    memories: tuple[Memory, ...]
    total: int
    next: str | None = None
