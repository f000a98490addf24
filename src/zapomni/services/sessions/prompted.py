"""What a prompt should bring to mind: found by its words alone, for a hook has no time to load a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.model import Mode, Query
from zapomni.search.retrieve import retrieve
from zapomni.text.clean import clean, is_blank
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from collections.abc import Container

    from zapomni.model import Filter, Hit, Memory
    from zapomni.services.context import Context

SHORTEST: Final = 10
"""Characters from which a prompt says anything (features M-14)."""
LOOKED_AT: Final = 2_000
"""Characters of a prompt that are looked at: what follows is pasted more often than asked."""
MOST: Final = 5
WORD_FLOOR: Final = 0.4
"""Share of what the prompt's words could say that a memory must hold: nobody asked for it, so it takes more than the
floor of a recall (`search.constants.WORDS_ALONE`). 200 questions each: at .4 the right passage of XQuAD is among those
brought for 95 % (Russian 89 %), and unrelated questions bring something for 4 % (Russian 34 %); at .25 it is 99 and
30 % (98 and 67 %), at .5 88 and 1 % (84 and 14 %)."""


def relevant(context: Context, prompt: str, where: Filter, shown: Container[str]) -> list[Memory]:
    """Return at most `MOST` memories that a prompt speaks of and that were not shown before, best first."""
    text, _ = clean(prompt[:LOOKED_AT].strip())
    if len(text) < SHORTEST or text.startswith("/") or is_blank(text) or not query_words(text):
        return []
    hits = retrieve(context.store, Query(text=text, where=where, limit=4 * MOST, mode=Mode.LEXICAL), None, None)
    found = [hit.memory for hit in hits if _evidence(hit) >= WORD_FLOOR and hit.memory.id not in shown]
    return found[:MOST]


def _evidence(hit: Hit) -> float:
    return max((part.value for part in hit.parts if part.name in {"words", "window"}), default=0.0)
