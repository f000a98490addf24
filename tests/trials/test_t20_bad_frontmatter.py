"""T20: a note whose header cannot be read costs no other note anything, is named with its line, and stays as it is."""

from __future__ import annotations

from typing import Any

import pytest
from tests.trials import drivers_b as drive

world = drive.world
NOTES = {
    "good.md": "---\ntitle: Good\ntags: [a]\n---\nheron1\n",
    "colon.md": "---\ntitle: Roadmap: second half (Track: Sea)\ntags: [a]\n---\nheron2\n",
    "winpath.md": "---\ntitle: Win\npath: `C:\\jobs\\nightly`\n---\nheron3\n",
    "rule.md": "---\n\nA page that begins with a rule. heron4\n",
    "star.md": "---\ntitle: *draft*\n---\nheron5\n",
    "wikilist.md": "---\ntitle: W\nlinks:\n  - [[Alpha]]beta\n---\nheron6\n",
    "tab.md": "---\ntitle: T\nmeta:\n\tkey: v\n---\nheron7\n",
    "two.md": "---\npermalink: x/two\n---\n\n---\ntitle: Настоящее имя\ndescription: what this note is\n---\nheron8\n",
    "zlast.md": "---\ntitle: Last\n---\nheron9\n",
}
WORDS = {f"heron{no}": name for no, name in enumerate(NOTES, 1)}
BROKEN = {"colon.md": 2, "winpath.md": 3, "star.md": 2, "wikilist.md": 4, "tab.md": 4}
"""The line that each header breaks at."""


@pytest.mark.promise("documents.isolated", "documents.untouched")
def test_a_header_that_cannot_be_read_is_named_with_its_line_and_its_note_is_found(world: drive.World) -> None:
    for name, text in NOTES.items():
        world.write(f"vault/{name}", text)
    vault = world.home / "vault"
    before = drive.files_in(vault)

    (came,) = world.zap("source", "add", str(vault))["sources"]
    assert (came["added"], came["skipped"], came["problem"]) == (len(NOTES), [], None)
    told = {note["path"]: note["reason"] for note in came["notes"]}
    assert told.keys() == BROKEN.keys()
    for name, line in BROKEN.items():
        assert told[name].startswith(f"frontmatter cannot be read at line {line}: ")
    for word, name in WORDS.items():
        assert world.places(word) == [name]
    assert world.places("Настоящее имя")[:1] == ["two.md"]
    (status,) = world.zap("source", "status")["sources"]
    assert (status["documents"], status["problem"]) == (len(NOTES), None)
    assert drive.files_in(vault) == before

    mended = NOTES["colon.md"].replace("Roadmap: second half (Track: Sea)", '"Roadmap: second half (Track: Sea)"')
    world.write("vault/colon.md", mended)
    (came,) = world.zap("source", "scan")["sources"]
    assert (came["changed"], came["notes"]) == (1, [])
    assert world.places("heron2") == ["colon.md"]
    (place, *_) = world.zap("search", "--", "Roadmap second half Track Sea")["documents"]
    assert (place["path"], place["title"]) == ("colon.md", "Roadmap: second half (Track: Sea)")
    assert "title" not in place["text"]

    (came,) = world.zap("source", "scan")["sources"]
    assert (came["unchanged"], came["read"]) == (len(NOTES), 0)
    assert drive.files_in(vault) == before | {"colon.md": mended.encode()}


def memory(world: drive.World, word: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = [one for one in world.zap("list", "--scope", "agent:a")["memories"] if word in one["content"]]
    return found


@pytest.mark.promise("mirror.isolated", "mirror.refused", "mirror.untouched")
def test_in_a_mirrored_folder_it_is_text_and_no_edit_that_would_need_it_is_written(world: drive.World) -> None:
    for name, text in NOTES.items():
        world.write(f"vault/{name}", text)
    vault = world.home / "vault"
    before = drive.files_in(vault)
    (came,) = world.zap("source", "add", str(vault), "--mode", "mirror", "--scope", "agent:a")["sources"]
    assert (came["added"], came["skipped"], came["problem"]) == (len(NOTES), [], None)
    told = {note["path"]: note["reason"] for note in came["notes"]}
    assert told.keys() == BROKEN.keys()
    for name, line in BROKEN.items():
        assert told[name].startswith(f"its header cannot be read at line {line}: ")
    assert drive.files_in(vault) == before
    assert memory(world, "heron8")["title"] == "Настоящее имя"
    assert memory(world, "heron8")["description"] == "what this note is"

    world.zap("update", memory(world, "heron2")["id"], "heron2 changed", "--scope", "agent:a")
    world.zap("update", memory(world, "heron8")["id"], "--scope", "agent:a", "--tag", "wet", "--description", "another")
    (came,) = world.zap("source", "scan", "--scope", "agent:a")["sources"]
    refused = {one["path"]: one["reason"] for one in came["skipped"]}
    assert refused.keys() == {"colon.md", "two.md"}
    assert all("was not written into it" in reason for reason in refused.values())
    assert (came["written"], drive.files_in(vault)) == (0, before)

    world.zap("undo", memory(world, "heron2")["id"], "--scope", "agent:a")
    mended = NOTES["colon.md"].replace("Roadmap: second half (Track: Sea)", '"Roadmap: second half (Track: Sea)"')
    world.write("vault/colon.md", mended)
    (came,) = world.zap("source", "scan", "--scope", "agent:a")["sources"]
    assert (came["changed"], came["conflicts"]) == (1, 0)
    assert memory(world, "heron2")["title"] == "Roadmap: second half (Track: Sea)"
    assert memory(world, "heron2")["content"] == "heron2"
    (came,) = world.zap("source", "scan", "--scope", "agent:a")["sources"]
    assert (came["changed"], came["added"], came["written"]) == (0, 0, 0)
    assert drive.files_in(vault) == before | {"colon.md": mended.encode()}
