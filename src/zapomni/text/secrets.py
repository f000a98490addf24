"""Secrets: what must not be stored is cut out before anything else sees the text.

Five sorts of rules run in this order: `<private>` blocks, the known shapes (`secret_shapes`), numbers of payment
cards, values assigned to a name such as `password` or `токен`, and long random strings. Each is tried only on a
text that holds one of its literals, and what a run of a text holds is remembered.

Limits, stated: a password of letters alone is known only in quotes or right behind `=` (`PASSWORD=letmein`),
for in prose it is a word (`password: required`); behind a mere space (`Пароль от стенда Qwerty12345`) only one
that ends its sentence and mixes letters with digits as names do not; a value that begins like a placeholder
(`$`, `<`, `{`, `%`, `*`, `(`, `[`) is taken for one; random strings of one letter case, hexadecimal ones and those
shorter than `RANDOM_LENGTH` need an assignment or a known shape, for commit hashes and ids look the same.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING, Final

from zapomni.text.runs import Runs
from zapomni.text.secret_shapes import LITERALS, SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RANDOM_LENGTH: Final = 32
"""Fewest characters of a random string; message and file ids of many services are shorter."""
RANDOM_ENTROPY: Final = 4.0
"""Fewest bits a character (Shannon). 32 random base64 characters have 4.5 on average, English words 3.5 to 4."""
RANDOM_CHANGES: Final = 0.45
"""Smallest share of neighbours of different classes (lower, upper, digit, other). Random base64 has 0.64,
camelCase names and paths below 0.4."""

_PRIVATE: Final = re.compile(r"(?<!`)<private>|</private>", re.IGNORECASE)

_PASSWORD_NAMES: Final = ("password", "passwd", "pwd", "passphrase", "_pass", "-pass", "парол")
_KEY_NAMES: Final = (
    "secret", "token", "credential", "api_key", "apikey", "api-key", "api key", "access_key", "accesskey",
    "access-key", "access key", "secret_key", "secretkey", "secret-key", "secret key", "private_key", "auth_key",
    "authkey", "signing_key", "encryption_key", "account_key", "master_key", "секрет", "токен", "ключ api",
    "ключ доступа", "api-ключ", "api ключ", "секретный ключ", "приватный ключ", "закрытый ключ",
)  # fmt: skip
_SESSION_NAMES: Final = ("sessionid", "sessid")
_STEMS: Final = ("pass", "pwd", "парол", "secret", "token", "credential", "key", "секрет", "токен", "ключ", "sess")
"""One of them stands in every name, so that a third of the searches tells that none is there."""
_VALUE: Final = re.compile(
    r"""(?P<ending>[а-яё]{0,3}s?)(?P<mark>[\\"'`*\])]{0,3})
    (?:\s(?:for|to|of|on|at|от|для|на|к|в)(?:\s[\w.@/-]{1,40}){1,3}(?=:|\s[—=]|\sis\s))?
    (?P<sign>\s{0,3}(?::=|=>|==?|:|—|–)[*`]{0,3}\s{0,3}|\s-\s{1,3}|\s(?:is|это)\s:?)
    (?P<quote>\\?["'`]|)(?P<value>(?![$<{%*(\[])[^\s"'`,;<>\\]{4,512})""",
    re.VERBOSE | re.IGNORECASE,
)
_SPACED: Final = re.compile(
    r"""[а-яё]{0,3}s?(?P<about>\s(?:for|to|of|on|at|от|для|на|к|в)(?:\s[\w.@/-]{1,40}){1,3}?)?\s
    (?P<value>(?=\D{0,63}\d)(?![$<{%*(\[-])[^\s"'`,;<>\\]{8,64})
    (?=[,;]|\s{0,3}(?:\Z|\n)|(?<=[.!?])\s|\s(?:[—–(-]|(?:и|а|но|and|but)\s))""",
    re.VERBOSE | re.IGNORECASE,
)
"""A password behind a mere space, at the end of its sentence."""
_FLAG: Final = re.compile(r"""(?P<sign>\s)(?P<quote>["']|)(?P<value>(?![$<{%*(\[-])[^\s"'`,;<>\\]{4,512})""")

_NO_SECRETS: Final = re.compile(
    r"""(?:sha-?\d+|md5|[bs]crypt|argon2\w*|pbkdf2\w*|base\d+|oauth\d?|hs\d+|rs\d+|es\d+|utf-?8|1password|keepass\w*
    |password|passwd|secret|token|string|str|none|null|true|false|required|optional|hidden|redacted|changed?|empty
    |v?\d+(?:[.:/-]\d+)+|[\w.]+\(.*|.*://.*|[~.]{0,2}/.*|(?:os|process|settings|config|self|env)\.\S+
    |id_(?:rsa|dsa|ecdsa|ed25519)\S*|same[-_]as\S*|as[-_]in\S*|(?:так(?:ой|ая)|тот|как)[-_]\S*|.*\.(?:txt|md|json|ya?ml|env|py|ts|js|pem|key|toml|ini))""",
    re.VERBOSE | re.IGNORECASE,
)
"""Values that name a method, a type, a place or a date and hide nothing."""
_SYMBOL_INSIDE: Final = re.compile(r"\w[!@#$%^&*?+=]+\w")
_STRONG: Final = re.compile(r".*(?:[!@#$%^&*?+=]|\d{4})", re.DOTALL)
_OTHER_NAME: Final = re.compile(r"[^\W\d_]{1,10}-\d+|[\w.+-]+@[\w-]+\.[\w.]+")
"""Tickets and addresses of mail."""
_LONG_PASSWORD: Final = 6
_SHORT_KEY: Final = 8
_LONG_SESSION: Final = 16
_NAME_PART: Final = re.compile(r"\d{1,4}|[^\W\d_]{2,}\d{0,3}|\w{1,3}")
_RUSSIAN: Final = re.compile(r"[а-яё]", re.IGNORECASE)  # no object of a program is named so
_JOINTS: Final = re.compile(r"[-_./:@+]+")

_CARD: Final = re.compile(
    r"""(?<![\w.,+/=\#-])(?:3[47][0-9]{2}([ -]?)[0-9]{6}\1[0-9]{5}
    |(?:4[0-9]|5[1-5]|2[2-7]|35|6[0-9])[0-9]{2}([ -]?)[0-9]{4}\2[0-9]{4}\2[0-9]{4})(?![\w-]|[.,]\d)""",
    re.VERBOSE,
)
_CARD_DIGITS: Final = 15
"""Fewest digits of a card's number."""
_LONG_NUMBER: Final = re.compile(rf"[0-9](?:[ -]?[0-9]){{{_CARD_DIGITS - 1}}}")
"""What every card's number holds; looking for it takes a fifth of the time."""
_DIGIT: Final = re.compile(r"[0-9]")
_HIDES: Final = 1 << 32
"""More than any text has digits."""
_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
"""The digit sum of twice a digit, by the digit."""

_RANDOM: Final = re.compile(rf"(?<![\w+/:,.-])[A-Za-z0-9+/_-]{{{RANDOM_LENGTH},512}}={{0,2}}(?![\w+/=-])")
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F-]+")
_NOT_HIDDEN: Final = re.compile(r"sha\d{1,3}-|AAAA|data:")  # integrity hashes and public ssh keys


COVER: Final = "█"
"""Covers a secret where its length has to stay."""


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Return text with `[REDACTED:rule]` for every secret in it, and the names of the rules that fired.

    `<private>` blocks go whole, an unclosed one to the end of the text; a tag right behind a backtick is only
    talked about. Of an assignment the value goes and the name stays. Text that was redacted comes back as it is.
    """
    fired = Fired()
    return _without_secrets(text, fired), tuple(dict.fromkeys(fired))


def masked(text: str) -> str:
    """Return text of the same length and lines in which every secret is covered, so that places in it still hold."""
    return _without_secrets(text, _Covering())


class Fired(list[str]):
    """The rules that fired, and what stands in the place of a secret."""

    def mark(self, rule: str, secret: str) -> str:  # noqa: ARG002 - of any secret the same
        """Return what stands in the place of a secret."""
        return _mark(rule)


class _Covering(Fired):
    def mark(self, rule: str, secret: str) -> str:
        """Return as many characters as the secret has, its line ends among them."""
        label = _mark(rule)
        cover = label.ljust(len(secret), COVER) if len(label) <= len(secret) else COVER * len(secret)
        return "".join(end if end in "\r\n" else sign for end, sign in zip(secret, cover, strict=True))


def _without_secrets(text: str, fired: Fired) -> str:
    suspicion = sum(_SUSPICION.of(text))
    if suspicion < _CARD_DIGITS:
        return text
    if suspicion < _HIDES:
        return _without_cards(text, fired)
    for rule in (_without_private, _without_shapes, _without_cards, _without_assigned, _without_random):
        text = rule(text, fired)
    return text


def _suspicion(run: str) -> int:
    """Return how many digits of a card a run without white space can hold, `_HIDES` if another rule looks for it."""
    if len(run) >= RANDOM_LENGTH or "<" in run or _shapes_in(run):
        return _HIDES
    low = run.lower()
    return _HIDES if any(stem in low for stem in _STEMS) else len(_DIGIT.findall(run))


_SUSPICION: Final = Runs(_suspicion)
"""Of nearly every text the sum is small, and no rule need look at it."""


def _shapes_in(text: str) -> set[int]:
    """Return the places of the shapes that one of the literals in a text belongs to."""
    return {at for sign, pairs in LITERALS.items() if sign in text for literal, at in pairs if literal in text}


def _without_private(text: str, fired: Fired) -> str:
    if "<" not in text or "<private>" not in text.lower():
        return text
    return _replaced(text, _private(text), "private", fired)


def _private(text: str) -> Iterator[tuple[int, int]]:
    start = depth = 0
    for tag in _PRIVATE.finditer(text):
        if tag[0][1] != "/":
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, tag.end()
    if depth:
        yield start, len(text)


def _without_shapes(text: str, fired: Fired) -> str:
    for at in sorted(_shapes_in(text)):
        shape = SHAPES[at]
        text = _replaced(text, _secrets(shape.pattern, text), shape.name, fired)
    return text


def _secrets(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    group = "secret" if pattern.groups else 0
    return (found.span(group) for found in pattern.finditer(text) if not _marked(found[group]))


def _without_cards(text: str, fired: Fired) -> str:
    if not _LONG_NUMBER.search(text):
        return text
    spans = (found.span() for found in _CARD.finditer(text) if _adds_up(found[0]))
    return _replaced(text, spans, "card", fired)


def _adds_up(number: str) -> bool:
    """Tell whether the last digit of a card's number is the one that Luhn's sum asks for."""
    digits = [int(char) for char in number if char.isdigit()]
    return (sum(digits[-1::-2]) + sum(_DOUBLED[digit] for digit in digits[-2::-2])) % 10 == 0


def _without_assigned(text: str, fired: Fired) -> str:
    low = text.replace("İ", "i").lower()  # the one letter whose small form is longer: places must stay the same
    if not any(stem in low for stem in _STEMS):
        return text
    for names, rule, hides in _ASSIGNED:
        spans = {span for name in names if name in low for span in _assigned(text, low, name, hides)}
        if spans:
            text = _replaced(text, iter(sorted(spans)), rule, fired)
            low = text.replace("İ", "i").lower()
    return text


def _assigned(text: str, low: str, name: str, hides: Callable[[str, re.Match[str]], bool]) -> Iterator[tuple[int, int]]:
    at = low.find(name)
    while at >= 0:
        end = at + len(name)
        found = _VALUE.match(text, end) or (_FLAG.match(text, end) if _is_flag(text, at) else None)
        hides_it = hides
        if found is None and hides is _is_password:
            found, hides_it = _SPACED.match(text, end), _is_strong
        value = found["value"].rstrip(".?)]}") if found else ""
        if found and not _marked(value) and not _NO_SECRETS.fullmatch(value.rstrip("!")) and hides_it(value, found):
            yield found.start("value"), found.start("value") + len(value)
        at = low.find(name, end)


def _is_flag(text: str, at: int) -> bool:
    """Tell whether the name at `at` ends a command-line flag: `--password`, `--db-password`."""
    start = text.rfind(" ", 0, at) + 1
    return text.startswith("--", start)


def _is_password(value: str, found: re.Match[str]) -> bool:
    if any(map(str.isdigit, value)) or _SYMBOL_INSIDE.search(value):
        return True
    tight = found["sign"] in {"=", ":="} or found["sign"] == " "
    return len(value) >= _LONG_PASSWORD and value.isalpha() and (bool(found["quote"]) or tight)


def _is_strong(value: str, found: re.Match[str]) -> bool:
    if not _is_mixed(value) or _OTHER_NAME.fullmatch(value) or _is_name(value):
        return False
    return bool(found["about"] or _STRONG.match(value))


def _is_key(value: str, found: re.Match[str]) -> bool:
    if found.string[found.start() - 1].isupper() and found["sign"].strip() == "=":  # SECRET=, as environments have it
        return _is_mixed(value) and len(value) >= (_SHORT_KEY if found["quote"] else _LONG_SESSION)
    return _is_mixed(value) and len(value) >= _SHORT_KEY and (not _is_name(value) or bool(_RUSSIAN.search(value)))


def _is_pass(value: str, found: re.Match[str]) -> bool:
    """Tell whether a value hides behind the bare name `pass`, which prose has as well (`second pass: 120ms`)."""
    before = found.string[found.start() - len("pass") - 1 : found.start() - len("pass")]
    return not before.isalnum() and _is_mixed(value) and len(value) >= _SHORT_KEY and not _OTHER_NAME.fullmatch(value)


def _is_session(value: str, found: re.Match[str]) -> bool:
    return found["sign"] == "=" and _is_mixed(value) and len(value) >= _LONG_SESSION


def _is_mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_name(value: str) -> bool:
    """Tell whether a value is put together like the name of a host, a file or an object."""
    return all(map(_NAME_PART.fullmatch, _JOINTS.split(value)))


_ASSIGNED: Final = (
    (_PASSWORD_NAMES, "password", _is_password),
    (("pass",), "password", _is_pass),
    (_KEY_NAMES, "secret", _is_key),
    (_SESSION_NAMES, "secret", _is_session),
)
"""The names, the rule that they are of, and what of their values tells that it hides something."""


def _without_random(text: str, fired: Fired) -> str:
    if len(text) < RANDOM_LENGTH or max(map(len, text.split()), default=0) < RANDOM_LENGTH:
        return text
    spans = (found.span() for found in _RANDOM.finditer(text) if _is_random(found[0]) and not _in_url(found))
    return _replaced(text, spans, "random", fired)


def _is_random(run: str) -> bool:
    if _HEXADECIMAL.fullmatch(run) or _NOT_HIDDEN.match(run):
        return False
    classes = [_class(char) for char in run]
    if not {"a", "A", "0"} <= set(classes):
        return False
    changes = sum(one != other for one, other in pairwise(classes)) / (len(run) - 1)
    entropy = -sum(n / len(run) * log2(n / len(run)) for n in Counter(run).values())
    return changes >= RANDOM_CHANGES and entropy >= RANDOM_ENTROPY


def _class(char: str) -> str:
    return "a" if char.islower() else "A" if char.isupper() else "0" if char.isdigit() else "-"


def _in_url(found: re.Match[str]) -> bool:
    """Tell whether a run is part of an address: ids of shared documents are no secrets."""
    before = found.string[max(0, found.start() - 500) : found.start()].split()
    return bool(before) and not found.string[found.start() - 1].isspace() and "://" in before[-1]


def _replaced(text: str, spans: Iterator[tuple[int, int]], rule: str, fired: Fired) -> str:
    parts, last = [], 0
    for start, end in spans:
        if start >= last:
            parts += [text[last:start], fired.mark(rule, text[start:end])]
            last = end
    if not parts:
        return text
    fired.append(rule)
    return "".join([*parts, text[last:]])


def _mark(rule: str) -> str:
    return f"[REDACTED:{rule}]"


def _marked(value: str) -> bool:
    return "[REDACTED:" in value
