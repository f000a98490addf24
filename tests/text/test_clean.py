import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.clean import ELLIPSIS, clean, cut, is_blank, preview, printable
from zapomni.text.clusters import edge_before, is_edge

CLUSTERS = [
    "a",
    "й",
    "e\u0301",
    "👩‍💻",
    "👍🏽",
    "❤️",
    "🇷🇺",
    "🏴\U000e0067\U000e0062\U000e007f",
    "하",
    "ก้",
    "के",
    "\r\n",
    " ",
    "1️⃣",
    "שָׁ",
]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("before\x00after PLUM-7", "before\ufffdafter PLUM-7"),
        ("colour \x1b[31mred\x1b[0m PLUM-8", "colour \x1b[31mred\x1b[0m PLUM-8"),
        ("half an emoji \ud83d PLUM-9", "half an emoji \ufffd PLUM-9"),
        ("bad \x00\ud800 PLUM-12", "bad \ufffd\ufffd PLUM-12"),
        ("joined \ud83d\ude80", "joined 🚀"),
        ("line\r\n\ttab", "line\r\n\ttab"),
    ],
)
def test_what_no_store_can_carry_is_replaced_and_the_rest_kept(sent: str, stored: str) -> None:
    text, notes = clean(sent)
    assert text == stored
    assert bool(notes) == ("\x00" in sent or "\ufffd" in stored)


def test_notes_name_what_was_replaced_and_how_often() -> None:
    assert clean("\x00\x00 \ud800") == (
        "\ufffd\ufffd \ufffd",
        ["NUL characters replaced by U+FFFD: 2", "half surrogate pairs replaced by U+FFFD: 1"],
    )


@given(st.text(st.characters()))
def test_cleaned_text_is_valid_utf8_and_clean(text: str) -> None:
    cleaned, _ = clean(text)
    assert json.loads(json.dumps(cleaned).encode("utf-8")) == cleaned
    assert clean(cleaned) == (cleaned, [])


def test_a_terminal_gets_no_control_characters() -> None:
    assert printable("\x1b[31mred\x07\r\nnext\rover\x9b\u202etxt\ttab\ud800") == (
        "\\x1b[31mred\\x07\nnext\\x0dover\\x9b\\u202etxt\ttab\\ud800"
    )


@given(st.text(st.characters()))
def test_what_is_shown_twice_is_shown_alike(text: str) -> None:
    shown = printable(text)
    assert printable(shown) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize(
    "text", ["", "   \n\t", "\u200b\u200b", "\x00\x1b", "\ufeff \u00a0", "\ufffd", "\u3164", "\u2800", "\u202e\u200f"]
)
def test_texts_that_show_nothing_are_blank(text: str) -> None:
    assert is_blank(text)
    assert is_blank(clean(text)[0])


@pytest.mark.parametrize("text", [".", "\u200b.", "é", "🚀", "猫", "0"])
def test_texts_that_show_something_are_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_a_cut_prefers_the_edge_of_a_word() -> None:
    assert cut("Договорились с Мариной о переносе", 20) == "Договорились с…"
    assert cut("short", 5) == "short"
    assert cut("abcdefghij", 5) == "abcd…"
    assert cut("anything", 1) == "…"
    assert cut("anything", 0) == ""


@given(st.lists(st.sampled_from(CLUSTERS), max_size=30), st.integers(0, 40))
def test_a_cut_never_splits_what_reads_as_one_character(clusters: list[str], limit: int) -> None:
    text = "".join(clusters)
    short = cut(text, limit)
    assert len(short) <= limit or short == text
    if short != text and short:
        kept = short.removesuffix(ELLIPSIS)
        whole, at = {""}, ""
        for cluster in clusters:
            at += cluster
            whole |= {at, at.rstrip()}
        assert kept in whole


@given(st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=20))
def test_edges_lie_between_clusters_only(clusters: list[str]) -> None:
    text = "".join(clusters)
    inner, at = set(), 0
    for cluster in clusters:
        inner |= set(range(at + 1, at + len(cluster)))
        at += len(cluster)
    assert not [place for place in inner if is_edge(text, place)]
    assert all(edge_before(text, place) <= place for place in range(len(text)))


def test_a_preview_is_one_line() -> None:
    assert preview("# Heading\n\n  Отчёт\tготов  ", 100) == "# Heading Отчёт готов"
    assert preview("one two three four", 10) == "one two…"
