"""What a look at the memories or documents came to: its hits, and what they were taken from."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from zapomni.model.explanation import Near
from zapomni.search.floor import Judged, above_floor, shares_of_gate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zapomni.model import Hit
    from zapomni.model.document import DocumentHit
    from zapomni.search.lexical import WordScore
    from zapomni.store.found import Lexical
    from zapomni.text.words import QueryWord

H = TypeVar("H", bound="Hit | DocumentHit")
T = TypeVar("T", bound=Judged)


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


def judge(
    ranked: Sequence[T],
    made: Callable[[T, WordScore | None, float | None], H],
    *,
    question: str,
    words: Sequence[QueryWord],
    lexical: Lexical,
    by_words: Mapping[int, WordScore],
    cosines: Mapping[int, float],
    visible: int,
) -> Looked[H]:
    """Return what of the ranked passes the floor, with how it was found.

    `made` makes a hit of one, its words' score and its cosine; those stand in `by_words` and `cosines` by number.
    """

    def hit_of(item: T) -> H:
        return made(item, by_words.get(item.no), cosines.get(item.no))

    shares = shares_of_gate(ranked, question, by_words, cosines, visible)
    hits = [hit_of(item) for item in above_floor(ranked, shares)]
    nearest = None
    if ranked and not hits:
        share, best = max(zip(shares, ranked, strict=True), key=itemgetter(0))
        nearest = _near(hit_of(best), share)
    return Looked(
        hits=hits,
        words=words,
        lexical=lexical,
        compared=len(cosines),
        visible=visible,
        judged=len(ranked),
        nearest=nearest,
    )


def _near(hit: Hit | DocumentHit, share: float) -> Near:
    return Near(handle=hit.handle, text=hit.shown, score=hit.score, share=share, parts=hit.parts)
