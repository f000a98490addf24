"""Folders in `ingest` mode: what is remembered keeps in step with the files, and a call is made only for a change."""

from __future__ import annotations

import json
import os
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.test_docs import EXAMPLES, undocumented
from tests.reading.notes import PNG, Desk, facts_of

from zapomni.errors import ModelError
from zapomni.model import Actor, Draft, Link, LinkKind, Origin, Run
from zapomni.model.document import SCANNED_ELSEWHERE
from zapomni.services.reading.ingest_source import is_due
from zapomni.services.reading.ingest_watch import PAUSE, IngestWatcher
from zapomni.services.remember import admit, entry_of
from zapomni.surfaces.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "notes").mkdir()
    budget: dict[str, Any] = {"llm.daily_tokens": 10**9}
    desk = Desk(tmp_path / "home", tmp_path / "notes", **budget)
    with desk.app:
        yield desk


def insight(desk: Desk, text: str, *members: str) -> str:
    """Conclude something from memories, as a consolidation does."""
    context, actor = desk.app.context, Actor(name="consolidate:test", origin=Origin.CONSOLIDATION)
    with context.store.write() as tx:
        tx.start_run(Run(id=text, verb="consolidate", actor=actor.name, started_at=desk.now))
        made = admit(context, tx, entry_of(context, Draft(content=text), actor=actor, run=text))
        tx.link([Link(source=made.id, target=one, kind=LinkKind.DERIVED_FROM) for one in members])
        tx.readings.mark_consolidated(members, text, desk.now)
    return made.id


# --- in step --------------------------------------------------------------------------------------------
@pytest.mark.promise("ingest.in-step")
def test_a_folder_is_read_once_and_an_unchanged_file_costs_no_call(desk):
    desk.write("a.md", "The kiln is hot.\n")
    desk.write("дневник/день.txt", "Печь горячая.\n")
    assert desk.scan().added == 2
    assert desk.texts() == {"The kiln is hot.", "Печь горячая."}
    os.utime(desk.root / "a.md", ns=(1, 1))
    came = desk.scan()
    assert (came.unchanged, came.read, desk.calls) == (2, 0, 2)
    assert all(memory.source == desk.root.as_posix() for memory in desk.memories())
    assert all(memory.origin is Origin.FILE for memory in desk.memories())


@pytest.mark.promise("ingest.in-step")
def test_a_changed_file_replaces_its_own_memories_and_keeps_what_it_still_says(desk):
    desk.write("a.md", "The kiln is hot.\nПечь новая.\n")
    desk.write("b.md", "The shop is open.\n")
    desk.scan()
    kept, other = desk.one("Печь новая."), desk.one("The shop is open.")
    desk.write("a.md", "The kiln is cold.\nПечь новая.\n")
    assert desk.scan().changed == 1
    assert desk.texts() == {"The kiln is cold.", "Печь новая.", "The shop is open."}
    assert desk.one("Печь новая.") == kept
    assert desk.one("The shop is open.") == other
    assert desk.said(kept) == ["Печь новая."]
    assert desk.calls == 3


@pytest.mark.promise("ingest.in-step")
def test_one_undo_takes_back_what_a_change_of_a_file_did(desk):
    desk.write("a.md", "The kiln is hot.\n")
    desk.scan()
    desk.write("a.md", "The kiln is cold.\n")
    desk.scan()
    desk.app.undo_run(desk.app.store.runs(1)[0].id)
    assert desk.texts() == {"The kiln is hot."}
    desk.scan()
    assert (desk.texts(), desk.calls) == ({"The kiln is hot."}, 2)


@pytest.mark.promise("ingest.in-step")
def test_a_deleted_file_retires_its_memories_and_one_that_comes_back_is_read_again(desk):
    for name in "abc":
        desk.write(f"{name}.md", f"Fact of {name}.\n")
    desk.scan()
    (desk.root / "a.md").unlink()
    assert desk.scan().removed == 1
    assert desk.texts() == {"Fact of b.", "Fact of c."}
    desk.write("a.md", "Fact of a.\n")
    desk.scan()
    assert "Fact of a." in desk.texts()


@pytest.mark.promise("ingest.in-step")
def test_a_fact_that_two_files_say_stays_while_one_of_them_does(desk):
    desk.write("a.md", "The kiln is hot.\nA.\n")
    desk.write("b.md", "The kiln is hot.\nB.\n")
    desk.write("c.md", "C.\n")
    desk.scan()
    (desk.root / "a.md").unlink()
    desk.scan()
    assert desk.texts() == {"The kiln is hot.", "B.", "C."}
    desk.write("b.md", "B.\n")
    desk.scan()
    assert desk.texts() == {"B.", "C."}


@pytest.mark.promise("ingest.in-step")
def test_a_file_that_moved_or_was_copied_keeps_its_memories_and_costs_no_call(desk):
    desk.write("a.md", "The kiln is hot.\n")
    desk.write("b.md", "B.\n")
    desk.scan()
    before = desk.memories()
    (desk.root / "a.md").rename(desk.root / "z.md")
    desk.write("copy.md", "B.\n")
    came = desk.scan()
    assert (came.moved, came.added, came.removed, desk.calls) == (1, 1, 0, 2)
    assert desk.memories() == before
    (desk.root / "b.md").unlink()
    desk.scan()
    assert desk.memories() == before
    (desk.root / "copy.md").unlink()
    desk.scan()
    assert desk.texts() == {"The kiln is hot."}


def test_the_old_text_of_a_changed_file_is_not_taken_over_by_a_file_that_got_it(desk):
    desk.write("a.md", "Old.\n")
    desk.scan()
    desk.write("a.md", "New.\n")
    desk.write("z.md", "Old.\n")
    desk.scan()
    assert desk.texts() == {"Old.", "New."}
    assert desk.said(desk.one("Old.")) == ["Old."]


@pytest.mark.promise("ingest.in-step")
def test_a_quick_scan_looks_at_paths_alone(desk):
    desk.write("a.md", "The kiln is hot.\n")
    desk.write("b.md", "B.\n")
    desk.scan()
    desk.write("a.md", "The kiln is cold.\n")
    desk.write("c.md", "C.\n")
    (desk.root / "b.md").unlink()
    came = desk.scan(quick=True)
    assert (came.added, came.removed, came.changed) == (1, 1, 0)
    assert desk.texts() == {"The kiln is hot.", "C."}
    desk.scan()
    assert desk.texts() == {"The kiln is cold.", "C."}


def test_a_file_that_is_being_written_is_left_for_the_next_scan(desk):
    file = desk.write("a.md", "Half a sen")
    now = desk.now.timestamp()
    os.utime(file, (now - 5, now - 5))
    assert desk.scan(rest_s=30.0).added == 0
    desk.later(minutes=1)
    assert desk.scan(rest_s=30.0).added == 1


# --- insights -------------------------------------------------------------------------------------------
@pytest.mark.promise("ingest.insights")
def test_what_was_concluded_from_a_replaced_memory_goes_and_its_other_members_wait_again(desk):
    desk.write("a.md", "The kiln is hot.\n")
    desk.write("b.md", "The shop is open.\n")
    desk.scan()
    hot, shop = desk.one("The kiln is hot."), desk.one("The shop is open.")
    insight(desk, "The shop is open and hot.", hot.id, shop.id)
    desk.write("a.md", "The kiln is cold.\n")
    desk.scan()
    assert desk.texts() == {"The kiln is cold.", "The shop is open."}
    waiting = desk.app.store.readings.unconsolidated(shop.scope, 10)
    assert {memory.content for memory in waiting} == desk.texts()
    desk.app.undo_run(desk.app.store.runs(1)[0].id)
    assert desk.texts() == {"The kiln is hot.", "The shop is open.", "The shop is open and hot."}


# --- what a person did ----------------------------------------------------------------------------------
@pytest.mark.promise("ingest.conflicts")
def test_a_memory_that_a_person_edited_is_kept_beside_what_the_file_says_now(desk):
    desk.write("a.md", "The kiln is hot.\n")
    desk.scan()
    edited = desk.app.update(desk.one("The kiln is hot.").id, content="The kiln is hot since May.")
    desk.write("a.md", "The kiln is cold.\n")
    came = desk.scan()
    assert desk.texts() == {"The kiln is hot since May.", "The kiln is cold."}
    assert [(note.path, edited.id in note.reason) for note in came.notes] == [("a.md", True)]


@pytest.mark.promise("ingest.conflicts")
def test_an_edited_memory_whose_words_still_stand_in_the_file_is_not_doubled(desk):
    desk.write("a.md", "The kiln is hot.\n")
    desk.scan()
    desk.app.update(desk.one("The kiln is hot.").id, content="The kiln is hot since May.")
    desk.write("a.md", "The kiln is hot.\nПечь новая.\n")
    came = desk.scan()
    assert desk.texts() == {"The kiln is hot since May.", "Печь новая."}
    assert came.notes == ()


@pytest.mark.promise("ingest.conflicts")
def test_a_deleted_file_takes_no_memory_along_that_a_person_edited_or_wrote(desk):
    desk.app.remember("The shop is open.")
    desk.write("a.md", "The kiln is hot.\nThe shop is open.\n")
    desk.write("b.md", "B.\n")
    desk.write("c.md", "C.\n")
    desk.scan()
    desk.app.update(desk.one("The kiln is hot.").id, pinned=True)
    (desk.root / "a.md").unlink()
    came = desk.scan()
    assert desk.texts() == {"The kiln is hot.", "The shop is open.", "B.", "C."}
    assert len(came.notes) == 1


# --- what goes wrong ------------------------------------------------------------------------------------
@pytest.mark.promise("ingest.safe-removal")
def test_too_many_files_gone_at_once_retire_nothing_until_that_is_wished(desk):
    for no in range(10):
        desk.write(f"{no}.md", f"Fact {no}.\n")
    desk.scan()
    for no in range(6):
        (desk.root / f"{no}.md").unlink()
    assert "6 of 10 files are gone" in desk.scan().problem
    assert len(desk.memories()) == 10
    assert not is_due(desk.app.context, desk.app.documents.sources()[0])
    assert desk.scan(accept_removals=True).removed == 6
    assert len(desk.memories()) == 4


@pytest.mark.promise("ingest.safe-removal")
def test_a_root_that_is_away_retires_nothing(desk):
    desk.write("a.md", "A.\n")
    desk.scan()
    desk.root.rename(desk.root.with_name("away"))
    assert desk.scan().problem
    assert desk.texts() == {"A."}


@pytest.mark.promise("ingest.isolated")
def test_a_file_that_cannot_be_read_is_named_and_costs_no_other_anything(desk):
    desk.write("a.pdf", b"no pdf")
    desk.write("blank.md", " \n")
    desk.write("b.md", "B.\n")
    desk.write(".env", "TOKEN=x")
    came = desk.scan()
    assert {one.path for one in came.skipped} == {".env", "a.pdf", "blank.md"}
    assert desk.texts() == {"B."}
    assert not is_due(desk.app.context, came.source)
    desk.write("blank.md", "No longer.\n")
    desk.scan()
    assert desk.texts() == {"B.", "No longer."}


@pytest.mark.promise("ingest.isolated")
def test_what_the_model_failed_on_waits_and_is_enriched_without_the_file(desk):
    desk.write("a.md", "A.\nБ.\n")
    desk.replies = ModelError("away")
    came = desk.scan()
    assert came.added == 1
    assert "waits for a model" in came.notes[0].reason
    assert desk.texts() == {"A.\nБ."}
    desk.replies = facts_of
    assert desk.scan().unchanged == 1
    desk.app.reading.enrich()
    assert desk.texts() == {"A.", "Б."}
    desk.write("a.md", "A.\n")
    desk.scan()
    assert desk.texts() == {"A."}


@pytest.mark.promise("ingest.isolated")
def test_a_model_that_is_away_is_asked_three_times_and_no_more(desk):
    for no in range(20):
        desk.write(f"{no}.md", f"Fact {no}.\n")
    desk.replies = ModelError("away")
    assert desk.scan().added == 20
    assert desk.calls == 3
    assert desk.app.store.readings.enrich_waiting() == 20


@pytest.mark.promise("ingest.images")
def test_an_image_that_no_model_saw_is_shown_again_by_a_whole_scan_alone(desk):
    desk.write("a.png", PNG)
    desk.replies = ModelError("takes no images")
    assert [one.path for one in desk.scan().skipped] == ["a.png"]
    assert not is_due(desk.app.context, desk.app.documents.sources()[0])
    desk.scan(quick=True)
    assert desk.calls == 1
    desk.replies = facts_of
    desk.scan()
    assert desk.texts() == {"The diagram shows a pump."}
    assert desk.scan().unchanged == 1


@pytest.mark.promise("ingest.isolated")
def test_of_two_processes_one_reads_files(desk):
    desk.write("a.md", "A.\n")
    desk.replies = facts_of
    with desk.app.store.worker_lock("ingest-scan"):
        came = desk.scan()
    assert (came.added, came.problem) == (0, SCANNED_ELSEWHERE)
    assert desk.scan().added == 1


def test_a_scan_that_was_killed_goes_on_where_it_was(desk):
    for no in range(10):
        desk.write(f"{no}.md", f"Fact {no}.\n")

    def killed(task):
        if desk.calls == 5:
            raise KeyboardInterrupt
        return facts_of(task)

    desk.replies = killed
    with pytest.raises(KeyboardInterrupt):
        desk.scan()
    assert len(desk.memories()) == 4
    desk.replies = facts_of
    assert desk.scan().unchanged == 4
    assert len(desk.memories()) == 10
    assert desk.calls == 11


# --- beside the index -----------------------------------------------------------------------------------
def test_a_scan_of_the_index_passes_ingested_sources_by(desk):
    desk.write("a.md", "The kiln is hot.\n")
    desk.app.documents.add(desk.root, mode="ingest")
    assert desk.app.documents.scan() == []
    desk.app.documents.add(desk.root)
    assert len(desk.app.documents.scan()) == 1
    assert desk.memories() == []
    assert len(desk.app.reading.scan()) == 1
    assert len(desk.memories()) == 1
    assert [status.documents for status in desk.app.documents.status()] == [1, 1]


def test_excluded_files_are_not_read(desk):
    desk.write("a.md", "A.\n")
    desk.write("b.log", "B.\n")
    desk.write("node_modules/c.md", "C.\n")
    desk.app.documents.add(desk.root, mode="ingest", exclude=["*.log"])
    desk.scan()
    assert desk.texts() == {"A."}


def test_the_command_attaches_a_folder_reads_it_and_says_what_waits(desk, tmp_path, monkeypatch, capsys):
    desk.app.close()
    desk.write("a.md", "Печь горячая.\n")
    for name, value in {"HOME": tmp_path, "ZAPOMNI_HOME": tmp_path / "h", "ZAPOMNI_EMBEDDER_PROVIDER": "none"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)
    assert run(["source", "add", "notes", "--mode", "ingest"]) == 7, "as `ingest` ends where no model is set"
    said = capsys.readouterr()
    assert "added 1" in said.out
    assert "llm.model" in said.err
    assert run(["list"]) == 0
    assert "Печь горячая." in capsys.readouterr().out
    (tmp_path / "notes" / "a.md").write_text("Печь холодная.\n", encoding="utf-8")
    assert run(["source", "scan", "notes", "--quick"]) == 0
    assert "unchanged 1" in capsys.readouterr().out
    assert run(["source", "scan", "notes"]) == 7
    assert ": changed 1" in capsys.readouterr().out
    assert run(["source", "scan", "notes", "--json"]) == 0, "nothing was read, so nothing came to wait"
    assert "reason" not in json.loads(capsys.readouterr().out)
    (tmp_path / "notes" / "b.md").write_text("Ворота зелёные.\n", encoding="utf-8")
    assert run(["source", "scan", "notes", "--json"]) == 7
    assert "llm.model" in json.loads(capsys.readouterr().out)["reason"]
    assert run(["source", "remove", "notes"]) == 0
    assert "stays remembered" in capsys.readouterr().out


@pytest.mark.promise("ingest.foreseen")
def test_what_a_scan_would_take_is_told_and_nothing_is_changed(desk):
    desk.write("a.md", "Печь горячая.\n")
    desk.write("b.md", "The gate is green.\n")
    desk.scan()
    before, calls = desk.texts(), desk.calls
    (again,) = desk.app.reading.would_scan()
    assert (again.read, again.kept, again.removed, again.calls, again.tokens_in) == (0, 2, 0, 0, 0)
    desk.write("a.md", "Печь холодная.\n")
    desk.write("копия.md", "The gate is green.\n")  # a copy costs no call
    desk.write("long.txt", "\n\n".join(f"Строка {no}. " * 60 for no in range(30)))
    desk.write("pump.png", PNG)
    desk.write("empty.md", " \n")
    (desk.root / "b.md").unlink()
    (told,) = desk.app.reading.would_scan()
    assert (told.read, told.kept, told.removed) == (3, 1, 1)
    assert [one.path for one in told.skipped] == ["empty.md"]
    assert (desk.texts(), desk.calls) == (before, calls)
    assert desk.app.documents.sources()[0].scanned_at == desk.now
    came = desk.scan(accept_removals=True)
    assert desk.calls - calls == told.calls > 3
    assert (came.added + came.changed + came.moved, came.removed) == (told.read + 1, 0)


@pytest.mark.promise("ingest.foreseen")
def test_the_price_is_told_before_a_source_is_read(desk, tmp_path, monkeypatch, capsys):
    desk.app.close()
    desk.write("a.md", "Печь горячая.\n")
    desk.write("b.md", "The gate is green.\n")
    for name, value in {"HOME": tmp_path, "ZAPOMNI_HOME": tmp_path / "h", "ZAPOMNI_EMBEDDER_PROVIDER": "none"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)
    assert run(["source", "scan", "--dry-run"]) == 0
    assert "--mode ingest" in capsys.readouterr().err
    assert run(["source", "add", "notes", "--mode", "ingest", "--no-scan"]) == 0
    capsys.readouterr()
    assert run(["source", "scan", "notes", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "read 2\n" in said
    assert re.search(r"about 2 calls, [\d,]+ tokens in, \d+ out, price not known", said)
    monkeypatch.setenv("ZAPOMNI_LLM_PRICE_IN", "1000")
    monkeypatch.setenv("ZAPOMNI_LLM_PRICE_OUT", "1000")
    assert run(["source", "scan", "notes", "--dry-run", "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert not undocumented(shape, EXAMPLES["source add, source scan"])
    assert (shape["calls"], shape["sources"][0]["read"]) == (2, 2)
    assert shape["usd"] == pytest.approx((shape["tokens_in"] + shape["tokens_out"]) / 1_000)
    assert run(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 0
    (tmp_path / "notes").rename(tmp_path / "away")
    assert run(["source", "scan", "--dry-run"]) == 7


# --- while a server runs --------------------------------------------------------------------------------
class Work:
    """Does what a server would have a process of its own do, and keeps what it was asked for."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.scans: list[tuple[str, ...]] = []
        self.enrichings = 0
        self.reason: str | None = None

    def scan(self, source: str, *more: str) -> None:
        self.scans.append(more)
        self.desk.app.reading.scan(source, quick="--quick" in more)

    def enrich(self) -> str | None:
        self.enrichings += 1
        return self.reason


@pytest.fixture
def work(desk):
    return Work(desk)


@pytest.fixture
def watcher(desk, work):
    return IngestWatcher(desk.app.context, work.scan, enrich=work.enrich)


@pytest.mark.promise("ingest.watched")
def test_the_watcher_compares_everything_at_first_then_looks_at_paths(desk, work, watcher):
    desk.app.documents.add(desk.root, mode="ingest")
    desk.write("a.md", "A.\n")
    watcher.look()
    assert work.scans == [()]
    for _ in range(3):
        desk.later(seconds=60)
        watcher.look()
    assert work.scans == [()]
    desk.write("b.md", "B.\n")
    watcher.look()
    assert work.scans == [(), ("--quick",)]
    desk.write("a.md", "Another A.\n")
    desk.later(minutes=30)
    watcher.look()
    assert work.scans[2:] == [()]
    assert desk.texts() == {"Another A.", "B."}


@pytest.mark.promise("ingest.watched")
def test_the_watcher_has_what_waits_enriched_when_it_is_due(desk, work, watcher):
    desk.replies = ModelError("away")
    desk.app.reading.ingest("The kiln is hot.")
    work.reason = "the budget is spent"
    watcher.look()
    watcher.look()
    assert work.enrichings == 1
    desk.later(seconds=PAUSE.total_seconds())
    work.reason = None
    watcher.look()
    watcher.look()
    assert work.enrichings == 3


@pytest.mark.promise("ingest.watched")
def test_the_watcher_leaves_indexed_sources_alone(desk, work, watcher):
    desk.write("a.md", "A.\n")
    desk.app.documents.add(desk.root)
    watcher.look()
    assert work.scans == []


def test_the_watcher_starts_and_ends(desk, watcher):
    watcher.start()
    watcher.stop()


# --- two thousand notes ---------------------------------------------------------------------------------
@pytest.mark.promise("ingest.in-step")
def test_many_notes_are_kept_in_step_with_one_call_a_change(desk):
    chance, count = random.Random(4), 2_000
    said = {f"{no % 9}/{no}.md": f"Note {no}.\nЗаметка {no}.\n" for no in range(count)}

    def check(calls: int) -> None:
        before = desk.calls
        desk.scan()
        assert desk.texts() == {line for text in said.values() for line in text.splitlines()}
        assert desk.calls - before == calls

    for name, text in said.items():
        desk.write(name, text)
    check(count)
    check(0)
    names = chance.sample(sorted(said), 600)
    for no, name in enumerate(names[:200]):
        for version in range(5):  # a burst: only the last is seen
            said[name] = f"Note {no} in version {version}.\n"
            desk.write(name, said[name])
    for name in names[200:400]:
        said[f"moved/{name}"] = said.pop(name)
        (desk.root / "moved" / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.root / name).rename(desk.root / "moved" / name)
    for name in names[400:]:
        del said[name]
        (desk.root / name).unlink()
    check(200)
    check(0)
