"""T21: a byte-order mark, CR LF and a closing fence at the end of the file hide no header.

Out of reach now: adding a tag to a note, for the product writes no files.
"""

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
