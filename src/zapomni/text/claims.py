"""Claims: what of a statement can be right or wrong word by word, held against the texts it was drawn from.

Claims are numbers with their units, dates and times, names, and code (spans in backticks, identifiers, paths, flags,
versions, addresses). `invented` names those of a statement that stand in no source, `dropped` those that a statement
leaves out of a sentence that it repeats: one of whose plain words (by stem, without stop words and claims) more than
half stand in the statement. A statement on another matter need not hold its values.

What is not told: which value belongs to which subject, values in other units (90 minutes and 1.5 hours), sums and
counts of one's own, and names in another script (Alice and Алиса are two): what is not found counts as invented.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.text.figures import GONE, Figure, read_dates, read_numbers
from zapomni.text.fold import fold
from zapomni.text.language import is_russian
from zapomni.text.reckoned import Reckoning
from zapomni.text.stem import stem
from zapomni.text.stopwords import STOP_WORDS
from zapomni.text.words import query_words, similar_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

REPEATED: Final = 0.5
"""A statement that holds more than this share of a sentence's plain words repeats it."""
BORNE: Final = 0.5
"""A statement of whose words at least this share stands in a text speaks of it."""

_ENGLISH: Final = """
above according across although apart because below both combined consequently currently despite due during each either
every everything few finally first for further given hence however instead last later likely many meanwhile more most
neither never next nobody none nothing now often once one only other others otherwise overall perhaps regardless second
several similarly since sometimes still taken therefore third though thus today together two unlike until usually what
whenever whereas whether while within without yesterday yet
"""
_RUSSIAN: Final = """
благодаря большинство вероятно вместе вместо внутри вопреки вначале вчера второе второй выше далее две двое дальше зато
значит итак иначе иногда каждая каждое каждый кроме либо лишь любая любой менее многие многое наверное например
несколько несмотря ниже никто оба обе обычно одна однако одни одно остальные отсюда пока поскольку похоже поэтому при
раньше следовательно снова сначала согласно среди судя также таким третий третье часто часть чаще
"""
_COMMON: Final = STOP_WORDS | frozenset(_ENGLISH.split() + _RUSSIAN.split())
"""Words that open a sentence and are no names."""
_SPAN: Final = re.compile(r"(?<!`)(`{1,2})(?!`)([^`]+)\1(?!`)")
_CODE: Final = re.compile(
    r"""(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://[^\s<>"'»)]*[^\s<>"'»).,;:!?]
    | (?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+
    | (?<![\w-])--?[A-Za-z][\w-]*
    | (?<![\w/.~])(?:~|\.{1,2})?/[\w.-]*[\w-](?:/[\w.-]*[\w-])*
    | (?<![\w/])[A-Za-z]:\\[^\s"']+
    | (?<![\w./-])[\w.-]+(?:/[\w.-]*[\w-]){2,}
    | (?<![\w./-])(?:[\w-]+/)*[\w-]{2,}(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w(])
    | (?<!\w)\w+(?:::\w+)+(?:\(\))?
    | (?<![\w.])\w+(?:\.\w+)*\(\)
    | (?<!\w)(?=\w*[^\W_]_|_\w)\w+
    | (?<!\w)(?:[a-z]+[A-Z]|[A-Z][a-z][a-z0-9]*[A-Z])\w*
    | (?<![\w.])v?\d+(?:\.\d+){2,}[\w-]*
    | (?<![\w-])[^\W\d_]+(?:-[^\W\d_]+)*-\d\w*""",
    re.VERBOSE,
)
"""Addresses, flags, paths, dotted names, identifiers, versions and names with a number behind a hyphen (UTF-8).

Each begins where no word goes on, so that no text makes a search slow.
"""
_MIXED: Final = re.compile(r"(?<!\w)\w*\d\w*")
"""What holds a digit and was read as no number: Q3, T47, k8s, 007."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_START: Final = re.compile(rf"(?:^|[.!?…:;\n][\"'»”)\]]*|{GONE}[.!?…:]+)[\s\"'«„“”(\[*_#>•–—-]*$")
_BEFORE: Final = 40
"""Characters before a word that tell whether it opens a sentence."""
_ALIKE: Final = 5
"""Letters from which two beginnings are one word: shorter names are beginnings of one another too often."""
_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|\n+|;\s+")
_CLITIC: Final = re.compile(r"['’]s?$", re.IGNORECASE)
_FLEETING: Final = re.compile(r"(?<=\w\w)[ео]([бвгджзклмнпрстфхцчшщ])$")
"""The vowel that comes and goes in Russian: Павел, Павла."""
_SURNAME: Final = re.compile(r"(?<=[а-я]{3})[ое]в$")
"""What the stemmer takes off Петров and leaves on Петрову; Степан and Степанов are one by that."""
_OWN: Final = re.compile(r"['’]s$", re.IGNORECASE)


class _Read(Struct, frozen=True, dict=True):
    """A text with its figures, its code and what is left without them."""

    text: str
    figures: tuple[Figure, ...]
    code: tuple[str, ...]
    rest: str

    @classmethod
    def of(cls, text: str, *, spans: bool = True) -> _Read:
        """Read a text; without `spans` what stands in backticks is text like any other."""
        whole, code = text, list[str]()
        if spans:
            code = [" ".join(found[2].split()) for found in _SPAN.finditer(text)]
            text = _SPAN.sub(_gone, text)
        dates, text = read_dates(text)
        code += _CODE.findall(text)
        numbers, text = read_numbers(_CODE.sub(_gone, text))
        code += _MIXED.findall(text)
        return cls(whole, (*dates, *numbers), tuple(code), _MIXED.sub(_gone, text))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of every word, those of figures and code too."""
        return frozenset(map(_key, _WORD.findall(self.text)))

    @cached_property
    def small(self) -> frozenset[str]:
        """The stems of the words in small letters, which are no names."""
        return frozenset(_key(word) for word in _WORD.findall(self.rest) if word[0].islower())

    @cached_property
    def names(self) -> list[tuple[str, bool]]:
        """The words with a capital that may be names, and whether each stands where only names have one."""
        return [
            (found[0], bool(_OWN.search(found[0])) or not self._opens(found.start()))
            for found in _WORD.finditer(self.rest)
            if found[0][0].isupper() and len(found[0]) > 1 and not _is_common(found[0])
        ]

    @cached_property
    def plain(self) -> frozenset[str]:
        """The stems of the words that are no claims and no stop words."""
        words = (word for word in _WORD.findall(self.rest) if len(word) > 1 and not _is_common(word))
        return frozenset(map(_key, words)) - {_key(word) for word, sure in self.names if sure}

    def written(self, figure: Figure) -> str:
        """Return a figure as it is written."""
        return self.text[figure.start : figure.end].strip()

    def _opens(self, at: int) -> bool:
        """Tell whether a sentence, a line or a quotation begins here."""
        return _START.search(self.rest[max(0, at - _BEFORE) : at]) is not None


class Sources:
    """Texts that statements are held against, each read once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._reckoned: dict[date, list[Reckoning]] = {}
        self._read = [_Read.of(text, spans=spans) for text in texts for spans in (False, True)]
        self._known = frozenset[str]().union(*(one.stems for one in self._read))
        self._small = frozenset[str]().union(*(one.small for one in self._read))
        self._words = frozenset[str]().union(*map(similar_words, texts))
        self._begun = {word[:_ALIKE] for word in self._words if len(word) >= _ALIKE}

    def invented(self, statement: str) -> list[str]:
        """Return the claims of a statement that stand in no text; see `invented`."""
        said = _Read.of(statement)
        small = said.small | self._small
        found = [said.written(one) for one in said.figures if one.claim and not _is_said(one, self._read)]
        found += [one for one in said.code if not any(_holds(text, one) for text in self._texts)]
        strange = [(word, sure) for word, sure in said.names if not _is_known(word, self._known)]
        found += [word for word, sure in strange if sure or not _is_like(word, small)]
        return list(dict.fromkeys(found))

    def touch(self, statement: str) -> bool:
        """Tell whether a statement stands in a text, or shares with one the stem of a word, a number or a date.

        Stop words do not count; where a script puts no spaces between words, a pair of neighbouring characters is one.
        """
        stands = any(statement.strip() in text for text in self._texts)
        if stands or any(word.stem in self._words for word in query_words(statement)):
            return True
        return any(_is_said(one, self._read) for one in _Read.of(statement).figures)

    def strange_words(self, statement: str) -> list[str]:
        """Return the words of a statement that no text holds, where those are more than its share `BORNE` allows.

        Words are compared by their stems or their first letters, stop words left out; figures that a text says count
        as words, others do not. In another language than that of the texts no word is strange.
        """
        read = _Read.of(statement)
        if is_russian(read.rest) is not is_russian("\n".join(self._texts)):
            return []
        words = [word for word in _WORD.findall(read.rest) if len(word) > 1 and not _is_common(word)]
        strange = [word for word in words if not self._holds(word)]
        said = sum(_is_said(one, self._read) for one in read.figures)
        return list(dict.fromkeys(strange)) if len(strange) > (1 - BORNE) * (len(words) + said) else []

    def _holds(self, word: str) -> bool:
        stems = [one.stem for one in query_words(word)]
        return any(one in self._words or one[:_ALIKE] in self._begun for one in stems)

    def strange_dates(self, statement: str, said: date) -> list[str]:
        """Return the dates of a statement that no text bears out, having been said on this day; see `Reckoning`."""
        read = _Read.of(statement)
        dates = [one for one in read.figures if one.kind == "date" and one.claim]
        return [read.written(one) for one in dates if not self._bears(one, said)]

    def is_strange(self, day: date, said: date) -> bool:
        """Tell whether no text bears out a day, having been said on this one."""
        return not self._bears(Figure("date", 0, 0, (day.year, day.month, day.day, None, None)), said)

    def _bears(self, figure: Figure, said: date) -> bool:
        if said not in self._reckoned:
            self._reckoned[said] = [Reckoning(text, said) for text in self._texts]
        return any(text.bears(figure) for text in self._reckoned[said])


def invented(statement: str, sources: Sequence[str]) -> list[str]:
    """Return the claims of a statement that stand in none of its sources, as they are written there.

    Figures may be written another way, names may stand in another case, code must stand letter by letter. A word with
    a capital that opens a sentence counts as a name unless a source holds it, unless a word in small letters begins
    alike, and unless it is one of the usual openings (both, together; вместе, однако).
    """
    return Sources(sources).invented(statement)


def dropped(statement: str, source: str, names: Iterable[str] = ()) -> list[str]:
    """Return the claims of those sentences of a source that a statement repeats and leaves without them.

    `names` are known names of the source: a word that opens a sentence is otherwise taken for no name.
    """
    said = _Read.of(statement)
    read = (said, _Read.of(statement, spans=False))
    known = {key for name in names for key in map(_key, _WORD.findall(name))}
    found: list[str] = []
    for sentence in map(_Read.of, _SENTENCE.split(source)):
        if not sentence.plain or len(sentence.plain & said.stems) <= REPEATED * len(sentence.plain):
            continue
        names_in = (word for word, sure in sentence.names if sure or _key(word) in known)
        found += [sentence.written(one) for one in sentence.figures if one.claim and not _is_said(one, read)]
        found += [one for one in sentence.code if not _holds(statement, one)]
        found += [_CLITIC.sub("", word) for word in names_in if not _is_known(word, said.stems)]
    return list(dict.fromkeys(found))


def is_date(claim: str) -> bool:
    """Tell whether a claim is a day, a year or a time."""
    return any(one.kind == "date" for one in _Read.of(claim).figures)


def _is_said(figure: Figure, texts: Iterable[_Read]) -> bool:
    return any(figure.stands_in(other) for text in texts for other in text.figures)


def _holds(text: str, code: str) -> bool:
    """Tell whether code stands in a text letter by letter, and not as a part of a longer word, flag or number."""
    pattern = rf"(?<![\w-]){re.escape(code)}(?!\w|[-.:/@]\w)"
    return re.search(pattern, " ".join(text.split())) is not None


def _is_known(word: str, known: frozenset[str]) -> bool:
    """Tell whether a word stands among some stems, or each part of a joined one."""
    return _key(word) in known or all(_key(part) in known for part in word.split("-"))


def _is_like(word: str, known: frozenset[str]) -> bool:
    """Tell whether a word and one of some stems begin alike: утверждён, утверждённый."""
    key = _key(word)
    return any(
        min(len(key), len(other)) >= _ALIKE and (key.startswith(other) or other.startswith(key)) for other in known
    )


def _is_common(word: str) -> bool:
    return fold(_CLITIC.sub("", word)) in _COMMON


def _key(word: str) -> str:
    return _FLEETING.sub(r"\1", _SURNAME.sub("", stem(fold(_CLITIC.sub("", word)))))


def _gone(found: re.Match[str]) -> str:
    return GONE * len(found[0])
