"""A mirrored folder: each note is a memory, an edit of either side goes to the other, and nothing else is touched."""

from __future__ import annotations

import os
import random
import shutil

import pytest
from tests.mirror.folders import Vault
from tests.shared import INTEGRATIONS

from zapomni.bench.mirror import make_notes, run
from zapomni.errors import InvalidInput, NotFound, Refused
from zapomni.files import tree
from zapomni.model import About, LinkKind, Origin
from zapomni.services.mirror import take
from zapomni.services.mirror.pulse import Pulse

FIXTURE = INTEGRATIONS / "fixtures" / "claude_memory_dir"
NOTE = (
    "---\nname: tabs\ndescription: Indent with tabs\nmetadata:\n  type: feedback\n---\n\nOnly tabs. See [[владелец]].\n"
)


@pytest.fixture
def vault(tmp_path):
    (tmp_path / "notes").mkdir()
    made = Vault(tmp_path / "home", tmp_path / "notes")
    yield made
    made.close()


def counts(came):
    names = ("added", "changed", "moved", "removed", "written", "dropped", "conflicts")
    return {name: getattr(came, name) for name in names if getattr(came, name)}


# --- attaching ------------------------------------------------------------------------------------------
@pytest.mark.promise("mirror.isolated")
def test_a_big_folder_is_taken_in_batches_and_what_is_odd_in_one_costs_none_of_them_anything(vault, monkeypatch):
    monkeypatch.setattr(take, "BATCH", 3)
    for no in range(8):
        vault.write(f"note-{no}.md", f"Заметка number {no} about кедр{no}. See [[note-{(no + 5) % 8}]].\n")
    vault.write("note-3b.md", b"\xff\xfe is no UTF-8")
    vault.write("note-7b.md", vault.read("note-0.md"))
    vault.write("note-9.md", "\n\n")
    came = vault.attach()
    assert counts(came) == {"added": 9}  # a blank one is remembered by its name
    named = {one.path: one.reason for one in came.skipped}
    assert named.keys() == {"note-3b.md", "note-7b.md"}
    assert "UTF-8" in named["note-3b.md"]
    assert "note-0.md" in named["note-7b.md"]
    assert vault.disagreements(passed=named) == []
    for no in range(8):
        (hit,) = vault.app.recall(f"кедр{no}", scopes=[vault.scope]).hits
        targets = [link.target for link in vault.app.store.links(hit.memory.id) if link.source == hit.memory.id]
        assert targets == [vault.one(f"number {(no + 5) % 8} ").id]
    assert vault.ask("SELECT count(*) FROM runs") == [1]
    assert counts(vault.scan()) == {}


@pytest.mark.promise("mirror.maps")
def test_a_note_of_a_harness_is_a_memory_with_its_title_description_kind_and_links(vault):
    vault.write("tabs.md", NOTE)
    vault.write("владелец.md", "Выпуски подписывает Ирина.\n")
    vault.write("MEMORY.md", "- [Tabs](tabs.md) — indent\n")
    before = vault.files()
    assert counts(vault.attach()) == {"added": 2}
    tabs, owner = vault.one("Only tabs"), vault.one("Ирина")
    assert (tabs.title, tabs.description, tabs.about) == ("tabs", "Indent with tabs", About.FEEDBACK)
    assert (tabs.content, tabs.origin) == ("Only tabs. See [[владелец]].", Origin.FILE)
    assert (owner.title, owner.description) == ("владелец", "")
    (link,) = vault.app.store.links(tabs.id)
    assert (link.source, link.target, link.kind) == (tabs.id, owner.id, LinkKind.MENTIONS)
    assert vault.files() == before


@pytest.mark.promise("mirror.untouched")
def test_attaching_editing_both_sides_and_letting_go_leaves_every_other_byte_as_it_was(tmp_path):
    roots = [tmp_path / f"agent-{no}" for no in range(8)]
    for no, root in enumerate(roots):
        make_notes(root, 45, seed=no)
        lines = [f"- [Заметка {line}](note-{line}.md) — hook {line}" for line in range(45)]
        (root / "MEMORY.md").write_text("\n".join(lines * 3), encoding="utf-8")
    assert sum(path.stat().st_size for root in roots for path in root.rglob("*.md")) > 1_300_000
    source = random.Random(5)
    for no, root in enumerate(roots):
        vault = Vault(tmp_path / f"home-{no}", root, f"agent:a{no}")
        before = vault.files()
        assert counts(vault.attach()) == {"added": 45}
        assert vault.files() == before
        memory = source.choice(sorted(vault.memories().values(), key=lambda one: one.title))
        vault.update(memory.id, description="стало: иначе")
        mine = source.choice([name for name in before if name not in {"MEMORY.md", f"{memory.title}.md"}])
        edited = before[mine] + "и ещё строка\n".encode()
        vault.write(mine, edited)
        assert counts(vault.scan()) == {"changed": 1, "written": 1}
        name = f"{memory.title}.md"
        line = f"description: {memory.description}".encode()
        expected = before | {mine: edited, name: before[name].replace(line, 'description: "стало: иначе"'.encode())}
        assert vault.files() == expected
        assert vault.one("и ещё строка").title == mine.removesuffix(".md")
        vault.app.documents.remove(str(root), scopes=[vault.scope])
        assert vault.files() == expected
        assert len(vault.memories()) == 45
        vault.close()


@pytest.mark.skipif(not FIXTURE.is_dir(), reason="the memory folder of a real harness is not here")
@pytest.mark.promise("mirror.untouched")
def test_the_memory_folder_of_a_real_harness_is_attached_and_let_go_byte_for_byte(vault):
    shutil.copytree(FIXTURE, vault.root, dirs_exist_ok=True)
    before, index = vault.files(), vault.index()
    assert counts(vault.attach()) == {"added": 2}
    tabs, owner = vault.one("Indent with tabs"), vault.one("Irina")
    assert (tabs.about, owner.about) == (About.FEEDBACK, About.PROJECT)
    assert [(link.source, link.target) for link in vault.app.store.links(tabs.id)] == [(tabs.id, owner.id)]
    vault.update(owner.id, content="Oleg signs releases (since 2026-11-01).")
    vault.write("tabs-not-spaces.md", before["tabs-not-spaces.md"] + b"More.\n")
    assert counts(vault.scan()) == {"changed": 1, "written": 1}
    after = before["release-owner.md"].replace(b"Irina", b"Oleg").replace(b"2026-10-01", b"2026-11-01")
    assert vault.read("release-owner.md") == after.decode()
    vault.app.documents.remove(str(vault.root), scopes=[vault.scope])
    assert vault.index() == index


@pytest.mark.promise("mirror.start")
def test_an_empty_folder_is_filled_from_the_memory_as_a_harness_writes_it(tmp_path):
    vault = Vault(tmp_path / "home", tmp_path / "new" / "notes")
    vault.remember(
        "Выпуск по пятницам.", title="Выпуски: когда", description="Когда выпуск?", about="project", path="work.релизы"
    )
    vault.remember("No title here.")
    with pytest.raises(NotFound):
        vault.attach()
    assert counts(vault.attach(start=True)) == {"written": 2}
    assert vault.read("work/релизы/выпуски-когда.md") == (
        "---\nname: выпуски-когда\ndescription: Когда выпуск?\nmetadata:\n  type: project\n"
        f'zapomni:\n  id: {vault.one("Выпуск").id}\n  title: "Выпуски: когда"\n---\n\nВыпуск по пятницам.\n'
    )
    assert vault.read("no-title-here.md").endswith("\n\nNo title here.\n")
    assert counts(vault.scan()) == {}
    assert vault.disagreements() == []
    vault.close()


@pytest.mark.promise("mirror.one-folder")
def test_a_scope_has_one_folder_and_folders_do_not_lie_within_each_other(vault, tmp_path):
    vault.attach()
    (tmp_path / "other").mkdir()
    (vault.root / "inner").mkdir()
    with pytest.raises(Refused, match="mirrored by"):
        vault.app.documents.add(tmp_path / "other", mode="mirror", scope=vault.scope)
    for place in (vault.root, vault.root / "inner", tmp_path):
        with pytest.raises(Refused):
            vault.app.documents.add(place, mode="mirror", scope="agent:bear")
    with pytest.raises(InvalidInput):
        vault.app.documents.add(vault.write("a.md", "x"), mode="mirror", scope="agent:bear")
    vault.app.documents.add(tmp_path / "other", mode="mirror", scope="agent:bear")


# --- both ways ------------------------------------------------------------------------------------------
@pytest.mark.promise("mirror.both-ways")
def test_a_new_memory_becomes_a_file_and_a_deleted_one_takes_its_file_along_until_it_is_back(vault):
    data = "\ufeff---\r\nowner: me # mine\r\nname: a\r\n---\r\n\r\nThe kiln.\r\n".encode()
    vault.write("a.md", data)
    vault.attach()
    memory = vault.one("kiln")
    vault.app.delete(memory.id, scopes=[vault.scope])
    assert counts(vault.scan()) == {"dropped": 1}
    assert vault.files() == {}
    vault.app.undo(memory.id, scopes=[vault.scope])
    assert counts(vault.scan()) == {"written": 1}
    assert vault.files() == {"a.md": data}


@pytest.mark.promise("mirror.both-ways")
def test_deleting_a_file_deletes_its_memory_as_one_run_whose_undo_brings_both_back(vault):
    vault.write("a.md", NOTE)
    vault.write("б.md", "Печь.\n")
    vault.attach()
    before = vault.files()
    (vault.root / "a.md").unlink()
    (vault.root / "б.md").unlink()
    assert vault.scan().problem is not None
    assert len(vault.memories()) == 2
    assert counts(vault.scan(accept_removals=True)) == {"removed": 2}
    assert vault.memories() == {}
    run = vault.app.store.runs(1)[0]
    assert run.verb == "mirror"
    vault.app.undo_run(run.id)
    assert counts(vault.scan()) == {"written": 2}
    assert vault.files() == before


@pytest.mark.promise("mirror.safe-removal")
def test_a_folder_that_vanished_or_lost_half_of_its_files_deletes_nothing(vault):
    for no in range(10):
        vault.write(f"{no}.md", f"Note number {no}.\n")
    vault.attach()
    away = vault.root.rename(vault.root.with_name("away"))
    assert "cannot be found" in (vault.scan().problem or "")
    vault.root.mkdir()
    vault.remember("Something new.")
    assert "10 of 10 files are gone" in (vault.scan().problem or "")
    assert vault.files() == {}
    vault.root.rmdir()
    away.rename(vault.root)
    assert counts(vault.scan()) == {"written": 1}
    assert len(vault.memories()) == 11


@pytest.mark.promise("mirror.safe-removal")
def test_when_half_of_the_memories_are_gone_at_once_no_file_is_removed_before_somebody_says_so(vault):
    for no in range(10):
        vault.write(f"{no}.md", f"Note number {no}.\n")
    vault.attach()
    vault.app.undo_run(vault.app.store.runs(1)[0].id)
    assert "no file was removed" in (vault.scan().problem or "")
    assert len(vault.files()) == 10
    assert counts(vault.scan(accept_removals=True)) == {"dropped": 10}


@pytest.mark.promise("mirror.moves")
def test_moved_swapped_and_renamed_notes_keep_their_memories(vault):
    vault.write("a.md", "# Login\n\nwren1\n")
    vault.write("b.md", "# Logout\n\nwren2\n")
    vault.write("sub/c.md", "wren3\n")
    vault.attach()
    before = {memory.content: memory.id for memory in vault.memories().values()}
    (vault.root / "a.md").rename(vault.root / "x")
    (vault.root / "b.md").rename(vault.root / "a.md")
    (vault.root / "x").rename(vault.root / "b.md")
    (vault.root / "архив" / "deep").mkdir(parents=True)
    (vault.root / "sub/c.md").rename(vault.root / "архив/deep/C.md")
    assert counts(vault.scan()) == {"moved": 3}
    assert {memory.content: memory.id for memory in vault.memories().values()} == before
    assert (vault.one("wren3").path, vault.one("wren3").title) == ("архив.deep", "C")
    assert vault.disagreements() == []


@pytest.mark.promise("mirror.moves")
def test_notes_that_were_emptied_one_after_the_other_are_not_taken_for_each_other(vault):
    for name in ("a", "b"):
        vault.write(f"{name}.md", f"---\nname: {name}\n---\n\n{name} plover\n")
    vault.attach()
    before = {memory.title: memory.id for memory in vault.memories().values()}
    whole = vault.read("a.md")
    vault.write("a.md", "")
    vault.scan()
    vault.write("a.md", whole)
    vault.write("b.md", "")  # an editor is rewriting one file after the other
    vault.scan()
    vault.write("b.md", "---\nname: b\n---\n\nb plover\n")
    vault.scan()
    assert {memory.title: memory.id for memory in vault.memories().values()} == before
    assert vault.disagreements() == []


@pytest.mark.promise("mirror.both-ways")
def test_a_folder_in_the_place_of_a_note_is_a_deletion_of_it(vault):
    for name in ("a", "b", "c"):
        vault.write(f"{name}.md", f"{name} siskin\n")
    vault.attach()
    (vault.root / "a.md").unlink()
    (vault.root / "b.md").unlink()
    vault.update(vault.one("b siskin").id, content="b redpoll")
    vault.write("a.md/inside.md", "inside\n")
    (vault.root / "b.md").mkdir()
    assert counts(vault.scan()) == {"added": 1, "removed": 1, "written": 1}
    assert sorted(memory.content for memory in vault.memories().values()) == ["b redpoll", "c siskin", "inside"]
    assert vault.read("b-2.md") == "b redpoll\n"
    assert counts(vault.scan()) == {}


@pytest.mark.promise("mirror.moves")
def test_a_memory_that_gets_another_topic_takes_its_file_into_that_folder(vault):
    vault.write("work/v1.2/a.md", NOTE)
    vault.attach()
    memory = vault.one("Only tabs")
    assert memory.path == "work.v1_2"
    vault.update(memory.id, pinned=True)
    vault.scan()
    assert vault.files().keys() == {"work/v1.2/a.md"}
    vault.update(memory.id, path="profile.навыки")
    assert counts(vault.scan()) == {"written": 1}
    assert vault.files().keys() == {"profile/навыки/a.md"}
    assert vault.one("Only tabs").path == "profile.навыки"
    assert counts(vault.scan()) == {}


@pytest.mark.promise("mirror.moves")
def test_a_copy_is_named_and_becomes_a_memory_when_it_says_something_of_its_own(vault):
    vault.write("a.md", "The kiln is hot.\n")
    vault.attach()
    vault.write("b.md", "The kiln is hot.\n")
    (skipped,) = vault.scan().skipped
    assert (skipped.path, skipped.reason) == ("b.md", "it says the same as a.md, whose memory stands for both")
    vault.write("b.md", "The kiln is cold.\n")
    assert counts(vault.scan()) == {"added": 1}
    assert len(vault.memories()) == 2


# --- conflicts ------------------------------------------------------------------------------------------
@pytest.fixture
def clash(vault):
    vault.write("a.md", "---\nname: a\n---\nFirst.\n")
    vault.attach()
    vault.update(vault.one("First").id, content="The memory's side.")
    vault.write("a.md", "---\nname: a\n---\nСторона файла.\n")
    assert counts(vault.scan()) == {"conflicts": 1}
    return vault


@pytest.mark.promise("mirror.conflicts")
@pytest.mark.parametrize(
    ("choice", "texts"),
    [
        ("memory", {"The memory's side."}),
        ("file", {"Сторона файла."}),
        ("both", {"The memory's side.", "Сторона файла."}),
    ],
)
def test_two_edits_stay_both_until_somebody_chooses(clash, choice, texts):
    assert clash.one("The memory's side.")
    assert "Сторона файла." in clash.read("a.md")
    assert counts(clash.scan()) == {"conflicts": 1}
    (proposal,) = clash.app.review.proposals(scopes=[clash.scope])
    assert proposal.choices == ("memory", "file", "both")
    clash.app.review.accept(proposal.id, choice=choice, scopes=[clash.scope])
    clash.scan()
    assert counts(clash.scan()) == {}
    assert {memory.content for memory in clash.memories().values()} == texts
    assert clash.disagreements() == []
    assert {text for text in texts if not any(text.encode() in data for data in clash.files().values())} == set()
    assert "Сторона файла." in clash.haystack()
    assert "The memory's side." in clash.haystack()


@pytest.mark.promise("mirror.conflicts")
@pytest.mark.parametrize("choice", ["memory", "file", "both"])
@pytest.mark.parametrize("name", ["a.md", "б.md"])
def test_a_choice_that_is_undone_before_a_scan_leaves_both_sides_and_can_be_made_again(clash, choice, name):
    (proposal,) = clash.app.review.proposals(scopes=[clash.scope])
    run = clash.app.review.accept(proposal.id, choice=choice, scopes=[clash.scope]).run
    (clash.root / "a.md").rename(clash.root / name)
    clash.app.undo_run(run)
    assert counts(clash.scan())["conflicts"] == 1
    assert "Сторона файла." in clash.read(name)
    assert clash.one("The memory's side.")
    (again,) = clash.app.review.proposals(scopes=[clash.scope])
    clash.app.review.accept(again.id, choice="both", scopes=[clash.scope])
    clash.scan()
    assert counts(clash.scan()) == {}
    assert {memory.content for memory in clash.memories().values()} == {"The memory's side.", "Сторона файла."}
    assert clash.disagreements() == []


@pytest.mark.promise("mirror.conflicts")
@pytest.mark.parametrize("choice", ["memory", "file", "both"])
def test_a_choice_that_is_undone_after_a_scan_leaves_nothing_that_cannot_be_decided(clash, choice):
    (proposal,) = clash.app.review.proposals(scopes=[clash.scope])
    run = clash.app.review.accept(proposal.id, choice=choice, scopes=[clash.scope]).run
    clash.scan()
    clash.app.undo_run(run)
    clash.scan()
    for waits in clash.app.review.proposals(scopes=[clash.scope]):
        clash.app.review.accept(waits.id, choice="both", scopes=[clash.scope])
    clash.scan()
    assert counts(clash.scan()) == {}
    assert clash.app.review.proposals(scopes=[clash.scope]) == []
    assert clash.disagreements() == []
    assert "Сторона файла." in clash.haystack()
    assert "The memory's side." in clash.haystack()


@pytest.mark.promise("mirror.conflicts")
def test_a_rejected_conflict_leaves_both_sides_and_a_further_edit_asks_anew(clash):
    (proposal,) = clash.app.review.proposals(scopes=[clash.scope])
    clash.app.review.reject(proposal.id, why="later", scopes=[clash.scope])
    assert counts(clash.scan()) == {"conflicts": 1}
    assert clash.app.review.proposals(scopes=[clash.scope]) == []
    clash.write("a.md", "---\nname: a\n---\nЕщё раз.\n")
    clash.scan()
    assert len(clash.app.review.proposals(scopes=[clash.scope])) == 1


@pytest.mark.promise("mirror.conflicts", "mirror.moves")
def test_a_conflict_follows_its_file_to_another_place(clash):
    (clash.root / "a.md").rename(clash.root / "б.md")
    assert counts(clash.scan()) == {"moved": 1, "conflicts": 1}
    (proposal,) = clash.app.review.proposals(scopes=[clash.scope])
    clash.app.review.accept(proposal.id, choice="file", scopes=[clash.scope])
    assert counts(clash.scan()) == {}
    assert clash.one("Сторона файла.")


@pytest.mark.promise("mirror.conflicts")
def test_two_edits_that_say_the_same_are_no_conflict(clash):
    clash.write("a.md", "---\nname: a\n---\nThe memory's side.\n")
    assert counts(clash.scan()) == {}
    assert clash.app.review.proposals(scopes=[clash.scope]) == []
    assert clash.disagreements() == []


# --- what is left alone ---------------------------------------------------------------------------------
@pytest.mark.promise("mirror.secrets")
def test_a_secret_stays_in_its_file_alone_and_the_cut_text_never_flows_back(vault):
    text = "---\nname: a\napi_key: sk-proj-Qm3nP8xL2vB7kR9tW4yZ6cD1fG5hJ0sA\n---\nThe password: Qwerty12345!x\nKiln.\n"
    vault.write("a.md", text)
    vault.attach()
    memory = vault.one("Kiln")
    assert "Qwerty" not in memory.content
    vault.update(memory.id, description="changed in the store")
    (skipped,) = vault.scan().skipped
    assert "holds a secret" in skipped.reason
    assert vault.read("a.md") == text
    vault.app.delete(memory.id, scopes=[vault.scope])
    vault.scan(accept_removals=True)
    assert vault.read("a.md") == text
    tables = vault.ask("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
    columns = [
        (name, column) for name in tables for column in vault.ask(f"SELECT name FROM pragma_table_info('{name}')")
    ]
    dumped = repr([vault.ask(f'SELECT "{column}" FROM "{name}"') for name, column in columns])
    assert "Qwerty" not in dumped
    assert "Qm3nP8xL2vB7" not in dumped


@pytest.mark.promise("mirror.isolated")
def test_a_note_that_cannot_be_a_memory_is_named_and_costs_no_other_note_anything(vault):
    vault.write("a.md", "Good.\n")
    vault.write("big.md", "x" * 100_001)
    vault.write("latin.md", b"caf\xe9\n")
    vault.write("long.md", f"---\nname: {'n' * 201}\n---\nx\n")
    before = vault.files()
    came = vault.attach()
    assert counts(came) == {"added": 1}
    assert {one.path for one in came.skipped} == {"big.md", "latin.md", "long.md"}
    assert vault.files() == before
    again = vault.scan()
    assert ({one.path for one in again.skipped}, again.read) == ({"big.md", "latin.md", "long.md"}, 0)
    (vault.root / "odd\nname.md").write_text("x")
    counted = len(vault.scan().skipped)
    (status,) = vault.app.vaults.status(scopes=[vault.scope])
    assert (status.documents, len(status.skipped), counted) == (1, 4, 4)


@pytest.mark.promise("mirror.isolated")
@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_nothing_is_written_through_a_link_or_outside(vault, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("Outside.\n", encoding="utf-8")
    vault.attach()
    (vault.root / "skills").symlink_to(outside)
    (vault.root / "one.md").symlink_to(outside / "secret.md")
    vault.remember("Inside.", title="One", path="skills")
    vault.remember("Another.", title="One")
    came = vault.scan()
    assert sorted(path.name for path in outside.iterdir()) == ["secret.md"]
    assert (outside / "secret.md").read_text(encoding="utf-8") == "Outside.\n"
    assert counts(came) == {"written": 1}


@pytest.mark.promise("mirror.atomic")
@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_a_written_file_keeps_its_permissions_and_leaves_nothing_unfinished_behind(vault):
    vault.write("a.md", NOTE).chmod(0o640)
    vault.attach()
    vault.update(vault.one("Only tabs").id, content="Only spaces.")
    vault.scan()
    assert (vault.root / "a.md").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in vault.root.iterdir()] == ["a.md"]


@pytest.mark.promise("mirror.atomic")
def test_a_file_that_is_being_written_waits_for_the_next_scan(vault):
    vault.attach()
    path = vault.write("a.md", "Half a no")
    now = vault.clock().timestamp()
    os.utime(path, (now, now))
    came = vault.scan(rest_s=60.0)
    assert (counts(came), [one.path for one in came.skipped]) == ({}, ["a.md"])
    vault.ticks += 100
    assert counts(vault.scan(rest_s=60.0)) == {"added": 1}


def reading(monkeypatch, then, room=1 << 20):
    """Have the system give files in pieces of `room` bytes, and do something once the first one came."""
    real, left = os.read, [then]

    def read(handle, size):
        data = real(handle, min(size, room))
        while left:
            left.pop()()
        return data

    monkeypatch.setattr(os, "read", read)


@pytest.mark.promise("mirror.atomic")
@pytest.mark.parametrize(
    "now", [NOTE + "More.\n", NOTE[:-9], NOTE.replace("Only", "Just")], ids=["more", "less", "other"]
)
def test_a_note_that_changes_while_it_is_read_waits_for_the_next_scan(vault, monkeypatch, now):
    vault.write("a.md", NOTE)
    reading(monkeypatch, lambda: vault.write("a.md", now))
    came = vault.attach()
    assert counts(came) == {}
    assert [(one.path, one.reason) for one in came.skipped] == [
        ("a.md", "it is being written and waits for the next scan")
    ]
    assert counts(vault.scan()) == {"added": 1}
    assert vault.disagreements() == []


@pytest.mark.promise("mirror.isolated")
def test_a_note_that_the_system_gives_in_pieces_is_taken_whole(vault, monkeypatch):
    vault.write("a.md", NOTE)
    reading(monkeypatch, lambda: None, room=7)
    assert counts(vault.attach()) == {"added": 1}
    assert vault.one("Only tabs").content == "Only tabs. See [[владелец]]."


@pytest.mark.promise("mirror.isolated")
@pytest.mark.parametrize("by_handle", [True, False], ids=["by handle", "by path"])
@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_folder_that_becomes_a_link_while_its_notes_are_read_is_not_followed(vault, tmp_path, monkeypatch, by_handle):
    monkeypatch.setattr(tree, "_BY_HANDLE", by_handle)
    for folder, text in (("notes/папка", "Inside"), ("outside", "Outside")):
        (tmp_path / folder).mkdir()
        for name in ("a.md", "b.md"):
            (tmp_path / folder / name).write_text(f"{text} {name}.\n", encoding="utf-8")

    def swap():
        (vault.root / "папка").rename(vault.root / "was")
        (vault.root / "папка").symlink_to(tmp_path / "outside")

    reading(monkeypatch, swap)
    came = vault.attach()
    assert (counts(came), [one.path for one in came.skipped]) == ({"added": 1}, ["папка/b.md"])
    assert [memory.content for memory in vault.memories().values()] == ["Inside a.md."]


@pytest.mark.promise("history.erase")
def test_an_erased_memory_takes_its_file_along_and_leaves_no_text(vault):
    vault.write("a.md", "The lapwing is secret.\n")
    vault.write("b.md", "Other.\n")
    vault.attach()
    vault.app.delete(vault.one("lapwing").id, scopes=[vault.scope], erase=True)
    assert counts(vault.scan()) == {"dropped": 1}
    assert "lapwing" not in vault.haystack()
    assert vault.memories().keys() == {vault.one("Other").id}


@pytest.mark.promise("mirror.watched")
def test_the_pulse_of_a_folder_is_another_only_when_its_memories_are(vault):
    vault.write("a.md", NOTE)
    vault.attach()
    (source,) = vault.app.documents.sources(scopes=["all"])
    pulse = Pulse(vault.app.store)
    before = pulse(source)
    vault.scan()
    vault.app.remember("Of somebody else.", scope="agent:bear")
    assert pulse(source) == before
    vault.update(vault.one("Only tabs").id, pinned=True)
    assert pulse(source) != before


def test_the_benchmark_attaches_a_folder_and_tells_its_ratio(tmp_path):
    report = run(None, 20, lambda *_: None)
    assert (report.files, report.ratio) == (20, report.attaching / report.hashing)
    make_notes(tmp_path / "own", 3)
    assert run(tmp_path / "own", 0, lambda *_: None).files == 3


def test_of_two_files_whose_names_differ_in_letter_case_alone_both_keep_their_links(vault):
    vault.write("owner.md", "Who owns it.\n")
    vault.write("Дом.md", "The upper one, see [[owner]].\n")
    vault.write("дом.md", "The lower one, see [[owner]].\n")
    if len(vault.files()) < 3:
        pytest.skip("this file system does not tell letter case apart")
    vault.attach()
    assert len(vault.app.store.links(vault.one("Who owns it.").id)) == 2


@pytest.mark.promise("mirror.maps")
def test_tags_go_both_ways_once_a_header_speaks_of_them_and_into_no_other_file(vault):
    plain, tagged = "---\nname: a\n---\n\nThe kiln.\n", "---\nname: b\ntags: [глина]\n---\n\nThe wheel.\n"
    vault.write("a.md", plain)
    vault.write("b.md", tagged)
    vault.attach()
    for text in ("kiln", "wheel"):
        vault.app.update(vault.one(text).id, tags=["печь"], scopes=[vault.scope])
    assert counts(vault.scan()) == {"written": 1}
    assert vault.read("a.md") == plain
    assert "печь" in vault.read("b.md")
    vault.write("a.md", plain.replace("name: a\n", "name: a\ntags: [огонь]\n"))
    assert counts(vault.scan()) == {"changed": 1}
    vault.app.update(vault.one("kiln").id, tags=["жар"], scopes=[vault.scope])
    assert counts(vault.scan()) == {"written": 1}
    assert "жар" in vault.read("a.md")
