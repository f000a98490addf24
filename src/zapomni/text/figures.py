"""Figures: the numbers, dates and times of a text, whatever way of writing them was chosen, Russian or English.

`$2.4M`, `2,4 млн долларов` and `2 400 000 USD` are one number, `3 May 2026`, `03.05.2026` and `2026-05-03` one date. A
comma before three digits parts thousands, before others it is the decimal comma; a dot is the decimal point. Number
words from three to ninety count, one and two only as what a figure may stand on: they are figures of speech too.
"""

from __future__ import annotations

import re
from decimal import Decimal
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.text.fold import fold
from zapomni.text.stem import stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GONE: Final = "\x1f"
"""Stands where something was read already: no letter, no digit and no white space."""
_SPOKEN_FROM: Final = 3
"""The least number that is a claim when it is written as a word."""


class Figure(NamedTuple):
    """A number or a date: where it stands, and its value part by part; None is a part that is not said.

    A number is (value, unit), a date (year, month, day, weekday, time). `claim` is False for a figure of speech.
    """

    kind: str
    start: int
    end: int
    value: tuple[object, ...]
    claim: bool = True

    def stands_in(self, other: Figure) -> bool:
        """Tell whether another figure says all that this one does."""
        pairs = zip(self.value, other.value, strict=False)
        return self.kind == other.kind and all(own is None or own == its for own, its in pairs)


# --- dates ----------------------------------------------------------------------------------------------
_MONTH_WORDS: Final = (
    "january jan январь янв",
    "february feb февраль фев",
    "march mar март мар",
    "april apr апрель апр",
    "may май мая мае маю маем",
    "june jun июнь",
    "july jul июль",
    "august aug август авг",
    "september sept sep сентябрь сент сен",
    "october oct октябрь окт",
    "november nov ноябрь нояб ноя",
    "december dec декабрь дек",
)
_DAY_WORDS: Final = (
    "monday mon понедельник",
    "tuesday tue вторник",
    "wednesday wed",
    "thursday thu четверг",
    "friday fri пятница",
    "saturday sat суббота",
    "sunday sun воскресенье",
)
_MONTHS: Final = {stem(word): no for no, words in enumerate(_MONTH_WORDS, 1) for word in words.split()}
_WEEK: Final = {stem(word): no for no, words in enumerate(_DAY_WORDS, 1) for word in words.split()}
_WEDNESDAY: Final = re.compile(r"(?<=\bв )среду|(?<=\bпо )средам|(?<=\bк )среде|(?<=\bдо )среды")
"""Only where a day can stand: среда is an environment too."""
_NTH: Final = r"(?:st|nd|rd|th|-?(?:го|е))?"
_YEAR: Final = r"(?:19|20)\d\d(?!\w)(?!\.\d)"
_NAME: Final = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")
_DAY_BEFORE: Final = re.compile(rf"(?<![\w.])(\d\d?){_NTH}(?: of)?\s$")
_DAY_BEHIND: Final = re.compile(rf"\s(\d\d?){_NTH}(?![\w:%])")
_YEAR_BEHIND: Final = re.compile(rf",?\s({_YEAR})")
_WRITTEN: Final = re.compile(
    r"(?<![\w.-])(?:(?P<year>\d{4})-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?![\d-])"
    r"|(?P<day2>\d\d?)\.(?P<month2>\d\d?)\.(?P<year2>\d{4})(?!\w|\.\d))"
)
_TIME: Final = re.compile(
    rf"(?:(?<![\w:.])|(?<={GONE}T))(\d\d?)(?::([0-5]\d)(?::[0-5]\d)?)?(?:\s?([ap])\.?m\b\.?)?(?![\w:])", re.IGNORECASE
)
_ALONE: Final = re.compile(rf"(?<![\w.,$€£₽-]){_YEAR}(?![,'’-]\d)")


def _written(text: str) -> Iterator[Figure]:
    for found in _WRITTEN.finditer(text):
        year, month, day = (found[name] or found[f"{name}2"] for name in ("year", "month", "day"))
        yield from _date(found.span(), year, int(month), day)


def _named(text: str) -> Iterator[Figure]:
    """Yield dates whose month is a word, and weekdays; English ones are told by their capital."""
    for found in _NAME.finditer(text):
        word = found[0]
        if word.isascii() and not word[0].isupper():
            continue
        key = stem(fold(word))
        if day := _WEEK.get(key):
            yield Figure("date", *found.span(), (None, None, None, day, None))
        elif month := _MONTHS.get(key):
            yield from _around(text, *found.span(), month)
    for found in _WEDNESDAY.finditer(text):
        yield Figure("date", *found.span(), (None, None, None, 3, None))


def _around(text: str, start: int, end: int, month: int) -> Iterator[Figure]:
    """Yield the date of a month's name with the day before or behind it and the year behind."""
    day = _DAY_BEFORE.search(text, max(0, start - 10), start)
    if day:
        start = day.start()
    elif day := _DAY_BEHIND.match(text, end):
        end = day.end()
    if year := _YEAR_BEHIND.match(text, end):
        end = year.end()
    yield from _date((start, end), year[1] if year else None, month, day[1] if day else None)


def _date(span: tuple[int, int], year: str | None, month: int, day: str | None) -> Iterator[Figure]:
    if 1 <= month <= 12 and int(day or 1) <= 31:  # noqa: PLR2004 - months of a year, days of a month
        yield Figure("date", *span, (int(year) if year else None, month, int(day) if day else None, None, None))


def _times(text: str) -> Iterator[Figure]:
    for found in _TIME.finditer(text):
        hour, minute, half = int(found[1]), found[2], found[3]
        if (minute or half) and hour < 24:  # noqa: PLR2004 - hours of a day
            at = hour % 12 + 12 * (half in "pP") if half else hour
            yield Figure("date", *found.span(), (None, None, None, None, f"{at}:{minute or '00'}"))


def _years(text: str) -> Iterator[Figure]:
    for found in _ALONE.finditer(text):
        if _tail(text, found.end())[1] in {None, "year"}:
            yield Figure("date", *found.span(), (int(found[0]), None, None, None, None))


# --- numbers --------------------------------------------------------------------------------------------
_CURRENCIES: Final = {"$": "usd", "€": "eur", "£": "gbp", "₽": "rub", "¥": "jpy"}
_UNIT_WORDS: Final = {
    "usd": "$ usd dollar dollars бакс баксов доллар доллары долларов долл",
    "eur": "€ eur euro euros евро",
    "gbp": "£ gbp pound pounds фунт фунты фунтов",
    "rub": "₽ rub ruble rubles rouble roubles рубль рубля рублей руб р",
    "jpy": "¥ jpy yen иена иен",
    "%": "% percent pct процент процента процентов",
    "ms": "ms millisecond milliseconds мс миллисекунда миллисекунд",
    "s": "s sec secs second seconds с сек секунда секунды секунд",
    "min": "min mins minute minutes мин минута минуты минут",
    "h": "h hr hrs hour hours ч час часа часов",
    "day": "day days день дня дней дн сутки суток",
    "week": "week weeks неделя недели недель нед",
    "month": "month months месяц месяца месяцев мес",
    "year": "year years год года лет",
    "kb": "kb kib кб",
    "mb": "mb mib мб",
    "gb": "gb gib гб",
    "tb": "tb tib тб",
    "mm": "mm мм",
    "cm": "cm см",
    "m": "m metre metres meter meters м метр метра метров",
    "km": "km kilometre kilometres kilometer kilometers км километр километра километров",
    "g": "g gram grams г грамм грамма граммов",
    "kg": "kg kilo kilogram kilograms кг килограмм килограмма килограммов",
    "l": "l litre litres liter liters л литр литра литров",
    "°c": "°c",
}
_UNITS: Final = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split()}
_SCALES: Final = {
    **dict.fromkeys(("k", "к", "thousand", "тыс", "тысяча", "тысячи", "тысяч"), Decimal(10**3)),
    **dict.fromkeys(("mln", "million", "millions", "млн", "миллион", "миллиона", "миллионов"), Decimal(10**6)),
    **dict.fromkeys(("bn", "billion", "billions", "млрд", "миллиард", "миллиарда", "миллиардов"), Decimal(10**9)),
    **dict.fromkeys(("tn", "trillion", "trillions", "трлн", "триллион", "триллиона", "триллионов"), Decimal(10**12)),
}
_GLUED: Final = {"M": Decimal(10**6), "М": Decimal(10**6), "B": Decimal(10**9)}
"""Letters that count only where they touch the digits and are capitals: `5 m` are metres."""
_SPOKEN_WORDS: Final = {
    1: "one один одна одно одного одной",
    2: "two два две двух двум двумя",
    3: "three три трех трем тремя",
    4: "four четыре четырех четырем четырьмя",
    5: "five пять пяти пятью",
    6: "six шесть шести шестью",
    7: "seven семь семи семью",
    8: "eight восемь восьми восемью",
    9: "nine девять девяти девятью",
    10: "ten десять десяти десятью",
    11: "eleven одиннадцать одиннадцати",
    12: "twelve двенадцать двенадцати",
    13: "thirteen тринадцать тринадцати",
    14: "fourteen четырнадцать четырнадцати",
    15: "fifteen пятнадцать пятнадцати",
    16: "sixteen шестнадцать шестнадцати",
    17: "seventeen семнадцать семнадцати",
    18: "eighteen восемнадцать восемнадцати",
    19: "nineteen девятнадцать девятнадцати",
    20: "twenty двадцать двадцати",
    30: "thirty тридцать тридцати",
    40: "forty сорок сорока",
    50: "fifty пятьдесят пятидесяти",
    60: "sixty шестьдесят шестидесяти",
    70: "seventy семьдесят семидесяти",
    80: "eighty восемьдесят восьмидесяти",
    90: "ninety девяносто девяноста",
}
_SPOKEN: Final = {word: no for no, words in _SPOKEN_WORDS.items() for word in words.split()}
_TENS: Final = 20
"""From here on a word may have ones joined to it: twenty-five."""
_STEMS: Final = {stem(word): unit for word, unit in _UNITS.items() if len(word) > 3}  # noqa: PLR2004 - abbreviations have none
_DIGITS: Final = re.compile(
    r"(?<![\w.])(?:(?<!\w[-−])(?<![-−])(?P<sign>[-−]))?(?:(?P<currency>[$€£₽¥])\s?|(?P<code>USD|EUR|GBP|RUB|JPY)\s)?"
    r"(?P<digits>\d{1,3}(?:[ \u00a0\u202f\u2009'’]\d{3})+(?!\d)(?:[.,]\d+)?"
    r"|\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)?)"
    r"(?:(?:st|nd|rd|th|-?(?:й|я|е|го|му|ый|ая|ое|ого|ой|х|ти|ю))(?!\w))?"
)
_LONGEST: Final = 24
"""Characters of a number that is counted with; what is longer names something."""
_WORD: Final = re.compile(r"(?<![\w-])[^\W\d_]+(?:-[^\W\d_]+)?(?![\w-])")
_NEXT: Final = re.compile(r"(?P<gap>[ \u00a0\u202f-]?)(?P<word>°?[^\W\d_]+(?!\w)|[%$€£₽¥])\.?")
_LETTER: Final = re.compile(r"\w")
_SPACED: Final = re.compile("[ \u00a0\u202f\u2009'’]")


def _tail(text: str, at: int) -> tuple[Decimal, str | None, int]:
    """Return by what a number is multiplied, its unit and where both end."""
    scale, end = Decimal(1), at
    found = _NEXT.match(text, at)
    if found:
        glued = _GLUED.get(found["word"]) if not found["gap"] else None
        named = glued or _SCALES.get(fold(found["word"]))
        if named:
            scale, end = named, found.end("word")
            found = _NEXT.match(text, found.end())
    unit = _unit(found["word"]) if found else None
    return scale, unit, found.end("word") if found and unit else end


def _unit(word: str) -> str | None:
    low = fold(word)
    return _UNITS.get(low) or _STEMS.get(stem(low))


def _numbers(text: str) -> Iterator[Figure]:
    for found in _DIGITS.finditer(text):
        digits = found["digits"]
        scale, unit, end = _tail(text, found.end())
        if re.match(r"0\d", digits) or len(digits) > _LONGEST or _LETTER.match(text, end):
            continue  # 007, 3D and the number of a card are names
        unit = _CURRENCIES.get(found["currency"] or "") or (found["code"] or "").lower() or unit
        value = _value(digits) * scale * (-1 if found["sign"] else 1)
        yield Figure("number", found.start(), end, (value.normalize(), unit or None))


def _value(digits: str) -> Decimal:
    plain = _SPACED.sub("", digits)
    head, comma, tail = plain.partition(",")
    if comma and ("." in tail or "," in tail or len(tail) == 3):  # noqa: PLR2004 - thousands
        return Decimal(plain.replace(",", ""))
    return Decimal(f"{head}.{tail}" if comma else plain)


def _spoken(text: str) -> Iterator[Figure]:
    for found in _WORD.finditer(text):
        head, _, ones = fold(found[0]).partition("-")
        value = _SPOKEN.get(head, 0)
        if value and (not ones or (value >= _TENS and ones in _SPOKEN)):
            scale, unit, end = _tail(text, found.end())
            total = (value + _SPOKEN.get(ones, 0)) * scale
            yield Figure("number", found.start(), end, (total.normalize(), unit), total >= _SPOKEN_FROM)


# --- all of them ----------------------------------------------------------------------------------------
def read_dates(text: str) -> tuple[list[Figure], str]:
    """Return the dates and times of a text, and the text with `GONE` in their place."""
    return _read(text, _written, _named, _times)


def read_numbers(text: str) -> tuple[list[Figure], str]:
    """Return the years and numbers of a text whose dates are gone, and the text without them too."""
    return _read(text, _years, _numbers, _spoken)


def _read(text: str, *readers: Callable[[str], Iterator[Figure]]) -> tuple[list[Figure], str]:
    figures: list[Figure] = []
    for reader in readers:
        found = list(reader(text))
        figures += found
        text = _without(text, found)
    return figures, text


def _without(text: str, figures: list[Figure]) -> str:
    pieces, at = [], 0
    for one in sorted(figures, key=attrgetter("start")):
        pieces += [text[at : one.start], GONE * (one.end - max(at, one.start))]
        at = max(at, one.end)
    return "".join((*pieces, text[at:]))
