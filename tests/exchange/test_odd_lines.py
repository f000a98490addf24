"""Whatever stands in a line, an import answers with a report; only `ZapomniError` may leave it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zapomni.errors import ZapomniError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zapomni.app import Zapomni
    from zapomni.model import Memory

AT = "2026-03-29T00:30:00.000000Z"
HEADER = {"format": "zapomni", "version": 1, "exported_at": AT, "counts": {}}
MEMORY: dict[str, Any] = {
    "type": "memory",
    "id": "odd",
    "kind": "semantic",
    "scope": "user",
    "content": "odd one",
    "title": "",
    "description": "",
    "about": None,
    "path": None,
    "tags": [],
    "entities": [],
    "importance": 0.5,
    "pinned": False,
    "trust": "confirmed",
    "origin": "user",
    "source": None,
    "position": None,
    "key": None,
    "observed_at": None,
    "valid_from": None,
    "valid_until": None,
    "metadata": {},
    "created_at": AT,
    "updated_at": AT,
    "accessed_at": None,
    "access_count": 0,
    "deleted_at": None,
    "version": 1,
}
GOOD = {**MEMORY, "id": "good", "content": "the good one"}
LINK = {"type": "link", "source": "good", "target": "odd", "kind": "relates"}
SCOPE = {"type": "scope", "scope": "project:x", "identity": "git.example/x"}
REJECTION = {"type": "rejection", "scope": "user", "digest": "00" * 16, "reason": "no", "at": AT, "actor": "cli"}
PLAIN = {**{name: MEMORY[name] for name in MEMORY if name not in {"id", "version"}}, "type": "note"}
ENTITY = {"type": "entity", "name": "Ada", "entityType": "person", "observations": ["counts"]}
RELATION = {"type": "relation", "from": "Ada", "to": "Ada", "relationType": "is"}
AGENT: dict[str, Any] = {
    "id": "odd",
    "content": "odd one",
    "type": "semantic",
    "title": "t",
    "tags": ["a"],
    "context": "x",
    "importance": 0.5,
    "metadata": {"a": "b"},
    "created_at": AT,
    "updated_at": AT,
    "accessed_at": AT,
    "access_count": 1,
    "targeted_access_count": 1,
    "sediment_layer": "x",
    "superseded_by": "y",
    "replaces": "z",
    "observed_at": AT,
    "valid_from": AT,
    "valid_until": "2027-01-01",
}
HALF, EARLY, LATE = "\ud800", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


ODD = st.one_of(
    st.sampled_from(
        [
            *(None, True, False, 0, -1, 1.5, 2**53, 2**63, 10**400, float("nan"), float("inf"), "", " ", "abc", "\0"),
            *(HALF, f"project:{HALF}", "project:a\nb", EARLY, LATE, "0001-01-01", "9999-12-31", "2026-01-01", AT[:-1]),
            *([], [1], ["memory"], [HALF], [[]], [None], {}, {"a": HALF}, {HALF: 1}, {"a": float("nan")}, "9" * 5_000),
            *("x" * 100_001, "[", "{}", "[1]", "zz", "user", "project:", "\u200b", "none", deep(40), deep(400)),
        ]
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=5,
    ),
)
SHAPES = [
    *(("zapomni", shape) for shape in (HEADER, MEMORY, LINK, SCOPE, REJECTION)),
    ("plain", PLAIN),
    ("server-memory", ENTITY),
    ("server-memory", RELATION),
    ("agent-memory-mcp", AGENT),
]


def written(form: str, objects: list[Any]) -> bytes:
    if form == "agent-memory-mcp":
        return json.dumps(objects).encode()
    return "\n".join(json.dumps(item) for item in objects).encode()


@pytest.mark.parametrize(("form", "shape"), SHAPES)
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_value_of_any_field_leads_to_a_report(
    app: Zapomni, tmp_path: Path, form: str, shape: dict[str, Any], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from([*shape, "unknown"]) | st.text(st.characters(), max_size=5))
    odd = {**shape, name: data.draw(ODD)}
    objects = [odd] if shape is HEADER or form != "zapomni" else [HEADER, GOOD, odd]
    path = tmp_path / "odd"
    path.write_bytes(written(form, objects))
    told = data.draw(st.sampled_from([form, None]))
    try:
        came = app.import_(path, form=told, mode=data.draw(st.sampled_from(["merge", "replace"])))
    except ZapomniError as error:
        str(error).encode()
    else:
        repr(came).encode()
        " ".join([*came.not_carried, *(bad.reason for bad in came.bad), *(n.text for n in came.notes)]).encode()
    app.export(tmp_path / "back.jsonl")


@pytest.mark.parametrize("value", ["abc", [1], 2**63, 1.5])
def test_an_odd_position_is_a_named_bad_line(app: Zapomni, lines: Callable[..., Path], value: Any) -> None:
    came = app.import_(lines(HEADER, GOOD, {**MEMORY, "position": value}))
    assert came.imported == 1
    assert [bad.line for bad in came.bad] == [3]
    assert "position" in came.bad[0].reason


@pytest.mark.parametrize(
    "line",
    [
        *({**MEMORY, name: at} for name in ("created_at", "deleted_at", "accessed_at") for at in (EARLY, LATE)),
        *({**REJECTION, "at": at} for at in (EARLY, LATE)),
        *({**REJECTION, name: HALF} for name in ("reason", "actor")),
        {**SCOPE, "identity": HALF},
        {**LINK, "source": HALF},
        {**LINK, "target": "a\0"},
        {**MEMORY, "type": ["memory"]},
    ],
)
def test_an_odd_line_is_named_and_the_others_come_in(app: Zapomni, tmp_path: Path, line: dict[str, Any]) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(written("zapomni", [HEADER, GOOD, line]))
    came = app.import_(path)
    assert came.imported == 1
    assert [bad.line for bad in came.bad] == [3]


def test_a_first_line_whose_type_is_a_list_is_read_as_a_plain_one(app: Zapomni, lines: Callable[..., Path]) -> None:
    came = app.import_(lines({"type": ["entity"], "content": "x"}))
    assert (came.format, [bad.line for bad in came.bad]) == ("plain", [1])


@pytest.mark.parametrize(
    ("context", "scope"),
    [
        ("line\nbreak", "project:line break"),
        ("team\u2028two", "project:team two"),
        ("a\u200bb", "project:ab"),
        ("project:x\ty", "project:x y"),
        ("long " * 100, None),
        ("x" * 500, None),
    ],
)
def test_a_context_that_cannot_be_a_name_becomes_one_that_can_be_said(
    app: Zapomni, tmp_path: Path, everything: Callable[[Zapomni], list[Memory]], context: str, scope: str | None
) -> None:
    path = tmp_path / "in.json"
    path.write_bytes(written("agent-memory-mcp", [{**AGENT, "context": context}]))
    came = app.import_(path, mode="merge")
    (found,) = everything(app)
    assert scope in {None, str(found.scope)}
    assert app.scopes([str(found.scope)]) == (found.scope,)
    assert len(found.scope.name) <= 200
    assert any(str(found.scope) in note.text for note in came.notes)


def test_a_context_that_shows_nothing_is_a_bad_line(app: Zapomni, tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_bytes(written("agent-memory-mcp", [{**AGENT, "context": "\u200b"}]))
    assert [bad.line for bad in app.import_(path).bad] == [1]
