"""T16: a rebuild of every vector is killed half-way; old answers stay, the next ordinary run finishes the work.

With three hundred memories, and with a folder of as many notes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from tests.trials import drivers_b as drive

world = drive.world
stub_process, stub = drive.stub_process, drive.stub
NOTES = [f"Keyword pebble{no}, filler about gardens and tools." for no in range(1, 301)]
ASKED = (1, 17, 42, 99, 128, 129, 200, 256, 257, 300)
WHOLE_BATCH = 128
REQUESTS = 6
"""Half of the rebuild: two requests that find the width, then 128 memories in two requests, then half the next."""


def answers(server: Any, mode: str) -> dict[int, str]:
    found = {no: server.good("recall_memory", query=NOTES[no - 1], mode=mode, limit=3) for no in ASKED}
    assert {answer["mode"] for answer in found.values()} == {mode}
    return {no: drive.texts(answer)[0] for no, answer in found.items()}


@pytest.mark.slow
@pytest.mark.promise("space.change", "space.never-mixed")
def test_a_rebuild_killed_half_way_costs_no_answer_and_the_next_run_finishes_it(world: drive.World, stub: Any) -> None:
    path = world.lines("notes.jsonl", *({"content": note} for note in NOTES))
    world.use(stub)
    world.zap("import", str(path))
    assert world.zap("stats")["meaning"]["waiting"] == len(NOTES)
    assert world.zap("reembed")["done"] == len(NOTES)
    right = {no: NOTES[no - 1] for no in ASKED}

    world.use(stub, "stub-b-64")
    stub.script(embed=["ok"] * REQUESTS + [{"hang": 600}])
    rebuild = world.start("reembed")
    drive.until(lambda: len(stub.log()) > REQUESTS)
    second = world.zap("reembed", status=7)  # one process at a time does the work, and a second one says so
    assert second["reason"] == "another process is working on it"
    # A reader with the new settings; its own worker stays out as well.
    server = world.server()
    assert answers(server, "lexical") == answers(server, "semantic") == right
    meaning = server.good("memory_stats")["meaning"]
    waiting = meaning["waiting"]
    assert 0 < waiting == second["left"] < len(NOTES)
    assert meaning["model"] == "openai:stub-b-64"
    assert meaning["space"].startswith("openai:stub-a-64")
    server.stop()  # or else its worker would go on with the work at once
    drive.kill(rebuild)

    after = world.zap("recall", NOTES[41], "--mode", "semantic", "--limit", "1")
    assert (drive.texts(after), after["mode"]) == ([NOTES[41]], "semantic")
    assert world.zap("stats")["meaning"]["waiting"] == waiting
    stub.script()
    came = world.zap("reembed")
    assert (came["done"], came["failed"], came["left"]) == (waiting, 0, 0)
    again = Counter(text for text in drive.called(stub) if "pebble" in text)
    assert set(again.values()) == {1}
    assert len(again) == waiting  # what was paid for before the kill is not asked for again
    meaning = world.zap("stats")["meaning"]
    assert meaning["waiting"] == 0
    assert meaning["space"].startswith("openai:stub-b-64")

    server = world.server()
    assert answers(server, "semantic") == right
    for no, note in enumerate(NOTES, 1):
        found = drive.texts(server.good("recall_memory", query=f"pebble{no}", mode="lexical", limit=5))
        assert found.count(note) == 1
        assert not [text for text in found if re.search(r"pebble\d+", text)[0] != f"pebble{no}"]  # type: ignore[index]
    world.healthy()
    assert Counter(world.contents()) == Counter(NOTES)


def places(world: drive.World, mode: str) -> dict[int, str]:
    """The first answer to each question about the folder of notes."""
    found = {no: world.zap("search", "--mode", mode, "--", f"Keyword pebble{no}") for no in ASKED}
    assert {answer["mode"] for answer in found.values()} == {mode}
    return {no: drive.paths(answer)[0] for no, answer in found.items()}


@pytest.mark.slow
@pytest.mark.promise("space.change", "space.never-mixed", "documents.crash")
def test_a_rebuild_for_a_folder_of_notes_killed_half_way_is_finished_by_the_next_run(
    world: drive.World, stub: Any
) -> None:
    for no, note in enumerate(NOTES, 1):
        world.write(f"docs/n{no:03}.md", f"# Note {no}\n\n{note}\n")
    world.use(stub)
    (came,) = world.zap("source", "add", str(world.home / "docs"))["sources"]
    assert came["added"] == len(NOTES)
    assert world.zap("source", "status")["sources"][0]["waiting"] == len(NOTES)
    assert world.zap("reembed")["left"] == 0
    right = {no: f"n{no:03}.md" for no in ASKED}
    assert places(world, "lexical") == right

    world.use(stub, "stub-b-64")
    stub.script(embed=["ok"] * REQUESTS + [{"hang": 600}])
    rebuild = world.start("reembed")
    drive.until(lambda: len(stub.log()) > REQUESTS)
    assert places(world, "lexical") == right
    waiting = world.zap("source", "status")["sources"][0]["waiting"]
    assert 0 < waiting < len(NOTES)
    drive.kill(rebuild)
    assert places(world, "lexical") == right
    # Meaning is still searched among the old vectors, and the answer tells how much is to come.
    answer = world.zap("search", "--mode", "semantic", "--", NOTES[41])
    assert (answer["mode"], answer["waiting"]) == ("semantic", waiting)

    stub.script()
    (came,) = world.zap("source", "scan")["sources"]  # the ordinary one, not forced
    assert (came["unchanged"], came["read"], came["problem"]) == (len(NOTES), 0, None)
    assert world.zap("reembed")["left"] == 0
    again = Counter(text for text in drive.called(stub) if "Keyword pebble" in text)
    assert set(again.values()) == {1}
    assert len(again) == waiting  # what was paid for before the kill is not asked for again
    (status,) = world.zap("source", "status")["sources"]
    assert (status["documents"], status["chunks"], status["waiting"]) == (len(NOTES), len(NOTES), 0)
    server = world.server()
    for no in range(1, len(NOTES) + 1):
        found = drive.paths(server.good("semantic_search", query=f"pebble{no}", mode="lexical"))
        assert found == [f"n{no:03}.md"]
    world.healthy()
