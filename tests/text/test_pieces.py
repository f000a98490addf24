import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.clusters import is_edge
from zapomni.text.pieces import pieces

TEXTS = st.text(st.sampled_from(list("abcабв猫🚀.!? \n\t\u0301\u200d")), max_size=300)


def bare(text: str) -> str:
    return "".join(text.split())


@given(TEXTS | st.text(), st.integers(1, 60))
def test_pieces_lose_nothing_but_white_space_and_keep_to_the_size(text: str, size: int) -> None:
    parts = pieces(text, size)
    assert bare("".join(parts)) == bare(text)
    assert all(0 < len(part) <= size for part in parts)
    assert all(part == part.strip() for part in parts)


@given(st.lists(st.text("абвгд", min_size=1, max_size=12), max_size=60), st.integers(12, 50))
def test_no_word_is_cut_that_fits(words: list[str], size: int) -> None:
    parts = pieces(" ".join(words), size)
    assert [word for part in parts for word in part.split()] == words


@given(st.lists(st.sampled_from(["👩‍💻", "e\u0301", "👍🏽"]), max_size=60).map("".join))
def test_no_cluster_is_cut_that_fits(text: str) -> None:
    at = 0
    for part in pieces(text, 8):
        assert is_edge(text, at)
        at += len(part)


def test_a_short_text_is_one_piece_and_a_blank_one_none() -> None:
    assert pieces("  one line \n", 100) == ["one line"]
    assert pieces(" \n ", 100) == []


def test_paragraphs_come_before_lines_before_sentences_before_words() -> None:
    assert pieces("First one here.\n\nSecond. And third of it", 30) == ["First one here.", "Second. And third of it"]
    assert pieces("alpha beta gamma\ndelta. epsilon zeta", 26) == ["alpha beta gamma", "delta. epsilon zeta"]
    assert pieces("Alpha beta gamma. Delta epsilon zeta", 26) == ["Alpha beta gamma.", "Delta epsilon zeta"]
    assert pieces("alpha beta gamma delta", 12) == ["alpha beta", "gamma delta"]


def test_pieces_reach_as_far_as_they_can() -> None:
    text = "\n\n".join(f"Абзац номер {n}." for n in range(100))
    parts = pieces(text, 200)
    assert all(len(part) > 100 for part in parts[:-1])


@pytest.mark.parametrize("text", ["x" * 200_000, "a b " * 50_000, "\n" * 100_000 + "x" * 3_000, ". " * 100_000])
def test_long_texts_take_linear_time(text: str) -> None:
    assert bare("".join(pieces(text, 1_000))) == bare(text)


@pytest.mark.parametrize("mark", ["\u0301", "\u200d", "🏻"])
def test_a_heap_of_marks_is_cut_anywhere(mark: str) -> None:
    assert [len(part) for part in pieces("a" + mark * 999, 400)] == [400, 400, 200]


def test_no_flag_is_cut_among_many() -> None:
    assert all(len(part) % 2 == 0 for part in pieces("🇷🇺🇬🇧" * 120, 101))
