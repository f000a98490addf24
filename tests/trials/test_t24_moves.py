"""T24: notes that are moved, swapped and renamed are found once each, where they are now, by whatever spelling.

In an indexed folder an id of its own has a source, not a note: what is known of a note moves along with its text. In a
mirrored one each note has an id, which follows it, and so do the links to it.
"""

from __future__ import annotations

import unicodedata
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.trials import drivers_b as drive

if TYPE_CHECKING:
    from collections.abc import Iterator

world = drive.world
ACCENTED = unicodedata.normalize("NFD", "Résumé Ёж.md")
NOTES = {
    "Finance/report-a.md": "# Report\n\nwren1\n",
    "finance-2/report a.md": "# Report\n\nwren2\n",
    "DL-11 login.md": "# Login\n\nwren3\n",
    "DL-12 logout.md": "# Logout\n\nwren4 see [[DL-11 login]]\n",
    ACCENTED: "# Accents\n\nwren5\n",
}
MOVED = {
    "wren1": "Archive/deep/report-a.md",
    "wren2": "Finance 2/report a.md",
    "wren3": "DL-12 logout.md",
    "wren4": "DL-11 Login.md",
    "wren5": ACCENTED,
}


def move(world: drive.World) -> None:
    vault = world.home / "vault"
    (vault / "Archive/deep").mkdir(parents=True)
    (vault / "Finance/report-a.md").rename(vault / "Archive/deep/report-a.md")
    (vault / "DL-11 login.md").rename(vault / "aside")
    (vault / "DL-12 logout.md").rename(vault / "DL-11 login.md")
    (vault / "aside").rename(vault / "DL-12 logout.md")
    (vault / "finance-2").rename(vault / "Finance 2")
    (vault / "DL-11 login.md").rename(vault / "DL-11 Login.md")


def found(world: drive.World) -> dict[str, list[str]]:
    return {word: world.places(word, "--mode", "lexical") for word in MOVED}


@contextmanager
def watched(world: drive.World) -> Iterator[None]:
    server = world.server(ZAPOMNI_DOCUMENTS_DEBOUNCE_S="0.1")
    server.good("memory_stats")
    yield
    drive.until(lambda: found(world) == {word: [path] for word, path in MOVED.items()})
    assert server.errors == ""


@contextmanager
def scanned(world: drive.World) -> Iterator[None]:
    yield
    (came,) = world.zap("source", "scan")["sources"]
    assert came["problem"] is None


@pytest.mark.promise("documents.fresh", "documents.watched")
@pytest.mark.parametrize("by", [scanned, watched])
def test_every_moved_note_is_found_once_where_it_is_now(world: drive.World, by: Any) -> None:
    for name, text in NOTES.items():
        world.write(f"vault/{name}", text)
    world.zap("source", "add", str(world.home / "vault"))
    assert found(world) == {f"wren{no}": [name] for no, name in enumerate(NOTES, 1)}
    with by(world):
        move(world)
    assert found(world) == {word: [path] for word, path in MOVED.items()}
    (status,) = world.zap("source", "status")["sources"]
    assert (status["documents"], status["chunks"], status["skipped"]) == (len(NOTES), len(NOTES), [])
    (came,) = world.zap("source", "scan")["sources"]
    assert (came["unchanged"], came["added"], came["moved"], came["removed"]) == (len(NOTES), 0, 0, 0)
    world.healthy()


@pytest.mark.promise("documents.fresh")
def test_a_note_with_accents_is_read_by_either_spelling_and_is_there_once(world: drive.World) -> None:
    world.write(f"vault/{ACCENTED}", NOTES[ACCENTED])
    world.zap("source", "add", str(world.home / "vault"))
    server = world.server("--tools", "full")
    for form in ("NFC", "NFD"):
        path = unicodedata.normalize(form, f"vault/{ACCENTED}")
        part = server.good("repo_read", path=path)
        assert (part["text"], part["path"]) == (NOTES[ACCENTED], f"vault/{ACCENTED}")
        assert server.good("semantic_search", query="wren5", path=unicodedata.normalize(form, ACCENTED))["count"] == 1
    assert [entry["path"] for entry in server.good("repo_list")["entries"]] == ["vault", f"vault/{ACCENTED}"]
    (status,) = world.zap("source", "status")["sources"]
    assert status["documents"] == 1


def mirrored(world: drive.World) -> dict[str, tuple[str, str | None]]:
    found = world.zap("list", "--scope", "agent:a")["memories"]
    return {one["content"].split()[2]: (one["id"], one["path"]) for one in found}


@contextmanager
def mirror_watched(world: drive.World) -> Iterator[None]:
    server = world.server(ZAPOMNI_DOCUMENTS_DEBOUNCE_S="0.1")
    server.good("memory_stats")
    yield
    topics = {"wren1": "Archive.deep", "wren2": "Finance 2"}
    drive.until(lambda: all(mirrored(world).get(word, ("", ""))[1] == topic for word, topic in topics.items()))
    assert server.errors == ""
    server.stop()
    world.run("source", "scan", "--scope", "agent:a")  # what it had no time for


@contextmanager
def mirror_scanned(world: drive.World) -> Iterator[None]:
    yield
    (came,) = world.zap("source", "scan", "--scope", "agent:a")["sources"]
    assert (came["moved"], came["added"], came["removed"], came["problem"]) == (4, 0, 0, None)


@pytest.mark.promise("mirror.moves", "mirror.watched")
@pytest.mark.parametrize("by", [mirror_scanned, mirror_watched])
def test_in_a_mirrored_folder_the_id_of_a_note_and_the_links_to_it_follow_it(world: drive.World, by: Any) -> None:
    for name, text in NOTES.items():
        world.write(f"vault/{name}", text)
    vault = world.home / "vault"
    world.zap("source", "add", str(vault), "--mode", "mirror", "--scope", "agent:a")
    before = mirrored(world)
    assert before.keys() == MOVED.keys()
    (link,) = world.zap("show", before["wren4"][0], "--scope", "agent:a")["links"]
    assert (link["target"], link["kind"]) == (before["wren3"][0], "mentions")
    with by(world):
        move(world)
    after = mirrored(world)
    assert {word: one[0] for word, one in after.items()} == {word: one[0] for word, one in before.items()}
    assert (after["wren1"][1], after["wren2"][1]) == ("Archive.deep", "Finance 2")
    assert {word: drive.files_in(vault)[path].decode().split()[2] for word, path in MOVED.items()} == {
        word: word for word in MOVED
    }
    (came,) = world.zap("source", "scan", "--scope", "agent:a")["sources"]
    assert (came["unchanged"], came["skipped"]) == (len(NOTES), [])
    world.healthy()


@pytest.mark.promise("mirror.watched", "mirror.both-ways")
def test_while_a_server_runs_an_edit_of_either_side_goes_to_the_other(world: drive.World) -> None:
    world.write("vault/a.md", "# A\n\nwren1\n")
    vault = world.home / "vault"
    world.zap("source", "add", str(vault), "--mode", "mirror", "--scope", "agent:a")
    server = world.server(ZAPOMNI_DOCUMENTS_DEBOUNCE_S="0.1")
    server.good("memory_stats")
    world.write("vault/ёж.md", "wren2\n")
    drive.until(lambda: len(world.zap("list", "--scope", "agent:a")["memories"]) == 2)
    world.zap("store", "wren3", "--scope", "agent:a", "--title", "Третья запись")
    written = vault / "третья-запись.md"
    drive.until(written.exists)
    assert server.errors == ""
