from __future__ import annotations

import pytest

from zapomni.agents.rules import RULES, rule_text
from zapomni.errors import InvalidInput, NotFound
from zapomni.model import Kind
from zapomni.surfaces.mcp.tools import BY_NAME


@pytest.mark.parametrize("name", list(RULES))
def test_the_rules_speak_of_our_tools_in_both_languages(name: str) -> None:
    english, russian = rule_text(name, None), rule_text(name, "ru-RU")
    assert english == rule_text(name, " EN ") == rule_text(name, "")
    assert english != russian
    for text in (english, russian):
        assert any(tool in text for tool in BY_NAME)
        assert "type:" not in text
        assert "context:" not in text


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_rule_on_saving_names_every_kind(language: str) -> None:
    assert all(kind in rule_text("when-to-save", language) for kind in Kind)


def test_another_name_or_language_is_an_error_that_says_what_there_is() -> None:
    with pytest.raises(NotFound, match="when-to-recall"):
        rule_text("when-to-sleep", "en")
    with pytest.raises(InvalidInput, match="en or ru"):
        rule_text("when-to-save", "klingon")
