"""What a prompt should bring to mind: found by its words alone, for a hook has no time to load a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from zapomni.search.constants import LEXICAL_CUT
from zapomni.search.fuse import fuse
from zapomni.search.lexical import WordScores
from zapomni.search.rank import rank
from zapomni.text.clean import clean, is_blank
from zapomni.text.language import is_russian
from zapomni.text.words import query_words

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from zapomni.model import Filter, Memory
    from zapomni.search.lexical import WordScore
    from zapomni.services.context import Context
    from zapomni.store.base import Store
    from zapomni.text.words import QueryWord

SHORTEST: Final = 10
"""Characters from which a prompt says anything (features M-14)."""
LOOKED_AT: Final = 2_000
"""Characters of a prompt that are looked at: what follows is pasted more often than asked."""
MOST: Final = 5
WORD_FLOOR: Final = 0.72
"""Relevance that a memory must have by words alone: nobody asked for it, so it takes more than the floor of a recall.

`zapomni bench prompt`, even questions, which chose it: the right passage of XQuAD is among those brought for 94 %
(Russian 89 %), and unrelated questions bring something for 5 % (Russian 10 %). At .65 it is 96 and 9 % (92 and 11 %),
at .8 92 and 3 % (88 and 9 %). The odd ones, held out, stand in `docs/benchmarks.md`.
"""
WORDS_HELD: Final = 2
"""Different words of a prompt that a memory must hold: in a short one a single word, such as `test` in `fix the test`,
has all the weight that a floor can ask for. Without this 23 % of unrelated Russian questions bring something. A prompt
that says nothing but a name (`что там с Петровым?`) brings the memories that hold it, where at most `MOST` do."""
_LATIN: Final = re.compile("[A-Za-z]")


def relevant(context: Context, prompt: str, where: Filter, shown: Container[str]) -> list[Memory]:
    """Return at most `MOST` memories that a prompt speaks of and that were not shown before, best first."""
    text, _ = clean(prompt[:LOOKED_AT].strip())
    words = query_words(text)
    if len(text) < SHORTEST or text.startswith("/") or is_blank(text):
        return []
    if len(words) < WORDS_HELD and not _is_name(text, words):
        return []
    with context.store.one_state():
        found = _spoken_of(context.store, words, where)
    return [memory for memory in found if memory.id not in shown][:MOST]


def _is_name(text: str, words: Sequence[QueryWord]) -> bool:
    """Tell whether all that a prompt says is one name: a word with a capital inside it, or in Latin amid Russian."""
    if text.isupper():
        return False
    first, *rest = text.split()
    amid_russian = any(map(is_russian, (first, *rest)))
    named = (run for run in rest if run != run.lower() or (amid_russian and _LATIN.search(run)))
    return any(query_words(run) == words for run in named)


def _spoken_of(store: Store, words: Sequence[QueryWord], where: Filter) -> list[Memory]:
    lexical = store.lexical(words, where, LEXICAL_CUT)
    scores = WordScores(words, lexical, store.visible(where))
    held = {hit.no: score for hit in lexical.hits if _speaks_of(words, score := scores.of_hit(hit))}
    if len(words) < WORDS_HELD and len(held) > MOST:
        return []
    told = [(relevance, no) for relevance, no in fuse(held, {}) if relevance >= WORD_FLOOR]
    return [item.memory for item in rank(store, told, 4 * MOST)]


def _speaks_of(words: Sequence[QueryWord], score: WordScore) -> bool:
    """Tell whether a memory holds enough of the words; a surname alone must stand there itself, not its stem."""
    if len(words) == 1 and words[0].surname:
        return score.exact > 0
    return score.held >= min(WORDS_HELD, len(words))
