"""Trial T58: projects do not leak, whatever they are called and whichever tool reads.

Out of reach until it is built: INDEX and SEARCH-DOCS of documents, ASK, consolidations, the graph, the web pages.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.trials.conftest import Desk

WORDS = {
    "trunk": "plum",
    "squad-3-beta": "quince",
    "0d9e4c1a-77b2-4f5e-8c31-5a6b7c8d9e0f": "sorrel",
    "Проект Б": "тимьян",
    "x%y_z": "fennel",
    "xAyBz": "nettle",
    "null": "borage",
    "all": "chervil",
    "user": "lovage",
    "Delta": "mallow",
    "delta": "tansy",
    "quo\"te's (1)": "yarrow",
    "a:b/c": "sedum",
    "*": "clover",
}
NAMES = list(WORDS)


def project(name: str) -> str:
    return f"project:{name}"


@pytest.fixture(scope="module")
def desk(open_desk: Callable[..., Desk]) -> Desk:
    desk = open_desk(ZAPOMNI_EMBEDDER_PROVIDER="scripted")
    for name, word in WORDS.items():
        desk.store(f"The deploy word for this project is {word}.", scope=project(name), tags=[f"tag-{word}"])
    desk.store("The deploy word for the person is rosemary.", tags=["tag-rosemary"])
    desk.wait_for_vectors()
    return desk


def foreign(shape: object, *own: str) -> set[str]:
    """The words of other projects that an answer holds."""
    told = json.dumps(shape, ensure_ascii=False)
    return {word for word in [*WORDS.values(), "rosemary"] if word in told} - set(own)


def id_of(desk: Desk, name: str) -> str:
    return str(desk.good("mcp", "list", scope=project(name))["memories"][0]["id"])


@pytest.mark.promise("scope.isolation")
@pytest.mark.parametrize("name", NAMES)
def test_in_a_project_every_reading_shows_its_own_words_alone(desk: Desk, surface: str, name: str) -> None:
    word, scope = WORDS[name], project(name)
    for mode in ("hybrid", "lexical", "semantic"):
        found = desk.good(surface, "recall", "deploy word of the project", scope=scope, mode=mode, limit=50)
        assert (found["scopes"], found["count"]) == ([scope], 1)
        assert not foreign(found, word)
    listed = desk.good(surface, "list", scope=scope)
    assert (listed["scopes"], listed["total"]) == ([scope], 1)
    stats = desk.good(surface, "stats", scope=scope)
    assert (stats["scopes_seen"], stats["memories"]) == ([scope], 1)
    assert (stats["scopes"], stats["tags"]) == ({scope: 1}, {f"tag-{word}": 1})
    assert not foreign([listed, stats], word)
    assert word in json.dumps(listed, ensure_ascii=False)


@pytest.mark.promise("scope.isolation")
@pytest.mark.parametrize("name", NAMES)
def test_a_foreign_id_is_not_found_in_a_project_and_nothing_changes(desk: Desk, surface: str, name: str) -> None:
    other = NAMES[NAMES.index(name) - 1]
    theirs = id_of(desk, other)
    before = desk.good("mcp", "show", theirs, scope="all")
    asked: list[dict[str, Any]] = [
        desk.ask(surface, "show", theirs, scope=project(name)),
        desk.ask(surface, "update", theirs, "Taken over.", scope=project(name)),
    ]
    if surface == "cli":
        scope = ("--scope", project(name), "--json")
        asked += [desk.run(verb, theirs, *scope).json for verb in ("history", "undo")]
        asked += desk.run("delete", theirs, *scope).json["results"]
        asked += desk.run("delete", theirs, "--erase", "--yes", *scope).json["results"]
    else:
        asked += [desk.ask(surface, "delete", theirs, scope=project(name), erase=erase) for erase in (False, True)]
    assert [shape["error"]["code"] for shape in asked] == ["not_found"] * len(asked)
    assert not foreign(asked, WORDS[name])
    after = desk.good("mcp", "show", theirs, scope="all")
    assert (after["content"], after["version"]) == (before["content"], before["version"])


@pytest.mark.promise("scope.isolation")
@pytest.mark.parametrize("name", NAMES)
def test_an_export_of_a_project_holds_nothing_of_another(desk: Desk, name: str) -> None:
    for more in ((), ("--history",)):
        result = desk.run("export", "-", "--scope", project(name), *more)
        assert result.status == 0
        assert not foreign(result.out, WORDS[name])
        assert WORDS[name] in result.out
        other = NAMES[NAMES.index(name) - 1]
        assert f'"{project(other)}"' not in result.out


@pytest.mark.promise("scope.isolation")
def test_a_resource_shows_the_default_scopes_alone(desk: Desk) -> None:
    recent = desk.mcp.ask("resources/read", {"uri": "memory://recent"})
    assert not foreign(recent, "rosemary")
    for name in NAMES:
        answer = desk.mcp.ask("resources/read", {"uri": f"memory://{id_of(desk, name)}"})
        assert "error" in answer
        assert not foreign(answer)


@pytest.mark.promise("scope.isolation", "scope.place")
def test_a_scope_left_out_means_the_same_in_every_reading_and_is_named(desk: Desk, surface: str) -> None:
    found = desk.good(surface, "recall", "deploy word", limit=50)
    listed = desk.good(surface, "list", limit=50)
    stats = desk.good(surface, "stats")
    assert found["scopes"] == listed["scopes"] == stats["scopes_seen"] == ["user"]
    stats.pop("known_scopes", None)
    assert not foreign([found, listed, stats], "rosemary")
    assert (listed["total"], stats["memories"]) == (1, 1)


@pytest.mark.promise("scope.unknown")
@pytest.mark.parametrize(
    "asked", ["project:nowhere", "project:TRUNK", "project:trun", "project:x%", "team:trunk", "agent:*"]
)
def test_an_unknown_scope_is_an_error_and_never_everything(desk: Desk, surface: str, asked: str) -> None:
    shapes = [
        desk.ask(surface, "recall", "deploy word", scope=asked),
        desk.ask(surface, "list", scope=asked),
        desk.ask(surface, "stats", scope=asked),
        desk.ask(surface, "show", id_of(desk, "trunk"), scope=asked),
    ]
    assert [shape["error"]["code"] for shape in shapes] == ["not_found"] * 4
    assert not foreign(shapes)
    if asked in {"project:TRUNK", "project:trun"}:
        assert all("project:trunk" in shape["error"]["remedy"] for shape in shapes)


names = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=20)


@pytest.mark.promise("scope.isolation")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=names, other=names)
def test_any_project_name_works_and_two_names_are_two_projects(trays: Desk, name: str, other: str) -> None:
    one, two = f"team:{name}", f"team:{other}"
    trays.ask("mcp", "store", f"The deploy word here is marram of {one}.", scope=one)
    trays.ask("mcp", "store", f"The deploy word here is marram of {two}.", scope=two)
    for scope in {one, two}:
        found = trays.good("mcp", "recall", "deploy word marram", scope=scope, mode="lexical", limit=100)
        assert {memory["scope"] for memory in found["memories"]} == {scope}
        page = trays.good("mcp", "list", scope=scope)
        assert {memory["scope"] for memory in page["memories"]} == {scope}


@pytest.fixture(scope="module")
def trays(open_desk: Callable[..., Desk]) -> Desk:
    return open_desk()


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


@pytest.mark.promise("scope.place", "scope.isolation")
def test_agents_in_different_folders_do_not_get_each_others_default(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    folders = [repository(desk.home / name) for name in ("north", "south")]
    servers = [desk.serve("--folder", str(folder)) for folder in folders]
    for folder, server in zip(folders, servers, strict=True):
        server.handshake()
        stored = server.good("store_memory", content=f"The deploy word is {folder.name}ern.")
        assert stored["scope"] == f"project:{folder.name}"
    for folder, server in zip(folders, servers, strict=True):
        found = server.good("recall_memory", query="deploy word")
        assert [memory["scope"] for memory in found["memories"]] == [f"project:{folder.name}"]
        assert found["scopes"] == [f"project:{folder.name}", "user"]
        shown = desk.run("recall", "--json", "deploy word", cwd=folder).json
        assert shown["scopes"] == found["scopes"]
        assert [memory["id"] for memory in shown["memories"]] == [memory["id"] for memory in found["memories"]]
    by_http = desk.good("http", "list")
    assert (by_http["scopes"], by_http["total"]) == (["user"], 0)
    assert desk.good("http", "store", "Told over HTTP without a scope.")["scope"] == "user"
