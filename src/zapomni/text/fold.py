"""Folding: the forms in which two spellings of one text are the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from zapomni.text.runs import Runs

_MARKS: Final = (
    (0x0300, 0x036F),  # Latin, Greek and Cyrillic accents
    (0x0591, 0x05BD),  # Hebrew accents and points
    (0x05BF, 0x05BF),
    (0x05C1, 0x05C2),
    (0x05C4, 0x05C5),
    (0x05C7, 0x05C7),
    (0x0610, 0x061A),  # Arabic vowel and reading marks
    (0x0640, 0x0640),  # the Arabic stretching bar
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06DC),
    (0x06DF, 0x06E4),
    (0x06E7, 0x06E8),
    (0x06EA, 0x06ED),
    (0x08D3, 0x08FF),
    (0x180B, 0x180F),  # Mongolian variation selectors
    (0x1AB0, 0x1AFF),  # more accents
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20F0),  # enclosing marks: the keycap
    (0xFE00, 0xFE0F),  # variation selectors: the colour of an emoji
    (0xFE20, 0xFE2F),
    (0xE0100, 0xE01EF),
)
"""Marks that readers leave out. Vowel signs of Indic and South-East Asian scripts are letters there and stay."""

_LETTERS: Final = frozenset("йЙїЇўЎ")
"""Letters that Unicode takes apart into a letter and an accent, though no reader does."""

_SAME: Final = {"ё": "е", "Ё": "Е", "ı": "i", "’": "'", "ʼ": "'", "‐": "-", "−": "-"}
"""Pairs that people type for one another. NFKC has made the unbreakable hyphen a plain one by then."""

_ODD: Final = re.compile(r"[^\x00-\x7fА-Яа-я«»—–№]")
"""Anything that `_Bare` may have to change."""
_WHOLE: Final = (range(0x3400, 0xA000), range(0xAC00, 0xD7A4))
"""Ideographs and whole Korean syllables have nothing to lose; as a part of `_ODD` they take milliseconds to compile."""

_HEAP: Final = 64
_ACCENT: Final = r"[^\x00-\x7fА-Яа-яЁё\w\s]"  # Cyrillic letters are of \w too, but a range is compared sooner
_HEAPED: Final = re.compile(rf"{_ACCENT}{_ACCENT}{{{_HEAP},}}")
"""Accents are no letters to Python's \\w; emoji and other symbols of such a run stay."""
_GROWTH: Final = 128
"""Characters by which NFKC may lengthen any text beyond twice its own: it makes eighteen of one."""

_SHORT: Final = 4_000
"""Characters up to which a digest is remembered: 1,024 of them hold four megabytes at most in Latin letters."""

_KEPT: Final = 0x3000  # characters up to here are kept for good
_KEPT_FAR: Final = 4096
"""Most characters beyond `_KEPT` that are kept: they are too many to keep them all."""
_MARK_KINDS: Final = frozenset({"Mn", "Mc", "Me", "Lm", "Cn"})
"""The categories of `_MARKS`; marks newer than this Python's tables count as unassigned."""


class _Bare(dict[int, str]):
    """A table for `str.translate` that works out a character when it is first met."""

    def __missing__(self, code: int) -> str:
        if code >= _KEPT:
            return chr(code) if any(code in whole for whole in _WHOLE) else _bare_far(chr(code))
        bare = self[code] = _bare(chr(code))
        return bare


_BARE: Final = _Bare()


def _bare(char: str) -> str:
    bare = _SAME.get(char)
    if bare is None:
        bare = char if char in _LETTERS or not _ODD.match(char) else _without_marks(char)
    return bare


_bare_far: Final = lru_cache(maxsize=_KEPT_FAR)(_bare)


def _without_marks(char: str) -> str:
    taken = unicodedata.normalize("NFD", char)
    return unicodedata.normalize("NFC", "".join(part for part in taken if not _dropped(part)))


def _dropped(char: str) -> bool:
    # Cf is what cannot be seen: zero-width joiners and spaces, direction controls, tags, the soft hyphen.
    kind = unicodedata.category(char)
    return kind == "Cf" or (kind in _MARK_KINDS and any(low <= ord(char) <= high for low, high in _MARKS))


def _normal(text: str) -> str:
    """Return text in NFKC; of a heap of accents the first `_HEAP` count, for sorting more takes quadratic time."""
    return unicodedata.normalize("NFKC", _HEAPED.sub(_thinned, text))


def _thinned(heap: re.Match[str]) -> str:
    rest = "".join(char for char in heap[0][_HEAP:] if not unicodedata.combining(char))
    return heap[0][:_HEAP] + rest


def bare(text: str) -> str:
    """Return text in NFKC without accents, points and invisible characters; letter case stays.

    ё is е, and й, ї and ў stay whole. Typographic apostrophes and hyphens become the typed ones. What NFKC makes
    more than twice as long is cut.
    """
    text = _normal(text)[: 2 * len(text) + _GROWTH]
    if _ODD.search(text) is None:
        return text
    return unicodedata.normalize("NFKC", text.translate(_BARE))


def fold(text: str) -> str:
    """Return the form in which search and names compare: `bare`, with letter case removed.

    `fold(fold(x)) == fold(x)`. Every i of Turkish is i, so that İSTANBUL is found by istanbul.
    """
    if text.isascii():
        return text.lower()
    return bare(bare(text).casefold())


def digest(content: str) -> bytes:
    """Return the 16 bytes by which equal contents of one scope are known as duplicates.

    Letter case, ё for е, runs of white space and the Unicode form of letters make no difference; accents do.
    The hash is BLAKE2b.
    """
    return _digest_of_short(content) if len(content) <= _SHORT else _digest(content)


def _digest(content: str) -> bytes:
    from zapomni.digests import digest16

    return digest16(b" ".join(_SAME_RUNS.of(content)))


def _same_run(run: str) -> bytes:
    text = unicodedata.normalize("NFKC", _normal(run).casefold()).replace("ё", "е")
    text = " ".join(text.split())  # compatibility forms such as ¨ bring spaces with them
    return text.encode("utf-8", "surrogatepass")


_SAME_RUNS: Final = Runs(_same_run)
"""No form that Unicode knows reaches across white space, so that each run can be brought to it alone.

They are bytes: runs of two alphabets are joined in half the time.
"""


_digest_of_short = lru_cache(maxsize=1_024)(_digest)
"""A batch of writes asks twice for each: on its way in, and when its row is written."""


def name_key(text: str) -> str:
    """Return the form by which tags, entities and names are equal: folded, white space single, punctuation kept."""
    return " ".join(fold(text).split())


def same_name(one: str, other: str) -> bool:
    """Tell whether two names are one: `Срочно` and `срочно` are, `C` and `C++` are not."""
    return name_key(one) == name_key(other)
