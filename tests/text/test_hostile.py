"""No text makes the reading of it slow: four times the text takes about four times the time, whatever it holds."""

import base64
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from zapomni.text.chunks import chunks
from zapomni.text.clean import clean, is_blank, preview
from zapomni.text.fold import digest, fold
from zapomni.text.index_page import Entry, with_entries
from zapomni.text.note_checks import stale_dates, weakness
from zapomni.text.pieces import pieces
from zapomni.text.secrets import redact
from zapomni.text.words import index_words, query_words

LENGTH = 100_000
TOO_SHORT = 0.03
"""Seconds of CPU below which a measurement says nothing and the time does no harm."""
STEEPEST = 11
"""Most that four times the text may cost: 4 when linear, 6 with what memory costs by itself, 16 when quadratic."""
STEPS: dict[str, Callable[[str], object]] = {
    "clean": clean,
    "is_blank": is_blank,
    "preview": lambda text: preview(text, 200),
    "redact": redact,
    "index_words": lambda text: index_words(title=text[:200], body=text),
    "query_words": query_words,
    "pieces": lambda text: pieces(text, 1_500),
    "chunks of markdown": lambda text: chunks(text, layout="markdown"),
    "chunks of lines": lambda text: chunks(text, layout="lines"),
    "chunks of prose": lambda text: chunks(text, layout="prose"),
    "digest": digest,
    "fold": fold,
    "with_entries": lambda text: with_entries(text, [Entry(title="x", target="x.md")]),
    "stale_dates": lambda text: list(stale_dates(text, datetime(2026, 11, 30, tzinfo=UTC), UTC)),
    "weakness": lambda text: weakness("a", text),
}
UNITS = [
    "a", "ы", "A", " ", "\n", "\n ", "\t", "\r\n", '"', "'", "`", '\\"', "(", "[", "{", "<", ">", ")", "=", "/", "a/", ".", "a.", "a. ",
    "-", "a-", "_", "a_", "#", "a#", "@", ":", "a:", "+", "&", "\\", "*", "1", "4111 ", "0123456789abcdef", "aB", "fooBar", "№", "…", "。",
    "\0", "\ud800", "\udc00", "\ufffd", "\u200f", "\u202e", "\u200d", "\u200c", "\ufe0f", "\u0301", "\u0301\u0323", "a\u0301\u0323",
    "👩\u200d", "😀", "🏻", "🇦", "\U000e0061", "漢", "각", "각", "ᅡ", "か\u3099", "ｶﾞ", "ก", "कि", "م", "\u0640",
    "ﷺ", "ﷺ ", "㍿", "ﬀ", "İ", "ß",
    "eyJ-", "eyJ", "eyJaaaaaaaa.", "-eyJaaaaaaaa", "<private>", "</private>", "`<private>", "password=", "password: ", "password ",
    "pass: ", "_pass", "token ", "secret_", "sessionid=", "секретный ключ: ", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----",
    "private key ", "private key 0x", "PuTTY-User-Key-File-1", "http://a:b@", "://", "://a:", "mailto://a:", "curl -u a:",
    "mysql -p", "sshpass -p '", "sshpass ", "aws secret ", "Bearer ", "Authorization: Bearer ", "12345678:A", "xoxb-", "sk-", "t1.a", "SG.a",
    "8Q~", "/api/webhooks/1", "AccountKey=",
]  # fmt: skip


def spun(seed: int) -> bytes:
    return random.Random(seed).randbytes(LENGTH)


def nested(length: int) -> str:
    return "<private>" * (length // 19) + "</private>" * (length // 19)


def mixed(length: int) -> str:
    dice = random.Random(3)
    return "".join(chr(dice.choice([dice.randrange(0xD800), dice.randrange(0xE000, 0x110000)])) for _ in range(length))


MADE: dict[str, Callable[[int], str]] = {
    "private blocks inside one another": nested,
    "one letter with accents of two sorts": lambda length: "a" + "\u0301\u0323" * (length // 2),
    "any characters": mixed,
    "random base64": lambda length: base64.b64encode(spun(1)).decode()[:length],
    "random base64 words": lambda length: base64.encodebytes(spun(1)).decode()[:length],
    "random hexadecimal": lambda length: spun(2).hex()[:length],
    "random hexadecimal words": lambda length: spun(2)[: length // 2].hex(" ", 8)[:length],
    "ideographs": lambda length: "".join(chr(0x4E00 + byte * 80) for byte in spun(4)[:length]),
}


def repeated(unit: str) -> Callable[[int], str]:
    return lambda length: (unit * (length // len(unit) + 1))[:length]


MADE |= {ascii(unit): repeated(unit) for unit in UNITS}


def seconds(step: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    step(text)
    return time.process_time() - start


def steepness(step: Callable[[str], object], quarter: str, whole: str) -> float:
    """How many times as long the whole takes as its quarter; 0 when neither takes long enough to tell."""
    long = seconds(step, whole)
    return long / seconds(step, quarter) if long > TOO_SHORT else 0


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_four_times_a_text_takes_no_more_than_about_four_times_the_time(make: Callable[[int], str]) -> None:
    quarter, whole = make(LENGTH // 4), make(LENGTH)
    for name, step in STEPS.items():
        if name != "clean":
            quarter, whole = clean(quarter)[0], clean(whole)[0]
        slopes: list[float] = []
        while len(slopes) < 6 and (not slopes or slopes[-1] >= STEEPEST):
            slopes.append(steepness(step, quarter, whole))
        assert min(slopes) < STEEPEST, name
