"""Encodings: right letters, or a refusal with its reason."""

from __future__ import annotations

import codecs
import random
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.readers.base import Unreadable
from zapomni.readers.decode import decode, line_of, take
from zapomni.readers.encoding import tell

RUSSIAN = [
    "crane2 Договор продлён до мая",
    "Ёлки «зелёные» стоят у дома — № 5",
    "ПРИКАЗ О ПЕРЕНОСЕ СЕРВЕРА",
    "# заметка\r\n\r\nПароль от стенда лежит у Марины, спросить до пятницы.\r\n",
    "Мы трижды поднимали вопрос о переносе базы и каждый раз откладывали его до осени. " * 40,
]
WESTERN = [
    "crane3 Müller pays José",
    "Größe und Maße der Prüfung",
    "déjà vu, façade, naïve café",
    "¿Dónde está el niño? Mañana.",
    "Decisão não é opção, coração",
    "Smörgåsbord på svenska är gott",
    "Blåbær og rødgrød på bordet",
    "“Quoted” — it’s 5 € at 20 °C…",
    "Perché la città è più bella. " * 40,
]


@pytest.mark.parametrize("text", RUSSIAN)
@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp866", "iso8859-5"])
def test_a_russian_text_is_read_in_the_encoding_it_was_written_in(text, encoding):
    data = text.encode(encoding, "ignore")
    assert decode(data) == (data.decode(encoding), encoding, ())


@pytest.mark.parametrize("text", WESTERN)
def test_a_western_text_in_latin_1_or_that_of_windows_has_its_letters(text):
    assert decode(text.encode("cp1252")) == (text, "cp1252", ())
    assert decode(text.encode("latin-1", "ignore")).text == text.encode("latin-1", "ignore").decode("latin-1")


def test_a_ukrainian_text_has_its_own_letters():
    text = "Договір продовжено до травня, її зміст не змінено"
    for encoding in ("cp1251", "koi8-u"):
        assert decode(text.encode(encoding)) == (text, encoding, ())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Zażółć gęślą jaźń, proszę państwa", "cp1250"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy", "cp1250"),
        ("Ağaç gölgesinde şaşkın bir kız", "cp1254"),
        ("Καλημέρα, πώς είσαι σήμερα; Όλα καλά", "cp1253"),
        ("これは日本語の文章です。とても長いです。", "shift_jis"),
        ("这是一个中文句子，没有标明编码。", "gbk"),
        ("Schöne Grüße aus Köln, führt über Österreich", "cp850"),
        ("Договор продлён до мая, Тест Лада", "mac-cyrillic"),
        ("Да и Redis и Kafka", "cp1251"),
    ],
)
def test_what_cannot_be_told_is_refused_rather_than_guessed(text, encoding):
    with pytest.raises(Unreadable, match="its encoding cannot be told: save it as UTF-8"):
        decode(text.encode(encoding))


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@pytest.mark.parametrize("text", ["crane4 wide text\n", "Договор\r\n🚀 продлён", ""])
def test_a_byte_order_mark_is_believed_and_taken_off(mark, encoding, text):
    assert decode(mark + text.encode(encoding)) == (text, encoding, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["plain words\r\n", "Договор продлён до мая\n", "смесь of both — тут"])
def test_utf16_without_a_mark_is_known_by_its_upper_bytes(encoding, text):
    assert decode(text.encode(encoding)) == (text, encoding, ())


def test_a_utf16_file_that_is_cut_inside_a_letter_loses_that_letter_with_a_note():
    text, encoding, notes = decode("crane wide".encode("utf-16")[:-1])
    assert (text, encoding, len(notes)) == ("crane wid\ufffd", "utf-16-le", 1)


def test_a_stray_byte_in_utf8_is_replaced_and_its_line_named():
    text, encoding, notes = decode(b"# M\n\ncrane5 good \xff tail\n")
    assert (text, encoding) == ("# M\n\ncrane5 good \ufffd tail\n", "utf-8")
    assert notes == ("bytes that are not UTF-8, now U+FFFD: 1, the first on line 3",)
    russian = ("Слово\n" * 100).encode()
    text, encoding, notes = decode(russian + b"\xe0\xe1\n" + russian)
    assert encoding == "utf-8"
    assert text.count("\ufffd") == 2
    assert notes == ("bytes that are not UTF-8, now U+FFFD: 2, the first on line 101",)


def test_a_letter_cut_at_the_end_of_utf8_does_not_make_the_file_unreadable():
    assert decode("Договор продлён".encode()[:-1]).text == "Договор продлё\ufffd"


def test_nul_inside_a_text_is_replaced_one_for_one_and_noted():
    assert decode(b"before\0after, as a log has it") == (
        "before\ufffdafter, as a log has it",
        "utf-8",
        ("NUL characters replaced by U+FFFD: 1",),
    )


def test_line_ends_and_plain_ascii_stay_as_they_are():
    assert decode(b"a\r\nb\rc\n") == ("a\r\nb\rc\n", "utf-8", ())
    assert decode(b"") == ("", "utf-8", ())
    assert line_of("a\nb\nc", 4) == 3


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
        (b"PK\x03\x04rest", "a ZIP archive or an Office document"),
        (b"\x7fELF\2\1\1\0", "a program (ELF)"),
        (b"\x1f\x8b\x08\0", "a gzip archive"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"SQLite format 3\0\x10", "an SQLite database"),
        (b"GIF89a\1\0\1\0\0\0\0", "a GIF image"),
        (b"\0\1\2\3\4\5\6\7", "binary data"),
        (b"\xef\xbb\xbf\0\1\2\3\4", "binary data"),
    ],
)
def test_what_is_binary_is_refused_under_its_real_name(data, kind):
    with pytest.raises(Unreadable) as caught:
        decode(data)
    assert caught.value.message == f"it is {kind}, not text"


def test_a_text_that_begins_like_a_picture_is_a_text():
    assert decode(b"GIF89a is a format of pictures").encoding == "utf-8"
    assert decode("BMW и MZ".encode()).text == "BMW и MZ"


def test_a_declared_encoding_is_taken_only_where_all_bytes_fit_it():
    polish = "Zażółć gęślą jaźń".encode("cp1250")
    assert decode(polish, "windows-1250") == ("Zażółć gęślą jaźń", "windows-1250", ())
    assert decode("Ёж".encode(), "windows-1251").encoding == "utf-8"
    for lie in ("hex", "no-such", "unicode_escape", "gb2312"):
        with pytest.raises(Unreadable):
            decode(polish, lie)


def test_more_bytes_than_the_limit_are_refused_without_being_read():
    file = BytesIO(b"x" * 3_000_000)
    with pytest.raises(Unreadable, match="larger than 1 MB"):
        take(file, 2**20)
    assert file.tell() == 2**20 + 1


@given(st.binary(max_size=300))
def test_any_bytes_are_a_storable_text_or_a_refusal(data):
    try:
        text, _, _ = decode(data)
    except Unreadable:
        return
    assert "\0" not in text
    text.encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=200).filter(lambda text: text[:1] != "\ufeff"))
def test_every_utf8_text_comes_back_as_it_was(text):
    assert decode(codecs.BOM_UTF8 + text.encode()) == (text, "utf-8", ())
    if not text.startswith("%PDF-"):
        assert decode(text.encode()) == (text, "utf-8", ())


def test_a_long_text_is_told_by_its_beginning_and_in_no_more_time():
    words = "договор продлён до мая ".encode("cp1251")
    assert tell(words * 20_000) == "cp1251"
    assert tell(b"x" * 3_000_000 + b" " + words) == "cp1251"
    assert tell(b"\xff" * 1_000_000) is None
    assert tell(b"\x80" * 1_000_000) is None
    noise = random.Random(7).randbytes(200_000)
    assert tell(noise) is None
