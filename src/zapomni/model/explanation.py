"""Why an answer is empty: what was looked for, how much there was of it, and what stood in the way."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from zapomni.model.question import Part


class Near(Struct, frozen=True, kw_only=True):
    """What came nearest to an answer and fell under the floor.

    `handle` is by what it can be asked for whole, `text` what is shown of it. `share` is its evidence as a share of
    what the floor asks of the best hit: from 1 on it would have been an answer.
    """

    handle: str
    text: str
    score: float
    share: float
    parts: tuple[Part, ...] = ()


class Explanation(Struct, frozen=True, kw_only=True):
    """How the search went that found nothing.

    `of` is what was asked, memories or documents. `words` are the stems that were looked for, `passed_over` the words
    that were not: stop words, and all beyond `QUERY_WORDS`. `near` names what stood for a word that nothing holds.
    `seen` is how many items the filter lets through, counted no further than `VISIBLE_MOST`; `by_words` and
    `by_meaning` are the candidates of each leg, `judged` the best of them, which were held against the floor.
    `without` counts, for each part of the filter (`scope`, `time`, `trust`, `other`), the answers that there are
    without it, at most as many as were asked for; a part that keeps none away is left out, and where none does so
    alone, `every` counts those without all of them.
    """

    of: str
    words: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    near: Mapping[str, str] = field(default_factory=dict)
    seen: int = 0
    by_words: int = 0
    by_meaning: int = 0
    judged: int = 0
    nearest: Near | None = None
    without: Mapping[str, int] = field(default_factory=dict)
