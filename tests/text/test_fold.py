import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.fold import digest, fold, name_key, same_name

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
CASED = st.text(st.characters(codec="utf-8", include_characters="абвёйЙЁ abcXYZ éüñ", categories=[]))


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Cafe\u0301 Zoe\u0308", "cafe zoe"),
        ("café zoë", "cafe zoe"),
        ("\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("\u0642\u064e\u0644\u064e\u0645", "\u0642\u0644\u0645"),
        ("\u0130STANBUL", "istanbul"),
        ("I\u015eIK", "isik"),
        ("\u0131\u015f\u0131k", "isik"),
        ("\ufb01nal", "final"),
        ("Ёлка НАДЁЖНОСТИ", "елка надежности"),
        ("Йод и\u0306од", "йод йод"),
        ("zero\u200bwidth \u200fmark\u202e", "zerowidth mark"),
        ("Straße", "strasse"),
        ("O’Hara non\u2011stop", "o'hara non-stop"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_spellings_of_one_text_fold_together(written: str, folded: str) -> None:
    assert fold(written) == folded


@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_folding_is_stable_for_every_character_but_plain_ideographs() -> None:
    letters = [*range(0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0x10400), *range(0x1D400, 0x1F700)]
    for char in map(chr, letters):
        assert fold(fold(char)) == fold(char), hex(ord(char))


@given(TEXTS)
def test_composed_and_decomposed_text_fold_alike(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


@given(TEXTS)
def test_a_digest_does_not_see_the_unicode_form(text: str) -> None:
    assert digest(unicodedata.normalize("NFD", text)) == digest(unicodedata.normalize("NFC", text))


@given(CASED)
def test_a_digest_does_not_see_case_or_white_space(text: str) -> None:
    spaced = text.upper().replace(" ", " \n\t") + "  "
    assert digest(spaced) == digest(text)
    assert len(digest(text)) == 16


def test_a_digest_tells_different_russian_texts_apart() -> None:
    texts = ["Релиз в четверг", "Релиз в пятницу", "Релиз", "", "?????", "C", "C++"]
    assert len({digest(text) for text in texts}) == len(texts)
    assert digest("Ещё счёт") == digest("еще  СЧЕТ\n")


def test_a_digest_takes_half_a_surrogate_pair() -> None:
    assert digest("\ud83d") != digest("\ud83e")


@pytest.mark.parametrize(
    ("one", "other"), [("OPS", " ops "), ("Срочно", "срочно"), ("отчёты", "ОТЧЕТЫ"), ("a  b", "A b"), ("café", "Cafe")]
)
def test_names_that_differ_in_case_and_white_space_are_one(one: str, other: str) -> None:
    assert same_name(one, other)


def test_names_that_differ_in_punctuation_are_different() -> None:
    names = ["log", "logistics", "a_b", "aXb", "50%", "50", "a,b", "C++", "C", "C#", 'quo"te', "quote"]
    assert len({name_key(name) for name in names}) == len(names)


def test_a_heap_of_accents_and_a_growing_character_are_cut_short() -> None:
    assert fold("a" + "\u0301\u0323" * 50_000 + "b") == "ab"
    assert len(fold("ﷺ" * 1000)) < 2200
    assert fold("ﷺ" * 3) == fold("صلى الله عليه وسلم" * 3)


@given(st.lists(TEXTS, max_size=5), st.sampled_from([" ", "\n", "\u3000", " \t "]))
def test_a_digest_is_that_of_the_whole_text_in_its_compatible_form(texts: list[str], gap: str) -> None:
    text = gap.join(texts)
    whole = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    assert digest(text) == digest(" ".join(whole.split()))


@pytest.mark.parametrize("length", [0, 1, 2_047, 2_048, 4_094, 9_999])
def test_a_digest_is_blake2b_of_the_folded_text_whatever_its_length(length: int) -> None:
    text = ("Ёж ` run " * 2_000)[:length]
    folded = " ".join(text.casefold().replace("ё", "е").split())
    assert digest(text) == hashlib.blake2b(folded.encode(), digest_size=16).digest()
