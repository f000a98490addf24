"""Why an answer is empty: what was looked for, how much there was of it, and what stood in the way."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from zapomni.model.memory import Scope
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


class Hidden(Struct, frozen=True, kw_only=True):
    """How many answers there are without a part of the filter: `count`, or at least so many where there may be `more`.

    `fields` are those of the filter that were given and are lifted, `scopes` those not seen in which the answers are.
    """

    count: int
    more: bool = False
    fields: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()


class Barred(Struct, frozen=True, kw_only=True):
    """Which `fields` of a filter let nothing through of `stored` items, counted no further than `VISIBLE_MOST`.

    Each of them alone lets nothing through; where none does, they do so `together`.
    """

    fields: tuple[str, ...]
    stored: int
    together: bool = False


class Explanation(Struct, frozen=True, kw_only=True):
    """How the search went that found nothing.

    `of` is what was asked, memories or documents. `words` are the stems that were looked for, `passed_over` the words
    that were not: stop words, and all beyond `QUERY_WORDS`; `common` tells that stop words alone were there to be
    looked for. `near` names what stood for a word that nothing holds.
    `seen` is how many items the filter lets through, counted no further than `VISIBLE_MOST`; `by_words` and
    `by_meaning` are the candidates of each leg, `judged` the best of them, which were held against the floor.
    `without` tells, for each part of the filter (`scope`, `time`, `trust`, `other`), of the answers that there are
    without it; a part that keeps none away is left out, and where none does so alone, `every` tells of those without
    all of them.
    """

    of: str
    words: tuple[str, ...] = ()
    common: bool = False
    passed_over: tuple[str, ...] = ()
    near: Mapping[str, str] = field(default_factory=dict)
    seen: int = 0
    by_words: int = 0
    by_meaning: int = 0
    judged: int = 0
    nearest: Near | None = None
    without: Mapping[str, Hidden] = field(default_factory=dict)
