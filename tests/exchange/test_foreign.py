from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from zapomni.errors import NotFound
from zapomni.model import LinkKind, Trust
from zapomni.record import stamp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zapomni.app import Zapomni
    from zapomni.model import Memory

    Lines = Callable[..., Path]
    Opened = Callable[[str], Zapomni]
    Everything = Callable[[Zapomni], list[Memory]]

AGENT_MEMORY: dict[str, Any] = {
    "id": "m1",
    "content": "Service X uses port 8088",
    "type": "semantic",
    "title": "Port",
    "tags": ["infra"],
    "context": "proj-x",
    "importance": 0.7,
    "metadata": {"service": "x"},
    "embedding_model": "local:e5",
    "created_at": "2026-08-01T10:00:00.123456789+03:00",
    "updated_at": "2026-08-01T10:00:00+03:00",
    "accessed_at": "2026-08-02T10:00:00+03:00",
    "access_count": 3,
    "targeted_access_count": 1,
    "valid_from": "2026-08-01T00:00:00Z",
    "superseded_by": "m2",
    "observed_at": "2026-08-01T00:00:00Z",
    "sediment_layer": "surface",
}
SUCCESSOR = {
    "id": "m2",
    "content": "Service X uses port 9099",
    "type": "semantic",
    "context": "proj-x",
    "importance": 1,
    "created_at": "2026-09-01T10:00:00Z",
    "updated_at": "2026-09-01T10:00:00Z",
    "accessed_at": "0001-01-01T00:00:00Z",
    "access_count": 0,
    "replaces": "m1",
}
GRAPH = (
    {
        "type": "entity",
        "name": "Kiln",
        "entityType": "thing",
        "observations": ["plover1: fires at 1040", "plover2: belongs to Ada"],
    },
    {"type": "entity", "entityName": "Ada", "entityType": "person", "observations": ["plover3: prefers cone 6"]},
    "",
    {"type": "relation", "from": "Ada", "to": "Kiln", "relationType": "owns"},
    '{"type":"entity","name":"Cut","observations":["plov',
    {"type": "widget", "x": 1},
    {
        "type": "entity",
        "name": "Kiln",
        "entityType": "thing",
        "observations": ["plover1: fires at 1040", "plover4: door sticks"],
    },
)


def _array(path: Path, *items: object) -> Path:
    path.write_text(json.dumps(items, indent=1), encoding="utf-8")
    return path


def test_agent_memory_items_keep_ids_times_counts_project_and_succession(
    app: Zapomni, tmp_path: Path, everything: Everything
) -> None:
    came = app.import_(_array(tmp_path / "in", AGENT_MEMORY, SUCCESSOR))
    old, new = everything(app)
    assert (came.imported, came.links, came.bad, came.not_carried) == (2, 1, (), ("embedding_model",))
    assert (old.id, str(old.scope), old.trust, old.access_count) == ("m1", "project:proj-x", Trust.SUPERSEDED, 3)
    assert [stamp(at) for at in (old.created_at, old.updated_at, old.accessed_at, old.valid_from) if at] == [
        "2026-08-01T07:00:00.123456Z",
        "2026-08-01T07:00:00.000000Z",
        "2026-08-02T07:00:00.000000Z",
        "2026-08-01T00:00:00.000000Z",
    ]
    assert old.metadata == {"service": "x", "sediment_layer": "surface", "targeted_access_count": 1}
    assert (new.accessed_at, new.importance, new.trust) == (None, 1.0, Trust.CONFIRMED)
    (link,) = app.store.links("m1")
    assert (link.source, link.target, link.kind) == ("m2", "m1", LinkKind.SUPERSEDES)
    assert app.import_(tmp_path / "in").skipped == 2


def test_agent_memory_round_trip(opened: Opened, tmp_path: Path) -> None:
    one, other = opened("one"), opened("other")
    one.import_(_array(tmp_path / "in", AGENT_MEMORY, SUCCESSOR))
    written = one.export(tmp_path / "a1", form="agent-memory-mcp")
    assert written.not_carried == ()
    assert other.import_(tmp_path / "a1").imported == 2
    other.export(tmp_path / "a2", form="agent-memory-mcp")
    assert (tmp_path / "a1").read_bytes() == (tmp_path / "a2").read_bytes()
    first, second = json.loads((tmp_path / "a1").read_bytes())
    assert first == {
        **{name: value for name, value in AGENT_MEMORY.items() if name != "embedding_model"},
        "created_at": "2026-08-01T07:00:00.123456Z",
        "updated_at": "2026-08-01T07:00:00.000000Z",
        "accessed_at": "2026-08-02T07:00:00.000000Z",
        "valid_from": "2026-08-01T00:00:00.000000Z",
        "observed_at": "2026-08-01T00:00:00.000000Z",
    }
    assert (second["id"], second["replaces"], first["superseded_by"]) == ("m2", "m1", "m2")


def test_every_sort_of_scope_survives_agent_memory(opened: Opened, tmp_path: Path, everything: Everything) -> None:
    one, other = opened("one"), opened("other")
    scopes = ["user", "project:app", "agent:coder", "team:core", "project:user", "project:team:x"]
    for scope in scopes:
        one.remember(f"in {scope}", scope=scope)
    one.export(tmp_path / "a1", form="agent-memory-mcp")
    other.import_(tmp_path / "a1")
    assert {memory.content: str(memory.scope) for memory in everything(other)} == {f"in {s}": s for s in scopes}


def test_what_agent_memory_has_no_place_for_is_named(app: Zapomni, full: Callable[..., None], tmp_path: Path) -> None:
    full(app, 60)
    written = app.export(tmp_path / "a1", form="agent-memory-mcp", history=True)
    assert set(written.not_carried) == {
        *("about", "deleted memories", "description", "entities", "history", "key", "origin", "path", "pinned"),
        *("position", "rejections", "repositories of scopes", "source", "trust", "types of metadata values", "version"),
        *("links (contradicts)", "links (derived_from)", "links (mentions)", "links (relates)"),
    }
    assert len(json.loads((tmp_path / "a1").read_bytes())) == written.memories


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"importance": 1.7}, "importance"),
        ({"importance": "high"}, "importance"),
        ({"content": "x" * 200_000}, "100,000"),
        ({"content": None}, "content"),
        ({"created_at": "yesterday-ish"}, "created_at"),
        ({"type": "rumour"}, "kind"),
        ({"access_count": -1}, "access_count"),
        ({"metadata": "text"}, "metadata"),
        ({"id": 5}, "id"),
        ({"context": 5}, "context"),
        ({"superseded_by": 5}, "superseded_by"),
    ],
)
def test_a_bad_agent_memory_item_is_named_by_its_id_and_line(
    app: Zapomni, tmp_path: Path, change: dict[str, Any], word: str
) -> None:
    came = app.import_(_array(tmp_path / "in", SUCCESSOR, AGENT_MEMORY | change))
    assert came.imported == 1
    assert word in came.bad[0].reason
    assert change.get("id") or "m1" in came.bad[0].reason
    text = (tmp_path / "in").read_text(encoding="utf-8").splitlines()
    assert '"id"' in text[came.bad[0].line]


def test_a_cut_array_gives_what_stands_before_the_cut(app: Zapomni, tmp_path: Path) -> None:
    path = _array(tmp_path / "in", SUCCESSOR, AGENT_MEMORY)
    path.write_text(path.read_text(encoding="utf-8")[:-150], encoding="utf-8")
    came = app.import_(path)
    assert came.imported == 1
    assert "nothing after it can be read" in came.bad[0].reason


@pytest.mark.parametrize("text", ["[]", "[ ]\n", " [\n]"])
def test_an_empty_array_is_an_empty_import(app: Zapomni, tmp_path: Path, text: str) -> None:
    (tmp_path / "in").write_text(text, encoding="utf-8")
    came = app.import_(tmp_path / "in")
    assert (came.imported, came.bad, came.format.value) == (0, (), "agent-memory-mcp")


@pytest.mark.parametrize(
    "text", ["[", "[,]", '[{"content": "a"},]', '[{"content": "a"}] x', "[1]", '[{"content": "a"} 5]']
)
def test_a_malformed_array_is_told(app: Zapomni, tmp_path: Path, text: str) -> None:
    (tmp_path / "in").write_text(text, encoding="utf-8")
    came = app.import_(tmp_path / "in")
    assert len(came.bad) == 1
    assert came.imported == text.count("content")


def test_a_successor_that_is_nowhere_is_noted_and_its_predecessor_stays_visible(app: Zapomni, tmp_path: Path) -> None:
    came = app.import_(_array(tmp_path / "in", AGENT_MEMORY))
    assert [(note.line, "'m2'" in note.text) for note in came.notes] == [(2, True)]
    assert [hit.memory.id for hit in app.recall("port", scopes=["project:proj-x"]).hits] == ["m1"]


@pytest.mark.promise("exchange.bad-lines")
def test_every_good_line_of_a_broken_graph_is_imported(app: Zapomni, lines: Lines) -> None:
    path = lines(*GRAPH, name="graph.jsonl", start=b"\xef\xbb\xbf")
    rehearsed = app.import_(path, dry_run=True)
    came = app.import_(path)
    assert (came.imported, came.duplicates, came.links) == (5, 1, 3)
    assert (rehearsed.imported, rehearsed.duplicates, rehearsed.links) == (5, 1, 3)
    assert [problem.line for problem in came.bad] == [5, 6]
    assert [note.line for note in came.notes] == [2]
    for no, name in enumerate(("Kiln", "Kiln", "Ada", "Kiln"), 1):
        (hit,) = app.recall(f"plover{no}").hits
        assert hit.memory.entities == (name,)
        assert hit.memory.content.startswith(f"{name}: plover{no}")


def test_a_relation_connects_the_memories_of_its_entities(app: Zapomni, lines: Lines, everything: Everything) -> None:
    app.import_(lines(*GRAPH))
    ids = {memory.content: memory.id for memory in everything(app)}
    stated, ada, kiln = ids["Ada owns Kiln"], ids["Ada: plover3: prefers cone 6"], ids["Kiln: plover1: fires at 1040"]
    assert {(link.source, link.target) for link in app.store.links(ada)} == {(stated, ada), (ada, kiln)}
    assert {(link.source, link.target) for link in app.store.links(kiln)} == {(stated, kiln), (ada, kiln)}


def test_an_entity_without_observations_is_kept_and_a_lost_end_is_noted(
    app: Zapomni, lines: Lines, everything: Everything
) -> None:
    came = app.import_(
        lines(
            {"type": "entity", "name": "Billing", "entityType": "project", "observations": []},
            {"type": "relation", "from": "Anna", "to": "Billing", "relationType": "leads"},
        )
    )
    assert {memory.content for memory in everything(app)} == {"Billing (project)", "Anna leads Billing"}
    assert came.links == 1
    assert all("'entity Anna'" in note.text for note in came.notes)


def test_the_same_observation_of_two_entities_is_two_facts(app: Zapomni, lines: Lines) -> None:
    entity = {"type": "entity", "entityType": "person", "observations": ["speaks Russian"]}
    assert app.import_(lines(entity | {"name": "Anna"}, entity | {"name": "Boris"})).imported == 2


def test_undoing_a_graph_takes_its_memories_back(app: Zapomni, lines: Lines) -> None:
    came = app.import_(lines(*GRAPH))
    app.undo_run(came.run or "")
    assert app.stats().memories == 0
    with pytest.raises(NotFound):
        app.show("Ada")
