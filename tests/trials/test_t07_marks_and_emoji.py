"""Trial T07: combining marks, right-to-left text, the Turkish i, emoji sequences, ligatures.

Out of reach until it is built: the web page. Answers hold no highlights; what is tried of them is the cut preview.
"""

from __future__ import annotations

import unicodedata
from itertools import count
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.trials.conftest import first, tells_nothing_inner

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trials.conftest import Desk

ASTRONAUT = "\U0001f469\U0001f3fd\u200d\U0001f680"
FLAG = "\U0001f1eb\U0001f1ee"
TEXTS = {
    "latin": "Ame\u0301lie and Noe\u0308l close at 9",
    "hebrew": "\u05e1\u05b5\u05e4\u05b6\u05e8 \u05d7\u05b8\u05d3\u05b8\u05e9\u05c1",
    "arabic": "\u0643\u0650\u062a\u064e\u0627\u0628 \u0623\u0632\u0631\u0642",
    "turkish": "\u0130ZM\u0130R ofisi, \u0131\u015f\u0131k paneli",
    "emoji": f"Release by {ASTRONAUT} done \U0001f389 \u2014 \ufb02oor",
}
FINDS = [
    ("latin", "am\u00e9lie no\u00ebl"),
    ("latin", "AM\u00c9LIE"),
    ("latin", "Ame\u0301lie"),
    ("latin", "amelie noel"),
    ("hebrew", "\u05e1\u05e4\u05e8"),
    ("hebrew", "\u05e1\u05b5\u05e4\u05b6\u05e8"),
    ("arabic", "\u0643\u062a\u0627\u0628"),
    ("turkish", "\u0130ZM\u0130R"),
    ("turkish", "izmir"),
    ("turkish", "\u0131\u015f\u0131k"),
    ("turkish", "I\u015eIK"),
    ("emoji", "floor"),
    ("emoji", "\U0001f389"),
]
ODD = [
    "\U0001f680",
    ASTRONAUT,
    FLAG,
    "\u200f",
    "\u200d",
    "\u202e",
    "\u2066\u2069",
    "\ufe0f",
    "\u0301",
    "\u20e3",
    "\u05b8",
]
NUMBERS = count()
Form = Literal["NFC", "NFD", "NFKD"]


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    desk = open_desk(ZAPOMNI_EMBEDDER_PROVIDER="bundled")
    for key, text in TEXTS.items():
        desk.store(text, key=key)
    desk.wait_for_vectors()
    return desk


@pytest.mark.promise("recall.words")
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(("key", "query"), FINDS)
def test_no_mark_point_or_ligature_hides_a_word(desk: Desk, surface: str, mode: str, key: str, query: str) -> None:
    assert first(m["key"] for m in desk.good(surface, "recall", query, mode=mode)["memories"]) == key


@pytest.mark.promise("recall.syntax")
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("query", ODD, ids=ascii)
def test_a_question_of_emoji_or_marks_alone_gets_a_list(desk: Desk, surface: str, mode: str, query: str) -> None:
    shape = desk.good(surface, "recall", query, mode=mode)
    assert shape["count"] == len(shape["memories"])
    tells_nothing_inner({**shape, "memories": []}, desk.said())


@pytest.mark.promise("recall.syntax")
@pytest.mark.parametrize("query", ["\u200f", "\u200b\u200b", "\u2060 \ufeff"], ids=ascii)
def test_a_question_that_shows_nothing_finds_nothing(desk: Desk, surface: str, query: str) -> None:
    assert desk.good(surface, "recall", query)["memories"] == []


@pytest.mark.promise("write.verbatim")
@pytest.mark.parametrize("key", TEXTS)
def test_each_script_comes_back_with_the_code_points_that_were_sent(desk: Desk, surface: str, key: str) -> None:
    memory = next(m for m in desk.good(surface, "list", limit=100)["memories"] if m.get("key") == key)
    assert ascii(memory["content"]) == ascii(TEXTS[key])
    assert ascii(desk.good(surface, "show", memory["id"])["content"]) == ascii(TEXTS[key])


sendable = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


@pytest.mark.promise("write.verbatim")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(sendable, max_size=80))
def test_any_text_comes_back_with_the_code_points_that_were_sent(desk: Desk, text: str) -> None:
    content = f"as {text} sent"
    stored = desk.store(content, scope=f"project:{next(NUMBERS)}")
    assert desk.good("mcp", "show", stored, scope="all")["content"] == content


@pytest.mark.promise("recall.words")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    word=st.text("aeioucnszdlt\u0301\u0308\u030c\u0327\u0303", min_size=3, max_size=8).filter(lambda w: w[0].isalpha()),
    sent=st.sampled_from(["NFC", "NFD"]),
    asked=st.sampled_from(["NFC", "NFD", "NFKD"]),
)
def test_a_word_is_found_in_whatever_normal_form_it_is_asked_for(
    desk: Desk, word: str, sent: Form, asked: Form
) -> None:
    scope = f"project:{next(NUMBERS)}"
    name = f"zq{word}"  # no stop word begins so
    stored = desk.store(f"The 7 said {unicodedata.normalize(sent, name)} to 8", scope=scope)
    query = unicodedata.normalize(asked, name.upper())
    assert desk.found("mcp", query, mode="lexical", scope=scope) == [stored]


@pytest.mark.parametrize("cluster", [ASTRONAUT, FLAG, "e\u0301\u0323", "\U0001f1eb\U0001f1ee\ufe0f"], ids=ascii)
@pytest.mark.parametrize("shift", range(4))
def test_a_cut_preview_ends_between_two_clusters(desk: Desk, surface: str, cluster: str, shift: int) -> None:
    scope = f"project:{next(NUMBERS)}"
    before = "x" * shift
    desk.store(before + cluster * 700, scope=scope)
    (memory,) = desk.good(surface, "list", scope=scope)["memories"]
    assert memory["cut"]
    shown = memory["content"].removesuffix("\u2026").removeprefix(before)
    assert shown
    assert shown == cluster * (len(shown) // len(cluster))
    lines = desk.run("list", "--scope", scope).out.splitlines()[1:]
    told = [line.strip().removesuffix("\u2026").strip().removeprefix(before) for line in lines]
    assert all(line == cluster * (len(line) // len(cluster)) for line in told), ascii(told)
