"""Stems: the part of a word that its forms share, by Snowball."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from threading import Lock
from typing import Final

import Stemmer

_CYRILLIC: Final = re.compile("[а-я]")
_LATIN: Final = re.compile("[a-z]")

_lock: Final = Lock()  # a Stemmer keeps state between letters and must not be shared by two threads at once


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language, 0)  # its own cache off: ours is in front


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the stem of one folded word: Russian with a Cyrillic letter in it, else English with a Latin one.

    Words that are not letters throughout (digits, inner punctuation) and words of other scripts come back as
    they are. One stemmer by script measured equal to one by language, and Russian stems are worth ten points
    of hit@1 (shared reference/retrieval.md, section 4.2).
    """
    if not word.isalpha():
        return word
    if _CYRILLIC.search(word):
        language = "russian"
    elif _LATIN.search(word):
        language = "english"
    else:
        return word
    with _lock:
        return str(_stemmer(language).stemWord(word))
