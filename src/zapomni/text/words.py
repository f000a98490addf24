r"""Words: how text becomes the tokens of the lexical index, and a query the words looked for in it.

The token alphabet. A token is a folded run (`fold`) without white space, controls, double quotes or lone
surrogates, at most `LONGEST` characters. There are four sorts:
* a word: a run of letters and digits. `title` and `body` hold its stem, `exact` its form where that differs;
* an identifier: words joined by any of `-_./:@#+\'&` or by camelCase, with a dot before (`.NET`) or `++`, `#`
  behind (`C++`, `C#`). It stands whole in `body` and in `exact`, then its segments (`/`, `:`, `@` and `&` part
  those), then its words: a query for any of the three finds it, and the whole, being rare, weighs most;
* a pair of neighbouring characters, in scripts that put no spaces between words and in Korean; each Chinese
  character stands in `exact` as well, so that one alone can be asked for;
* a symbol or emoji, one code point each.
A hexadecimal word of more than `HASH_PREFIX` characters gives its first `HASH_PREFIX` too, in index and query
alike: that is how a short commit hash finds a long one and the other way round.

Text and query go through the same analysis, so every word of a text finds that text. Queries have no syntax.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.text.fold import bare, fold
from zapomni.text.runs import Runs
from zapomni.text.stem import stem
from zapomni.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.model import Draft, Memory

TOKENIZER: Final = r"ascii tokenchars '!#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
"""The FTS5 tokenizer under which every token stays whole: it parts text at spaces (and controls) alone.

It looks at bytes, where `unicode61` asks of each character what it is, for three times as long.
"""

LONGEST: Final = 128
"""Most characters of a token; longer ones are cut alike in text and query."""

QUERY_WORDS: Final = 64
"""Most words of one query; the first ones count. Each is a search of its own inside the index."""

HASH_PREFIX: Final = 7
"""Characters of git's short hashes."""

SURNAME: Final = ("ов", "ев")
"""How Russian surnames end in the nominative, and plural nouns in the genitive: Snowball cuts it off either way."""

_CUT: Final = ("в", "м")
"""The consonants which Snowball cuts off for an ending though they are the word's own: `петр` for `Петров`, where
`Петрова` gives `петров`, and `макс` for `Максим`."""

_HUMPS: Final = 8  # with more camel humps it is a random string, whose parts mean nothing

_DENSE: Final = (
    r"\u0e00-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
)
"""Thai to Burmese, Khmer, kana, Han, Hangul."""
_SIGNS: Final = r"\u0700-\u0963\u0966-\u0dff\u1700-\u177f\u1800-\u1cff\ua800-\uabff"
"""Scripts whose vowel signs are part of a word though Python's \\w leaves them out."""
_FAR: Final = re.compile(r"[\u0700-\u1cff\u2e80-\ud7ff\U00020000-\U0010ffff]")
"""What may be one of `_DENSE` or `_SIGNS`; Latin, Cyrillic, symbols and emoji are not."""
_PLAIN: Final = re.compile(r"""["'(\[*«„“]*([A-Za-zА-Яа-яЁё]+)["')\]*»“”.,;:!?…]*""")
"""Most runs of Russian and English text: one word and the punctuation around it."""
_SEGMENTS: Final = re.compile(r"[/\\:@&]+")
_CLIPPED: Final = re.compile(r"'(?:s|t|ll|re|ve|m|d)$", re.IGNORECASE)
_HASH: Final = re.compile(rf"(?=.*\d)(?=.*[a-f])[0-9a-f]{{{HASH_PREFIX + 1},}}")
_EMOJI: Final = ("\U0001f000", "\U0001faff")


class _Script(Struct, frozen=True):
    """The patterns of words, units and unparted runs for near or far text."""

    word: re.Pattern[str]
    unit: re.Pattern[str]
    dense: re.Pattern[str]


def _script(word: str, dense: str) -> _Script:
    joint = r"[-_./:@#+\\'&]"
    unit = rf"(?:(?<![\w.])\.)?{word}(?:{joint}+{word})*(?:\+\+|\#(?!\w))?|{dense}|[^\w\s\x00-\x7f]"
    return _Script(re.compile(word), re.compile(unit), re.compile(dense))


_NEAR_SCRIPT: Final = _script(r"[^\W_]+", r"(?!)")


@cache
def _far_script() -> _Script:  # these ranges take tens of milliseconds to compile
    return _script(rf"(?:[^\W_{_DENSE}]|[{_SIGNS}])+", rf"[{_DENSE}]+")


class QueryWord(Struct, frozen=True):
    """One word to look for: `stem` in titles and bodies, `exact` among exact forms.

    `exact` is None where the index holds no other form than the stem. A part of an identifier names the
    `whole` by its stem: text that holds the whole need not be asked for the parts as well.
    """

    stem: str
    exact: str | None = None
    whole: str | None = None

    @property
    def terms(self) -> tuple[str, ...]:
        """What the word may stand as in the index: its stem, and its form where that may be the stem of others."""
        if self.exact is None or self.exact == self.stem or not self.exact.endswith(_CUT):
            return (self.stem,)
        return self.stem, self.exact

    @property
    def surname(self) -> bool:
        """Whether it may be a surname in the nominative, which Snowball takes for a genitive plural: `кузнецов`."""
        return self.exact is not None and self.exact != self.stem and self.exact.endswith(SURNAME)


_kept: Final = lru_cache(maxsize=16_384)(QueryWord)
"""A word of one or two characters, most of which are met again."""


class IndexWords(Struct, frozen=True):
    """The tokens of one text for the three columns of the index, parted by single spaces, in UTF-8.

    A text of two alphabets is joined in half the time of bytes, and the store takes them without another look.
    """

    title: bytes
    body: bytes
    exact: bytes


def index_words(*, title: str, body: str) -> IndexWords:
    """Return what the index keeps of a text; `title` is every short field joined, `body` the content."""
    heading, heading_exact = _joined(title)
    text, exact = _joined(body)
    return IndexWords(title=heading.rstrip(), body=text.rstrip(), exact=(heading_exact + exact).rstrip())


def memory_words(memory: Memory | Draft) -> IndexWords:
    """Return what the index keeps of a memory, or of one that is still a draft."""
    title, body = word_fields(memory)
    return index_words(title=title, body=body)


def word_fields(memory: Memory | Draft) -> tuple[str, str]:
    """Return what is indexed of a memory: every short field joined, and its content."""
    short = (memory.title, memory.description, *memory.tags, *memory.entities, memory.path or "")
    return "\n".join(filter(None, short)), memory.content


def query_words(text: str) -> tuple[QueryWord, ...]:
    """Return the distinct words of a query in their order, at most `QUERY_WORDS`.

    Stop words go unless nothing else remains. AND, OR, NOT, NEAR, quotes, stars and brackets mean nothing
    special. Empty for text without a word in it.
    """
    words = _distinct(text)
    telling = [word for word in words if (word.exact or word.stem) not in STOP_WORDS]
    return tuple((telling or words)[:QUERY_WORDS])


def passed_over(text: str) -> tuple[str, ...]:
    """Return the words of a query that `query_words` leaves out, as they were written: stop words, and too many."""
    asked = set(query_words(text))
    return tuple(word.exact or word.stem for word in _distinct(text) if word not in asked)


def _distinct(text: str) -> list[QueryWord]:
    distinct: dict[str, QueryWord] = {}
    for word in chain.from_iterable(_ANALYSED.of(text)):
        if word.stem:
            distinct.setdefault(word.stem, word)
    return list(distinct.values())


def similar_words(text: str) -> frozenset[str]:
    """Return the stems by which `similarity` compares texts; stop words count, for `not` tells two facts apart."""
    return frozenset(word.stem for word in chain.from_iterable(_ANALYSED.of(text)) if word.stem)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two texts have in common, 0 to 1 (Jaccard); 0 when neither has any."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0


def _joined(text: str) -> tuple[bytes, bytes]:
    """Return the stems of a text and its exact forms, each with a blank behind it."""
    parted = tuple(zip(*_TOKENS.of(text), strict=True))
    return (b"".join(parted[0]), b"".join(parted[1])) if parted else (b"", b"")


def _tokens(run: str) -> tuple[bytes, bytes]:
    """Return what the index holds of a run without white space: stems and exact forms, a blank behind each, in UTF-8.

    So that no text need be asked which of its runs have none.
    """
    words = list(_words(run))
    stems = "".join([f"{word.stem} " for word in words if word.stem])
    return stems.encode(), "".join([f"{word.exact} " for word in words if word.exact]).encode()


_TOKENS: Final = Runs(_tokens)


def _analysed(run: str) -> tuple[QueryWord, ...]:
    return tuple(_words(run))


_ANALYSED: Final = Runs(_analysed)


def _words(run: str) -> Iterator[QueryWord]:
    plain = _PLAIN.fullmatch(run)
    if plain and len(_humps(plain[1])) == 1:
        return _word(plain[1].lower().replace("ё", "е")[:LONGEST])  # as `fold` has it, in a third of the time
    if run.isascii():
        return _units(run, _NEAR_SCRIPT)
    # № is parted off first: NFKC would make №118 the word no118.
    text = bare(run.replace("№", " "))
    return _units(text, _far_script() if _FAR.search(text) else _NEAR_SCRIPT)


def _units(text: str, script: _Script, whole: str | None = None) -> Iterator[QueryWord]:
    for unit in script.unit.findall(text):
        if script.dense.match(unit):
            yield from _pairs(unit)
        elif script.word.search(unit):
            yield from _identify(_CLIPPED.sub("", unit) if "'" in unit else unit, script, whole)
        elif _is_symbol(unit):
            yield _kept(unit)


def _identify(unit: str, script: _Script, whole: str | None = None) -> Iterator[QueryWord]:
    form = fold(unit)[:LONGEST]
    if _SEGMENTS.search(unit):
        yield QueryWord(form, form, whole)
        for segment in _SEGMENTS.split(unit):
            yield from _units(segment, script, whole or form)
        return
    words = [unit] if unit.isalnum() else script.word.findall(unit)
    parts = _humps(unit) if words == [unit] else words
    if parts == [unit]:
        yield from _word(form, whole)
        return
    short = stem(form)
    yield QueryWord(short, form, whole)
    for part in parts:
        yield from _identify(part, script, whole or short)


def _word(form: str, whole: str | None = None) -> Iterator[QueryWord]:
    short = stem(form)
    yield QueryWord(short, form if form != short else None, whole)
    if len(form) > HASH_PREFIX and _HASH.fullmatch(form):
        yield QueryWord(form[:HASH_PREFIX], None, whole or short)


def _humps(word: str) -> list[str]:
    """Part camelCase at its humps: `refreshToken`, `TLSSession`; `URLs` and capitals throughout stay one word."""
    if word.islower() or word[1:].islower() or word.isdecimal() or word.isupper():
        return [word]
    if word[:-1].isupper() and word[-1] == "s":
        return [word]
    starts = [
        at
        for at in range(1, len(word))
        if word[at].isupper() and (not word[at - 1].isupper() or word[at + 1 : at + 2].islower())
    ]
    if len(starts) >= _HUMPS:
        return [word]
    return [word[start:end] for start, end in zip([0, *starts], [*starts, len(word)], strict=True)]


def _pairs(run: str) -> Iterator[QueryWord]:
    if len(run) == 1:
        yield QueryWord(run, run if _is_han(run) else None)
        return
    for first, second in pairwise(run):
        yield _kept(first + second)
    for char in filter(_is_han, run):
        yield _kept("", char)


def _is_han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff" or char >= "\U00020000"


def _is_symbol(char: str) -> bool:
    # Emoji newer than this Python's tables count as unassigned.
    return unicodedata.category(char) == "So" or _EMOJI[0] <= char <= _EMOJI[1]
