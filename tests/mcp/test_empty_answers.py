"""What an agent reads where nothing was found: the arguments that let nothing through, and why, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.mcp.test_tools import WHO, call, good, open_in, problem

from zapomni.surfaces.mcp.tools import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from zapomni.app import Zapomni

pytestmark = pytest.mark.promise("recall.nothing")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Zapomni]:
    with open_in(tmp_path) as memory:
        yield memory


def test_the_arguments_that_let_nothing_through_are_named(app: Zapomni) -> None:
    for text in ("Парковка во дворе.", "Шлагбаум чинят."):
        app.remember(text, actor=WHO)
    answer = good(app, "recall_memory", query="парковка", kind="procedural", tags=["дом", "дача"])
    assert answer["notes"] == ["none of 2 memories passes kind=procedural or tags=дом, дача"]
    assert "none of 2 memories" in call(app, "recall_memory", query="парковка", on="2020").text


def test_the_why_is_told_in_words(app: Zapomni) -> None:
    app.remember("Парковка во дворе.", scope="team:web", actor=WHO)
    app.remember("Шлагбаум чинят.", scope="user", actor=WHO)
    answer = call(app, "recall_memory", query="где парковка?", scope="user", explain=True)
    assert "why no memories: looked for: парковк. passed over: где. searched: 1." in answer.text
    assert "hidden: 1 answer in team:web (`scope=team:web`)" in answer.text


def test_an_agent_can_see_that_it_may_ask_why() -> None:
    assert all("explain" in BY_NAME[name].takes for name in ("recall_memory", "semantic_search"))


def test_the_remedy_names_the_argument_that_was_given(app: Zapomni) -> None:
    error = problem(app, "recall_memory", query="парковка", mode="semantic")
    assert error["remedy"] == "Leave out mode=semantic to search by words"


def test_an_empty_store_says_nothing_of_vectors(app: Zapomni) -> None:
    assert "reason" not in good(app, "recall_memory", query="парковка")
