"""Trial T60: tag filters match whole tags."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.trials.conftest import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trials.conftest import Desk

TAGS = [
    "cat", "category", "bobcat", "x_y", "xQy", "30%", "300", "q,r", "q", "F++", "F#", "F", "Важно", "важность",
    'do"t', "do't", "[]", "a b", "ab", "*", "null-like", "DEV",
]  # fmt: skip
SAME = ["DEV", "dev", " dev ", "Dev"]
NUMBERS = count()


def fill(desk: Desk) -> Desk:
    rows = [{"content": f"Parcel number {no} stands on the shelf.", "tags": [tag]} for no, tag in enumerate(TAGS)]
    assert desk.run("import", "-", stdin=lines_of(*rows)).status == 0
    return desk


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    return fill(open_desk())


@pytest.mark.promise("recall.filters")
@pytest.mark.parametrize("tag", TAGS)
def test_a_tag_brings_its_own_memory_alone(desk: Desk, surface: str, tag: str) -> None:
    page = desk.good(surface, "list", tags=[tag], limit=50)
    assert [memory["tags"] for memory in page["memories"]] == [[tag]]
    assert page["total"] == 1
    found = desk.good(surface, "recall", "parcel on the shelf", tags=[tag], limit=50)
    assert [memory["tags"] for memory in found["memories"]] == [[tag]]


@pytest.mark.promise("recall.filters")
def test_no_part_and_no_pattern_of_a_tag_is_the_tag(desk: Desk, surface: str) -> None:
    for tag in ("ca", "c%", "%", "_", "x%", "q,", ",", "F+", "+", "do", '"', "категория", "a*", "***"):
        assert desk.good(surface, "list", tags=[tag])["total"] == 0, tag


@pytest.mark.promise("recall.filters")
@pytest.mark.parametrize("tag", SAME)
def test_letter_case_and_spaces_around_make_no_other_tag(desk: Desk, surface: str, tag: str) -> None:
    assert [m["tags"] for m in desk.good(surface, "list", tags=[tag])["memories"]] == [["DEV"]]


@pytest.mark.parametrize("tag", SAME)
def test_a_tag_is_stored_by_the_same_rule_on_every_surface(
    open_desk: Callable[..., Desk], surface: str, tag: str
) -> None:
    desk = open_desk()
    desk.good(surface, "store", "A parcel of the workshop.", tags=[tag])
    desk.good(surface, "store", "Another thing of the workshop.", tags=["dev"])
    assert desk.good(surface, "list", tags=["dev"])["total"] == 2
    assert list(desk.good(surface, "stats")["tags"].values()) == [2]


def test_all_tags_are_counted_whole(desk: Desk, surface: str) -> None:
    assert desk.good(surface, "stats")["tags"] == dict.fromkeys(TAGS, 1)


@pytest.mark.promise("recall.filters")
def test_several_tags_mean_any_of_them_unless_all_are_asked_for(desk: Desk, surface: str) -> None:
    scope = f"project:several-{surface}"
    for tags in (["red"], ["blue"], ["red", "blue"], ["green"]):
        desk.good(surface, "store", f"A crate of {' and '.join(tags)}.", tags=tags, scope=scope)

    def tags_of(**where: list[str]) -> list[list[str]]:
        return sorted(memory["tags"] for memory in desk.good(surface, "list", scope=scope, **where)["memories"])

    assert tags_of(tags=["red", "blue"]) == [["blue"], ["red"], ["red", "blue"]]
    assert tags_of(all_tags=["red", "blue"]) == [["red", "blue"]]
    assert tags_of(tags=["red"], all_tags=["blue"]) == [["red", "blue"]]


@pytest.mark.promise("exchange.lossless")
def test_export_and_import_keep_every_tag_whole_and_may_be_repeated(open_desk: Callable[..., Desk], desk: Desk) -> None:
    file = desk.home / "tags.jsonl"
    assert desk.run("export", str(file), "--scope", "user").status == 0
    other = open_desk()
    for imported in (len(TAGS), 0):
        came = other.run("import", "--json", str(file)).json
        assert came["imported"] == imported
    assert other.good("cli", "stats")["tags"] == dict.fromkeys(TAGS, 1)
    for tag in TAGS:
        assert [m["tags"] for m in other.good("cli", "list", tags=[tag])["memories"]] == [[tag]]


@pytest.mark.parametrize("tag", ["cat", "x_y", "30%", "q,r", "F", "dev", "важно", 'do"t'])
def test_a_deletion_by_tag_takes_exactly_what_the_list_shows(open_desk: Callable[..., Desk], tag: str) -> None:
    desk = fill(open_desk())
    listed = [memory["id"] for memory in desk.run("list", "--json", "--tag", tag).json["memories"]]
    preview = desk.run("delete", "--json", "--tag", tag, "--dry-run").json
    assert [memory["id"] for memory in preview["memories"]] == listed
    assert desk.good("cli", "stats")["memories"] == len(TAGS)
    done = desk.run("delete", "--json", "--tag", tag, "--yes").json
    assert [result["id"] for result in done["results"]] == listed
    assert len(listed) == 1
    assert desk.good("cli", "stats")["memories"] == len(TAGS) - 1


labels = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), min_size=1, max_size=8).filter(
    lambda text: text.lower() not in {"null", "none", "undefined"}
)


@pytest.mark.promise("recall.filters")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=labels, other=labels)
def test_any_two_tags_are_one_only_when_they_differ_in_case_alone(desk: Desk, one: str, other: str) -> None:
    scope = f"team:{next(NUMBERS)}"
    stored = [(tag, desk.store(f"A box, label {no}", tags=[tag], scope=scope)) for no, tag in ((1, one), (2, other))]
    for tag in (one, other):
        page = desk.good("mcp", "list", tags=[tag], scope=scope)
        assert {m["id"] for m in page["memories"]} == {i for own, i in stored if own.lower() == tag.lower()}
