"""A question without a word to look for is told from one that nothing answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Zap = Callable[..., Any]
    Stored = Callable[..., str]

SAYS = "the question holds only a time or words that nearly every text has"


@pytest.mark.parametrize("question", ["что было вчера", "what was on the last week", "что было на прошлой неделе"])
def test_a_question_of_a_time_alone_is_sent_to_the_list(zap: Zap, stored: Stored, question: str) -> None:
    stored("Кофе мелют утром.")
    result = zap("recall", question, "--since", "1d")
    assert result.out == ""
    assert SAYS in result.err
    assert "`zapomni list`" in result.err
    assert SAYS in zap("recall", question, "--since", "1d", "--json").json["reason"]


def test_a_question_of_marks_alone_is_sent_to_the_list(zap: Zap, stored: Stored) -> None:
    stored("Кофе мелют утром.")
    result = zap("recall", "?!")
    assert result.out == ""
    assert "no letter or digit in the question says what to look for" in result.err
    assert "`zapomni list`" in result.err


@pytest.mark.parametrize("question", ["где ключи от серверной", "where do the keys lie"])
def test_a_question_with_words_of_its_own_is_searched_as_before(zap: Zap, stored: Stored, question: str) -> None:
    stored("Кофе мелют утром.")
    assert SAYS not in zap("recall", question).err


def test_words_that_every_text_has_are_searched_where_nothing_else_is_asked(zap: Zap, stored: Stored) -> None:
    stored("To be, or not to be.")
    result = zap("recall", "to be or not to be")
    assert "To be, or not to be." in result.out
    assert SAYS not in result.err
