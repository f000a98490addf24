"""T21: a byte-order mark, CR LF and a closing fence at the end of the file hide no header."""

from __future__ import annotations

import pytest
from tests.trials import drivers_b as drive

world = drive.world
BOM = b"\xef\xbb\xbf"


def note(no: int, end: str = "\n") -> bytes:
    text = f"---\ntitle: Выдра Otter {no}\ntags: [river, река]\n---\nBody of otter {no}.\n"
    return text.replace("\n", end).encode()


NOTES = {
    "1-lf.md": note(1),
    "2-bom.md": BOM + note(2),
    "3-crlf.md": note(3, "\r\n"),
    "4-bomcrlf.md": BOM + note(4, "\r\n"),
    "5-eof.md": "---\ntitle: Выдра Otter 5\ntags: [river, река]\n---".encode(),
    "6-spaces.md": "---  \ntitle: Выдра Otter 6\ntags: [river, река]\n---  \nBody of otter 6.\n".encode(),
}


@pytest.mark.promise("documents.encodings", "documents.untouched")
def test_every_way_to_save_a_header_gives_its_title_and_tags_and_none_shows_it(world: drive.World) -> None:
    for name, data in NOTES.items():
        world.write(f"vault/{name}", data)
    (came,) = world.zap("source", "add", str(world.home / "vault"))["sources"]
    assert (came["added"], came["skipped"], came["notes"]) == (len(NOTES), [], [])
    for tag in ("river", "РЕКА"):
        for query in ("otter", "выдры"):
            found = world.zap("search", "--tag", tag, "--full", "--", query)["documents"]
            assert {place["path"]: place["title"] for place in found} == {
                name: f"Выдра Otter {name[0]}" for name in NOTES
            }
            for place in found:
                assert place["tags"] == ["river", "река"]
                assert not [mark for mark in ("---", "title:", "tags:", "\ufeff") if mark in place["text"]]
    assert world.places("otter", "--tag", "none") == []
    assert world.places("Body of otter 4")[:1] == ["4-bomcrlf.md"]
    assert drive.files_in(world.home / "vault") == NOTES


@pytest.mark.promise("mirror.untouched", "mirror.maps")
def test_a_tag_that_is_added_to_a_memory_stands_in_its_note_and_every_other_byte_stays(world: drive.World) -> None:
    for name, data in NOTES.items():
        world.write(f"vault/{name}", data)
    vault = world.home / "vault"
    (came,) = world.zap("source", "add", str(vault), "--mode", "mirror", "--scope", "agent:a")["sources"]
    assert (came["added"], came["skipped"], came["notes"]) == (len(NOTES), [], [])
    found = {one["title"]: one for one in world.zap("list", "--scope", "agent:a")["memories"]}
    assert found.keys() == {f"Выдра Otter {name[0]}" for name in NOTES}
    for one in found.values():
        assert one["tags"] == ["river", "река"]
        assert not [mark for mark in ("---", "title:", "tags:", "\ufeff") if mark in one["content"]]
    assert drive.files_in(vault) == NOTES

    for memory in found.values():
        tags = [word for tag in (*memory["tags"], "wet") for word in ("--tag", tag)]
        world.zap("update", memory["id"], "--scope", "agent:a", *tags)
    (came,) = world.zap("source", "scan", "--scope", "agent:a")["sources"]
    assert (came["written"], came["skipped"]) == (len(NOTES), [])
    tagged = {
        name: data.replace("tags: [river, река]".encode(), "tags: [river, река, wet]".encode())
        for name, data in NOTES.items()
    }
    assert drive.files_in(vault) == tagged
    (came,) = world.zap("source", "scan", "--scope", "agent:a")["sources"]
    assert (came["changed"], came["written"], came["unchanged"]) == (0, 0, len(NOTES))
