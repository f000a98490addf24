"""Trial T01: ticket ids, kebab names and flags as queries.

Out of reach until it is built: the search box of the web page.
"""

from __future__ import annotations

import string
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.trials.conftest import first, tells_nothing_inner

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trials.conftest import Desk

NAMED = [
    "KD-7719",
    "kd-7719",
    "index-rebuild",
    "ap-north-2c",
    "KD-7719 AND index-rebuild",
    "KD-7719: index-rebuild, ap-north-2c!",
    "what about KD-7719",
]
DASHED = ["-7719", "--dry-run", "--", "---", "-KD-7719", "--limit=3", "-x OR -y", "title:-7719", "ap-north-2c -kd"]
WANTED = "Task KD-7719: the index-rebuild step has to end before ap-north-2c takes customers."
OTHER = "Task KD-7720: the mailing digest went over to the weekend slot."
FILLERS = [f"The {what} is looked after by team number {no}." for no, what in enumerate(["lift", "roof", "pump"] * 4)]
NUMBERS = count()


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    desk = open_desk(ZAPOMNI_EMBEDDER_PROVIDER="bundled")
    desk.store(WANTED, key="wanted")
    desk.store(OTHER, key="other")
    for text in FILLERS:
        desk.store(text)
    desk.wait_for_vectors()
    papers = desk.home / "papers"
    papers.mkdir()
    for name, text in {
        "tasks.md": f"# {WANTED}\n\n{WANTED}\n\n# {OTHER}\n\n{OTHER}\n",
        "rest.md": "\n\n".join(FILLERS),
    }.items():
        (papers / name).write_text(text, encoding="utf-8")
    assert desk.run("source", "add", "--quiet", str(papers)).status == 0
    return desk


def documents(desk: Desk, via: str, query: str, mode: str) -> dict[str, Any]:
    """The object of an answer about documents; none is an error."""
    if via == "cli":
        result = desk.run("search", "--json", "--mode", mode, "--", query)
        assert result.status == 0, result
        shape: dict[str, Any] = result.json
    else:
        answer = desk.tool(via, "semantic_search", query=query, mode=mode)
        assert not answer["isError"], answer
        shape = answer["structuredContent"]
    return shape


@pytest.mark.promise("recall.identifiers", "recall.syntax")
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("query", NAMED)
def test_a_name_with_dashes_finds_its_memory_first(desk: Desk, surface: str, mode: str, query: str) -> None:
    shape = desk.good(surface, "recall", query, mode=mode)
    assert shape["mode"] == mode
    assert first(memory["key"] for memory in shape["memories"]) == "wanted"


@pytest.mark.promise("recall.syntax")
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("query", DASHED)
def test_a_dash_in_front_is_no_operator_and_no_error(desk: Desk, surface: str, mode: str, query: str) -> None:
    shape = desk.good(surface, "recall", query, mode=mode)
    assert shape["count"] == len(shape["memories"])
    tells_nothing_inner({**shape, "memories": []}, desk.said())


@pytest.mark.promise("recall.identifiers", "recall.syntax")
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("query", NAMED)
def test_a_name_with_dashes_finds_its_place_in_a_document_first(
    desk: Desk, surface: str, mode: str, query: str
) -> None:
    shape = documents(desk, surface, query, mode)
    assert shape["mode"] == mode
    assert WANTED in shape["documents"][0]["text"]
    assert shape["documents"][0]["citation"].endswith("tasks.md:1")


@pytest.mark.promise("recall.syntax")
@pytest.mark.parametrize("query", DASHED)
def test_a_dash_in_front_of_what_is_asked_of_documents_is_no_error(desk: Desk, surface: str, query: str) -> None:
    shape = documents(desk, surface, query, "hybrid")
    assert shape["count"] == len(shape["documents"])
    tells_nothing_inner({**shape, "documents": []}, desk.said())


words = st.text(string.ascii_letters, min_size=2, max_size=7) | st.integers(10, 99_999).map(str)
identifiers = st.lists(words, min_size=2, max_size=4).flatmap(
    lambda parts: st.sampled_from("-_./:").map(lambda joint: joint.join(parts))
)


@pytest.mark.promise("recall.identifiers")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=identifiers, other=identifiers, case=st.sampled_from([str, str.lower, str.upper]))
def test_any_joined_name_is_found_whole_in_any_case_before_another(
    desk: Desk, name: str, other: str, case: Callable[[str], str]
) -> None:
    scope = f"project:{next(NUMBERS)}"
    wanted = desk.store(f"They put {name} on the board today.", scope=scope)
    if other.lower() != name.lower():
        desk.store(f"They put {other} on the board today, they say.", scope=scope)
    assert first(desk.found("mcp", case(name), mode="lexical", scope=scope)) == wanted
    assert desk.found("mcp", f"-{name}", mode="lexical", scope=scope)[:1] == [wanted]
