"""Scanning: the index says what the files say, and nothing is done twice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

import pytest

from zapomni.errors import InvalidInput
from zapomni.files.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.documents.conftest import Desk

LONG = "\n\n".join(f"## Part {n}\n\n{'The kiln needs care. ' * 40}word{n}" for n in range(1, 9))


@pytest.mark.promise("documents.fresh")
def test_a_scan_makes_every_file_searchable_by_its_words_at_once(desk: Desk) -> None:
    desk.write("plan.md", "# План\n\nДоговор продлён до мая.\n")
    desk.write("sub/kiln.txt", "The kiln fires at 1040 degrees.\n")
    came = desk.scan()
    assert (came.added, came.read, came.problem) == (2, 2, None)
    assert desk.found("договоры") == ["plan.md"]
    assert desk.found("kiln degrees") == ["sub/kiln.txt"]


@pytest.mark.promise("documents.fresh")
def test_a_second_scan_with_nothing_changed_opens_no_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(20):
        desk.write(f"n{n}.md", f"# Note {n}\n\npebble{n}\n")
    desk.write("broken.md", b"\x89PNG\r\n\x1a\n" + os.urandom(500))
    assert desk.scan().added == 20
    opened: list[str] = []
    open_file = Tree.open

    def noting(tree: Tree, path: str) -> BinaryIO:
        opened.append(path)
        return open_file(tree, path)

    monkeypatch.setattr(Tree, "open", noting)
    came = desk.scan()
    assert (came.unchanged, came.read, came.added, came.changed) == (20, 0, 0, 0)
    assert [one.path for one in came.skipped] == ["broken.md"]
    assert [path for path in opened if not path.endswith(".gitignore")] == []


@pytest.mark.promise("documents.fresh")
def test_a_changed_file_embeds_only_the_chunks_that_changed(desk: Desk) -> None:
    file = desk.write("guide.md", f"# Guide\n\n{LONG}\n")
    desk.scan()
    first = desk.embed()
    assert first >= 8
    file.write_text(file.read_text().replace("word3", "word3 and the new glaze"))
    desk.later("guide.md")
    came = desk.scan()
    assert (came.changed, came.read) == (1, 1)
    assert desk.embed() == 1
    assert desk.found("new glaze")[0] == "guide.md"


@pytest.mark.promise("documents.fresh")
def test_a_touched_file_is_read_and_costs_no_embedding(desk: Desk) -> None:
    desk.write("a.md", "# A\n\nheron\n")
    desk.scan()
    desk.embed()
    desk.later("a.md")
    came = desk.scan()
    assert (came.read, came.changed, came.unchanged) == (1, 0, 1)
    assert desk.embed() == 0
    assert desk.scan().read == 0


@pytest.mark.promise("documents.fresh")
def test_a_moved_or_renamed_file_is_found_where_it_is_now_and_costs_no_embedding(desk: Desk) -> None:
    desk.write("old/report.md", f"# Report\n\n{LONG}\n")
    desk.scan()
    desk.embed()
    (desk.root / "new").mkdir()
    (desk.root / "old/report.md").rename(desk.root / "new/Report two.md")
    came = desk.scan()
    assert (came.moved, came.added, came.removed) == (1, 0, 0)
    assert desk.embed() == 0
    assert set(desk.found("word5")) == {"new/Report two.md"}


@pytest.mark.promise("documents.fresh")
def test_two_files_that_swap_names_show_each_other_s_body(desk: Desk) -> None:
    one, two = desk.write("DL-11 login.md", "# Login\n\nwren3\n"), desk.write("DL-12 logout.md", "# Logout\n\nwren4\n")
    desk.scan()
    desk.embed()
    one.rename(desk.root / "aside")
    two.rename(one)
    (desk.root / "aside").rename(two)
    desk.scan()
    assert desk.embed() == 0
    assert (desk.found("wren3"), desk.found("wren4")) == (["DL-12 logout.md"], ["DL-11 login.md"])


@pytest.mark.promise("documents.complete")
def test_a_deleted_file_leaves_no_chunk_no_word_and_no_vector(desk: Desk) -> None:
    for n in range(12):
        desk.write(f"n{n}.md", f"# Note {n}\n\npebble{n}\n")
    desk.scan()
    desk.embed()
    for n in range(3):
        (desk.root / f"n{n}.md").unlink()
    assert desk.scan().removed == 3
    assert {name: desk.count(name) for name in ("chunks", "words", "pieces", "vectors", "strays")} == {
        "chunks": 9,
        "words": 9,
        "pieces": 9,
        "vectors": 9,
        "strays": 0,
    }
    assert desk.found("pebble1") == []


@pytest.mark.promise("documents.safe_removal")
@pytest.mark.parametrize("gone", ["emptied", "moved away", "half of it"])
def test_a_folder_that_vanished_is_no_mass_deletion(desk: Desk, gone: str) -> None:
    for n in range(20):
        desk.write(f"n{n}.md", f"# Note {n}\n\npebble{n}\n")
    desk.scan()
    if gone == "moved away":
        desk.root.rename(desk.root.with_name("elsewhere"))
    for n in range({"emptied": 20, "half of it": 11}.get(gone, 0)):
        (desk.root / f"n{n}.md").unlink()
    came = desk.scan()
    assert came.problem
    assert came.removed == 0
    assert desk.found("pebble3") == ["n3.md"]
    (status,) = desk.app.documents.status()
    assert status.source.problem == came.problem
    if gone == "half of it":
        assert (desk.scan(accept_removals=True).removed, desk.found("pebble3")) == (11, [])


@pytest.mark.promise("documents.isolated")
def test_a_file_that_cannot_be_read_is_named_and_costs_no_other_file_anything(desk: Desk) -> None:
    desk.write("a.md", "# A\n\nheron1\n")
    desk.write("b.md", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    desk.write("c.pdf", b"%PDF-1.7 cut short")
    desk.write("d.md", "# D\n\nheron2\n")
    came = desk.scan()
    assert came.added == 2
    assert {one.path for one in came.skipped} == {"b.md", "c.pdf"}
    assert all(one.reason for one in came.skipped)
    (status,) = desk.app.documents.status()
    assert {one.path for one in status.skipped} == {"b.md", "c.pdf"}
    assert status.documents == 2


@pytest.mark.promise("documents.isolated")
def test_a_file_that_was_mended_is_picked_up_and_one_that_broke_is_no_longer_found(desk: Desk) -> None:
    desk.write("a.md", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    desk.write("b.md", "# B\n\nheron2\n")
    desk.scan()
    desk.write("a.md", "# A\n\nheron1\n")
    desk.write("b.md", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    desk.later("a.md")
    desk.later("b.md")
    desk.scan()
    assert (desk.found("heron1"), desk.found("heron2")) == (["a.md"], [])


@pytest.mark.promise("documents.complete")
def test_what_is_left_out_by_new_patterns_is_left_out_of_the_index(desk: Desk) -> None:
    desk.write("a.md", "# A\n\nheron1\n")
    desk.write("drafts/b.md", "# B\n\nheron2\n")
    desk.scan()
    desk.app.documents.add(desk.root, exclude=["drafts/"])
    came = desk.scan()
    assert (came.removed, dict(came.excluded)) == (1, {"exclude": 1})
    assert desk.found("heron2") == []


@pytest.mark.promise("documents.secrets")
def test_a_secret_in_a_document_is_cut_out_of_the_index(desk: Desk) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    desk.write("a.md", f"# Access\n\nThe token of the mirror is {token} for now.\n")
    desk.scan()
    (hit,) = desk.app.documents.search("token of the mirror").hits
    assert token not in hit.chunk.text
    assert desk.found(token) == []


@pytest.mark.promise("documents.scoped")
def test_documents_are_seen_in_the_scope_of_their_source_alone(desk: Desk) -> None:
    desk.write("a.md", "# A\n\nheron1\n")
    desk.app.remember("something", scope="team:ops")
    desk.app.documents.add(desk.root, scope="team:ops")
    desk.app.documents.scan(scopes=["team:ops"])
    assert desk.found("heron1") == []
    assert desk.found("heron1", scopes=["team:ops"]) == ["a.md"]


@pytest.mark.promise("documents.complete")
def test_a_removed_source_leaves_nothing_behind(desk: Desk) -> None:
    desk.write("a.md", "# A\n\nheron1\n")
    desk.scan()
    desk.embed()
    desk.app.documents.remove(str(desk.root))
    assert [desk.count(name) for name in ("chunks", "words", "pieces", "vectors", "jobs")] == [0, 0, 0, 0, 0]
    assert b"heron1" not in desk.app.config.store_path.read_bytes()


@pytest.mark.promise("documents.fresh")
def test_another_size_of_chunks_has_every_file_cut_anew(desk: Desk) -> None:
    desk.write("guide.md", f"# Guide\n\n{LONG}\n")
    desk.scan()
    before = desk.count("chunks")
    desk.app.documents._settings = type(desk.app.config.documents)(chunk_size=400, chunk_overlap=0)
    assert desk.scan().changed == 1
    assert desk.count("chunks") > before
    assert desk.scan().read == 0


@pytest.mark.promise("documents.cited")
def test_a_hit_cites_the_line_where_its_text_stands(desk: Desk) -> None:
    file = desk.write("guide.md", f"---\r\ntitle: Guide\r\n---\r\n\r\n{LONG}\n".encode())
    desk.scan()
    hit = desk.app.documents.search("word6").hits[0]
    lines = file.read_bytes().decode().splitlines()
    assert any("word6" in line for line in lines[hit.chunk.first_line - 1 : hit.chunk.last_line])
    assert lines[hit.chunk.first_line - 1] == hit.chunk.text.splitlines()[0]
    assert hit.citation == f"{file}:{hit.chunk.first_line}"
    assert hit.chunk.trail[-1] == "Part 6"


@pytest.mark.promise("documents.safe_removal")
def test_new_patterns_that_leave_most_files_out_are_no_vanished_folder(desk: Desk) -> None:
    for n in range(20):
        desk.write(f"old/n{n}.md", f"# Note {n}\n\npebble{n}\n")
    desk.write("new.md", "# New\n\nheron\n")
    desk.scan()
    desk.app.documents.add(desk.root, exclude=["old/"])
    came = desk.scan()
    assert (came.removed, came.problem) == (20, None)


@pytest.mark.promise("documents.cited")
def test_a_file_that_two_sources_hold_is_found_once(desk: Desk) -> None:
    desk.write("sub/a.md", "# A\n\nheron1\n")
    desk.app.documents.add(desk.root)
    desk.app.documents.add(desk.root / "sub")
    desk.app.documents.scan()
    assert len(desk.app.documents.search("heron1").hits) == 1


@pytest.mark.promise("documents.rooted")
def test_the_memory_s_own_files_are_no_documents(desk: Desk) -> None:
    home = desk.app.config.home
    desk.write("a.md", "# A\n\nheron1\n")
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("# heron2\n")
    for root in (home.parent, home):
        desk.app.documents.add(root)
        came = desk.app.documents.scan(str(root))[0]
        assert [one.path for one in came.skipped] == []
        assert desk.found("heron2") == []
        assert desk.found("heron1") == ["papers/a.md"]


@pytest.mark.promise("documents.secrets")
def test_a_secret_in_a_title_a_heading_a_tag_or_across_two_chunks_is_cut_out(desk: Desk) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    desk.write("a.md", f"---\ntitle: The {token}\ntags: [{token}]\n---\n# Of {token}\n\nheron {token}\n")
    desk.write("b.json", '{"x":"' + f'","{token}'.join("word" * 40 for _ in range(80)) + '"}')
    desk.scan()
    desk.embed()
    desk.app.store.documents.sweep()
    held = b"".join(file.read_bytes() for file in desk.app.config.home.glob("memories.db*"))
    assert token.encode() not in held
    assert token[12:].encode() not in held
    assert not any(token[8:] in text for _, texts in desk.embedder.calls for text in texts)


@pytest.mark.promise("documents.isolated")
def test_a_file_of_a_far_time_stops_nobody(desk: Desk) -> None:
    desk.write("a.md", "# A\n\nheron1\n")
    desk.write("b.md", "# B\n\nheron2\n")
    os.utime(desk.root / "a.md", ns=(0, (1 << 63) + 10**15))
    desk.scan()
    assert (desk.found("heron1"), desk.found("heron2")) == (["a.md"], ["b.md"])


@pytest.mark.parametrize("name", ["", "  "])
def test_a_blank_name_attaches_and_detaches_nothing(desk: Desk, name: str) -> None:
    desk.write("a.md", "# A\n\nheron1\n")
    desk.scan()
    for act in (desk.app.documents.add, desk.app.documents.remove, desk.app.documents.status, desk.app.documents.scan):
        with pytest.raises(InvalidInput):
            act(name)
    assert desk.found("heron1") == ["a.md"]


@pytest.mark.promise("recall.budget")
def test_memories_and_documents_share_one_budget_and_what_has_no_room_is_named(desk: Desk) -> None:
    file = desk.write("a.md", "# Kiln\n\n" + "The kiln fires at 1040 degrees. " * 40)
    desk.scan()
    small = desk.app.remember("The kiln fires on Mondays").id
    answer = desk.app.recall("kiln fires", mode="lexical", with_docs=True, budget=60)
    assert [hit.memory.id for hit in answer.hits] == [small]
    assert (answer.documents, answer.left_out) == ((), (f"{file}:1",))
    whole = desk.app.recall("kiln fires", mode="lexical", with_docs=True)
    assert (len(whole.hits), len(whole.documents), whole.left_out) == (1, 1, ())


def test_documents_of_a_restored_store_are_found_by_meaning_in_a_process_that_knew_others(
    desk: Desk, tmp_path: Path
) -> None:
    old = desk.write("a.md", "# A\n\nheron on the pier\n")
    desk.scan()
    desk.embed()
    desk.app.backup(tmp_path / "backup")
    old.unlink()
    desk.write("b.md", "# B\n\nlion in the den\n")
    desk.scan(accept_removals=True)
    desk.embed()
    assert desk.found("lion in the den", mode="semantic") == ["b.md"]
    desk.app.remember("so that it is no empty store")
    desk.app.restore(tmp_path / "backup", force=True)
    assert desk.found("heron on the pier", mode="semantic") == ["a.md"]
