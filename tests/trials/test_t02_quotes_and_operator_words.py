"""Trial T02: apostrophes, unpaired quotes and bare operator words.

Out of reach until it is built: the web page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.trials.conftest import tells_nothing_inner

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trials.conftest import Desk

TEXTS = {
    "daemon": "Don't kick the payout daemon by hand: D'Arcy keeps the 7\" shelf manual.",
    "spool": "NEVER empty /srv/spool/out - do not wipe it, not even in the sandbox.",
}
FINDS = [
    ("daemon", "don't kick"),
    ("daemon", "don\u2019t kick"),
    ("daemon", "D'Arcy"),
    ("daemon", '7" shelf'),
    ("daemon", '"shelf manual'),
    ("daemon", "(payout daemon"),
    ("daemon", "^payout"),
    ("daemon", "NEAR(payout daemon, 2)"),
    ("daemon", "content:payout"),
    ("spool", "do not wipe /srv/spool/out"),
    ("spool", "DO NOT WIPE /srv/spool/out"),
    ("spool", "spool*"),
    ("spool", "never AND empty NOT spool"),
    ("spool", "{spool} + sandbox;"),
]
ODD = [
    "AND",
    "OR",
    "NOT",
    "NOT NOT",
    "NEAR(spool sandbox",
    "*",
    "**",
    '""',
    ")(",
    '"',
    "'",
    "''",
    "`",
    "%",
    "_",
    ";--",
    "\\",
]
TELLING = ["payout", "daemon", "kick", "shelf", "manual"]


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    desk = open_desk(ZAPOMNI_EMBEDDER_PROVIDER="bundled")
    for key, text in TEXTS.items():
        desk.store(text, key=key)
    desk.wait_for_vectors()
    return desk


@pytest.mark.promise("recall.syntax")
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(("key", "query"), FINDS)
def test_signs_and_operator_words_in_a_question_are_words(
    desk: Desk, surface: str, mode: str, key: str, query: str
) -> None:
    found = desk.good(surface, "recall", query, mode=mode)["memories"]
    assert [memory["key"] for memory in found][:1] == [key]


@pytest.mark.promise("recall.syntax")
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("query", ODD)
def test_a_question_of_signs_alone_is_answered_in_plain_words(desk: Desk, surface: str, mode: str, query: str) -> None:
    shape = desk.good(surface, "recall", query, mode=mode)
    tells_nothing_inner({**shape, "memories": []}, desk.said())
    assert desk.count() == len(TEXTS)


signs = st.text("\"'`()[]{}*^+-:;,.!?%_\\/|&<>=~@#$ ", max_size=4)
operators = st.sampled_from(["", " AND ", " OR ", " NOT ", " NEAR ", " NEAR(", " and ", " not "])


@pytest.mark.promise("recall.syntax")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(word=st.sampled_from(TELLING), before=signs, after=signs, ahead=operators, behind=operators)
def test_no_sign_around_a_word_hides_what_it_finds(
    desk: Desk, word: str, before: str, after: str, ahead: str, behind: str
) -> None:
    query = f"{ahead}{before} {word} {after}{behind}"
    found = desk.good("mcp", "recall", query, mode="lexical")["memories"]
    assert [memory["key"] for memory in found][:1] == ["daemon"]


@pytest.mark.promise("recall.syntax")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60))
def test_any_text_at_all_is_answered_with_a_list_or_with_the_name_of_the_question(desk: Desk, query: str) -> None:
    shape = desk.ask("http", "recall", query, mode="lexical")
    assert "memories" in shape or shape["error"]["argument"] == "query"
    tells_nothing_inner({**shape, "memories": []})
