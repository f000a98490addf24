"""Trial T08: error codes, camelCase, snake_case, short commit hashes, one-letter names, numbers."""

from __future__ import annotations

import string
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.trials.conftest import first

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trials.conftest import Desk

HASH = "4be81d07c2f95a3e6610d8b7fa92c05e31d4476a"
UUID = "7c1f0a52-94de-4b83-a6f0-2d5b8e9071c4"
TEXTS = {
    "belt": "W5521 at start means the belt guard is open.",
    "lamp": "W5512 at start means the lamp has burnt out.",
    "call": "Call rotateLeaseMarker() before quietCheckOut; flag YARD_BASE_URL wins over the file.",
    "hash": f"The slowdown came in with commit {HASH}.",
    "job": f"Job {UUID} is the rehearsal.",
    "gate": "R 4.3 reports live beside the Go workers; dock 57 is spare.",
}
FINDS = [
    ("belt", "W5521"),
    ("belt", "w5521"),
    ("lamp", "W5512"),
    ("lamp", "w5512"),
    ("call", "rotateLeaseMarker"),
    ("call", "rotateleasemarker"),
    ("call", "ROTATELEASEMARKER"),
    ("call", "rotateLeaseMarker()"),
    ("call", "quietCheckOut"),
    ("call", "YARD_BASE_URL"),
    ("call", "yard_base_url"),
    ("hash", HASH),
    ("hash", HASH[:7]),
    ("hash", HASH[:7].upper()),
    ("job", UUID),
    ("job", UUID.upper()),
    ("gate", "Go"),
    ("gate", "R"),
    ("gate", "57"),
    # parts of a name
    ("call", "lease marker"),
    ("call", "yard-base-url"),
]
PLAIN = [
    "At {time} the {thing} stopped at start with an error.",
    "The {thing} lease ran out {time} and was rotated.",
    "Checking out quietly from the {thing} desk is fine {time}.",
    "A commit {time} made the {thing} report slower.",
    "The {thing} gate is closed {time} for the workers.",
]
FILLERS = [
    text.format(time=time, thing=thing)
    for text in PLAIN
    for time in ("on Monday", "after lunch", "at night")
    for thing in ("belt", "lamp")
]
NUMBERS = count()


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    desk = open_desk(ZAPOMNI_EMBEDDER_PROVIDER="bundled")
    for text in FILLERS:
        desk.store(text)
    for key, text in TEXTS.items():
        desk.store(text, key=key)
    desk.wait_for_vectors()
    return desk


@pytest.mark.promise("recall.identifiers")
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize(("key", "query"), FINDS)
def test_a_code_or_name_is_found_before_thirty_notes_of_like_meaning(
    desk: Desk, mode: str, key: str, query: str
) -> None:
    found = desk.good("mcp", "recall", query, mode=mode)
    assert found["mode"] == mode
    assert first(memory.get("key", memory["content"]) for memory in found["memories"]) == key


@pytest.mark.promise("recall.identifiers")
@pytest.mark.parametrize(
    ("name", "scattered"),
    [
        ("TLSChannel", "A TLS warning closed Channel 57 again."),
        ("parseDate", "Please parse the letter and note its date."),
        ("main_loop", "The main pump feeds the cooling loop."),
    ],
)
def test_scattered_parts_of_a_name_do_not_come_before_the_name(desk: Desk, name: str, scattered: str) -> None:
    scope = f"project:{next(NUMBERS)}"
    desk.store(scattered, scope=scope)
    whole = desk.store(f"It is {name} that does it, and a good deal more besides that.", scope=scope)
    assert first(desk.found("mcp", name, scope=scope, mode="lexical")) == whole


parts = st.lists(st.text(string.ascii_lowercase, min_size=3, max_size=7), min_size=2, max_size=4, unique=True)


@pytest.mark.promise("recall.identifiers")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=parts,
    joint=st.sampled_from(["camel", "Pascal", "_", "-", "."]),
    case=st.sampled_from([str, str.lower, str.upper]),
)
def test_any_compound_name_is_found_whole_in_any_case_and_by_its_parts(
    desk: Desk, parts: list[str], joint: str, case: Callable[[str], str]
) -> None:
    scope = f"project:{next(NUMBERS)}"
    capitals = "".join(part.capitalize() for part in parts)
    joined = {"camel": capitals[0].lower() + capitals[1:], "Pascal": capitals}
    name = joined.get(joint) or joint.join(parts)
    stored = desk.store(f"Mind {name} at 5.", scope=scope)
    for other in ("Mind the boiler at 5.", f"Mind x{name} at 5.", f"Mind {parts[0]} at 5 too."):
        desk.store(other, scope=scope)
    assert first(desk.found("mcp", case(name), scope=scope, mode="lexical")) == stored
    assert stored in desk.found("mcp", " ".join(parts), scope=scope, mode="lexical")


codes = st.from_regex(r"[A-Z]{1,3}[1-9][0-9]{2,4}", fullmatch=True)


@pytest.mark.promise("recall.identifiers")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(code=codes, data=st.data())
def test_a_code_never_brings_another_code_before_its_own(desk: Desk, code: str, data: st.DataObject) -> None:
    scope = f"project:{next(NUMBERS)}"
    letters = code.rstrip(string.digits)
    others = data.draw(st.sets(st.permutations(code[len(letters) :]).map("".join), max_size=3)) - {code[len(letters) :]}
    ids = {letters + digits: desk.store(f"{letters + digits} stands on the label.", scope=scope) for digits in others}
    wanted = desk.store(f"{code} stands on the label of the old crate.", scope=scope)
    for query in (code, code.lower()):
        assert desk.found("mcp", query, scope=scope, mode="lexical") == [wanted], ids
