"""The score of words: BM25 counted again in the best hits, alone, in a passage, and with their neighbours.

Every score is a share of what the question could have had at best, so that questions can be compared with each
other and with a cosine (embedders.md, section 2: self-normalised BM25).
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from zapomni.search.constants import (
    EXACT_BONUS,
    FAR,
    K1,
    LENGTH_SHARE,
    LONG,
    NEAR,
    NEAR_SHARE,
    PART_SHARE,
    PASSAGE,
    PERFECT,
    SHARED,
    SHORT,
    UNSEEN,
    WINDOW_LENGTH_SHARE,
)
from zapomni.text.words import QueryWord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.store.found import Lexical, LexicalHit, Place, Thread

    Counts = dict[int, float]
    """How often each word of the question, by its number, stands in a text."""

_CHARACTERS = 6.5
"""Characters of one word with what parts it, to tell the length of a neighbour that holds none of the words."""
_HALF = PASSAGE // 2


class WordScore(Struct, frozen=True):
    """What the words say of one memory: by itself, with the near window, with the far one, by exact forms.

    `held` is how many different words of the question, or what stands for them, it holds itself.
    """

    own: float = 0.0
    near: float = 0.0
    far: float = 0.0
    exact: float = 0.0
    held: int = 0


class _Text(Struct, frozen=True):
    """A hit with its words counted."""

    counts: Counts
    length: int


class WordScores:
    """The words of one question against its hits and the memories around them."""

    def __init__(self, words: Sequence[QueryWord], lexical: Lexical, visible: int) -> None:
        words, stand_ins = _standing(words, lexical)
        self._stems = [f" {word.stem} " for word in words]
        self._exact = [None if word.exact is None else f" {word.exact} " for word in words]
        self._other = {number: f" {word.terms[1]} " for number, word in enumerate(words) if len(word.terms) > 1}
        self._surnames = frozenset(number for number, word in enumerate(words) if word.surname)
        self._texts = {hit.no: self._counted(hit) for hit in lexical.hits}
        self._mean = sum(text.length for text in self._texts.values()) / max(len(self._texts), 1)
        self._weights = _weights(words, lexical, visible, [text.counts for text in self._texts.values()])
        for number in stand_ins:
            self._weights[number] *= NEAR_SHARE
        self._best = max(sum(self._weights) * (K1 + 1) * PERFECT, 1e-9)
        self._threads: dict[Thread, dict[int, _Text]] = {}
        for hit in lexical.hits:
            if hit.thread is not None and hit.position is not None:
                self._threads.setdefault(hit.thread, {})[hit.position] = self._texts[hit.no]

    def of_hit(self, hit: LexicalHit) -> WordScore:
        """Return the score of a memory that holds some of the words."""
        text = self._texts[hit.no]
        held = len(text.counts)
        exact = self._exact_share(hit, text.counts)
        length = text.length / self._mean
        own = self._share(text.counts, 1 - LENGTH_SHARE + LENGTH_SHARE * length)
        if hit.thread is not None and hit.position is not None:
            near, far = self._windows(hit.thread, hit.position, text)
            return WordScore(own, near, far, exact, held)
        if text.length > LONG:
            return WordScore(own, self._best_passage(hit.words, text.counts), 0.0, exact, held)
        alone = 1 - WINDOW_LENGTH_SHARE + WINDOW_LENGTH_SHARE * length / (2 * NEAR + 1)
        return WordScore(own, self._share(text.counts, alone), 0.0, exact, held)

    def of_place(self, place: Place) -> WordScore:
        """Return the score that a memory without any of the words has from those around it."""
        text = _Text({}, max(round(place.length / _CHARACTERS), 1))
        near, far = self._windows(place.thread, place.position, text)
        return WordScore(near=near, far=far)

    def _counted(self, hit: LexicalHit) -> _Text:
        """Count stems, and forms that may be stems, in both: `Петров` has the stem `петр` and the form `петров`."""
        spaced = f" {hit.words}  {hit.exact} "
        counts: Counts = {}
        for number, stem in enumerate(self._stems):
            if found := _occurrences(stem, spaced):
                counts[number] = found
        for number, form in self._other.items():
            if form in spaced:
                counts[number] = counts.get(number, 0) + _occurrences(form, f" {hit.words} ")
            elif number in counts and number in self._surnames:
                counts[number] = SHARED
        return _Text(counts, hit.words.count(" ") + 1)

    def _share(self, counts: Counts, length: float) -> float:
        """Return BM25 as a share of the best; `length` is 1 for a text of mean length."""
        damping = K1 * length
        total = 0.0
        for number, tf in counts.items():
            total += self._weights[number] * tf / (tf + damping)
        return total * (K1 + 1) / self._best

    def _best_passage(self, words: str, whole: Counts) -> float:
        """Return the score of the passage of a long text that says most; passages overlap by half.

        No word counts more in a passage than in the `whole` text.
        """
        terms = (*self._other.items(), *enumerate(self._stems))
        numbers = {term.strip(): number for number, term in terms}
        spots = [(spot, numbers[token]) for spot, token in enumerate(words.split(" ")) if token in numbers]
        passages: dict[int, Counts] = {}
        for spot, number in spots:
            for passage in {spot // _HALF, max(spot // _HALF - 1, 0)}:
                counts = passages.setdefault(passage, {})
                counts[number] = min(counts.get(number, 0) + 1, whole[number])
        return max((self._share(counts, 1.0) for counts in passages.values()), default=0.0)

    def _windows(self, thread: Thread, position: int, text: _Text) -> tuple[float, float]:
        """Return the scores of a memory with its near and its far neighbours."""
        around = self._threads.get(thread, {})
        counts, length = dict(text.counts), float(text.length)
        shares = []
        reached = 0
        for reach in (NEAR, FAR):
            for step in range(reached + 1, reach + 1):
                for other in (around.get(position - step), around.get(position + step)):
                    if other is None:
                        length += self._mean
                        continue
                    part = _lends(other)
                    length += part * other.length
                    for number, tf in other.counts.items():
                        counts[number] = counts.get(number, 0.0) + part * tf
            reached = reach
            share = WINDOW_LENGTH_SHARE * length / (self._mean * (2 * reach + 1))
            shares.append(_lends(text) * self._share(counts, 1 - WINDOW_LENGTH_SHARE + share))
        return shares[0], shares[1]

    def _exact_share(self, hit: LexicalHit, counts: Counts) -> float:
        """Return the bonus for the words that stand there just as they were asked for.

        A word that is its own stem stands there as such when the stem occurs more often than forms of it; a form
        that is the stem of others, as `петров` that of `петрова`, counts as they do.
        """
        forms = f" {hit.exact} "
        found = 0.0
        for number, occurrences in counts.items():
            form = self._exact[number]
            if form is None:
                stands = occurrences > forms.count(self._stems[number][:-1])
            else:
                stands = form in forms or (number in self._other and form in f" {hit.words} ")
            if stands:
                found += self._weights[number]
        return EXACT_BONUS * found * (K1 + 1) * PERFECT / self._best


def _standing(words: Sequence[QueryWord], lexical: Lexical) -> tuple[Sequence[QueryWord], range]:
    """Return the words with stand-ins for those that no memory holds, and the numbers of the stand-ins.

    A stand-in keeps the form that was asked for, which stands nowhere: it has no bonus for exact forms. One that
    is asked for anyway counts once, as it was asked for.
    """
    if not lexical.near:
        return words, range(0)
    standing = {word.stem: word for word in words if word.stem not in lexical.near}
    held = len(standing)
    for word in words:
        near = lexical.near.get(word.stem)
        if near is not None:
            standing.setdefault(near, QueryWord(near, word.exact or word.stem))
    return list(standing.values()), range(held, len(standing))


def _weights(words: Sequence[QueryWord], lexical: Lexical, visible: int, hits: Sequence[Counts]) -> list[float]:
    """Return how telling each word is: its rarity in the store or, where that is less, in what may be seen.

    An identifier that no memory holds whole is asked for by its parts alone, and one that some memory holds
    mostly by the whole.
    """
    wholes = {word.whole for word in words}
    hit = Counter(chain.from_iterable(hits))
    weights = []
    for number, word in enumerate(words):
        held = max(lexical.holding.get(term, 0) for term in word.terms)
        here = hit[number]
        weight = min(_rarity(lexical.total, held), _rarity(max(visible, here), here))
        if word.stem in wholes and not held:
            weight = 0.0
        elif word.whole is not None and lexical.holding.get(word.whole):
            weight *= PART_SHARE
        weights.append(weight)
    return weights


def _occurrences(token: str, spaced: str) -> int:
    """Return how often a token stands among others; one that is repeated at once shares its space with itself."""
    found = spaced.count(token)
    return spaced.replace(" ", "  ").count(token) if found and token + token[1:] in spaced else found


def _lends(text: _Text) -> float:
    """Return the share of its words that a message lends its neighbours: less the longer it is."""
    return min(1.0, SHORT / text.length)


def _rarity(total: int, holding: int) -> float:
    """Return the weight of a word that `holding` of `total` memories hold (BM25's idf, never below 0).

    `UNSEEN` memories without the word are imagined beside, so that a word of the only memory still tells.
    """
    return math.log1p((total + UNSEEN - holding + 0.5) / (holding + 0.5))
