"""What a look at the memories or documents came to: its hits, and what they were taken from."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from zapomni.model.explanation import Near

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.model import Hit
    from zapomni.model.document import DocumentHit
    from zapomni.store.found import Lexical
    from zapomni.text.words import QueryWord

H = TypeVar("H", bound="Hit | DocumentHit")
T = TypeVar("T")


class Looked(Struct, Generic[H], frozen=True, kw_only=True):
    """The hits of one question with what tells how they were found.

    `words` were looked for, `lexical` is what they gave and `compared` how many items the meaning was compared with, of
    `visible` that could have been found. `judged` were held against the floor; `nearest` is the best of them where none
    passed.
    """

    hits: list[H]
    words: Sequence[QueryWord]
    lexical: Lexical
    compared: int
    visible: int
    judged: int
    nearest: Near | None


def nearest(hits: Sequence[H], ranked: Sequence[T], shares: Sequence[float], made: Callable[[T], H]) -> Near | None:
    """Return what came nearest to the floor where nothing passed it; `made` makes a hit of what was ranked."""
    if hits or not ranked:
        return None
    share, best = max(zip(shares, ranked, strict=True), key=itemgetter(0))
    hit = made(best)
    return Near(handle=hit.handle, text=hit.shown, score=hit.score, share=share, parts=hit.parts)
