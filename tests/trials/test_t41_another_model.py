"""T41: the settings name another model of another width; nothing fails, and one command builds the new vectors.

Forty memories stand for twenty memories and twenty notes. Out of reach now: indexed notes and consolidations.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.trials import drivers_b as drive

world = drive.world
stub_process, stub = drive.stub_process, drive.stub
SUBJECTS = re.findall(
    r"\w+",
    "otters rivers glaciers harbours lanterns saddles turnips beehives compasses anchors violins kettles falcons "
    "mosaics quarries orchards windmills pianos telescopes ladders candles bridges rockets marbles pickles umbrellas "
    "hammers feathers volcanoes tunnels whistles blankets chimneys gardens magnets needles oysters parrots rainbows wheels",
)
NOTES = {word: f"What we know about {word}: the {word} note number {no}" for no, word in enumerate(SUBJECTS)}


def by_meaning(world: drive.World, words: list[str]) -> None:
    """Each text comes first for its own words, in vectors alone."""
    server = world.server(ZAPOMNI_EMBEDDER_QUERY_TIMEOUT_S="30")
    for word in words:
        found = server.good("recall_memory", query=NOTES[word], mode="semantic", limit=1)
        assert drive.texts(found) == [NOTES[word]]
    server.stop()


def kept(world: drive.World) -> dict[str, tuple[str, str]]:
    rows = [row for row in world.exported() if row.get("type") == "memory"]
    return {row["id"]: (row["content"], row["created_at"]) for row in rows}


@pytest.mark.slow
@pytest.mark.promise("space.change", "space.never-mixed")
def test_a_model_of_another_width_is_brought_in_and_taken_back_without_a_failure(world: drive.World, stub: Any) -> None:
    world.use(stub, "stub-a-64")
    world.zap("import", str(world.lines("notes.jsonl", *({"content": text} for text in NOTES.values()))))
    assert world.zap("reembed")["done"] == len(NOTES)
    before = kept(world)

    world.use(stub, "stub-a-96")
    new = world.zap("store", "What we know about zeppelins: they float")
    assert new["status"] == "created"
    first = world.zap("recall", NOTES["otters"], "--limit", "1", "--mode", "lexical")
    assert drive.texts(first) == [NOTES["otters"]]
    changed = world.zap("update", drive.ids(first)[0], NOTES["otters"], "--importance", "0.9")
    assert changed["status"] == "updated"
    assert drive.texts(world.zap("recall", "zeppelins", "--limit", "1")) == ["What we know about zeppelins: they float"]
    found = world.zap("recall", NOTES["rivers"], "--limit", "1", "--mode", "semantic")
    assert drive.texts(found) == [NOTES["rivers"]]  # the old vectors serve, and the answer says so
    assert "stub-a-64" in found["reason"]
    assert found["waiting"] == len(NOTES) + 1
    meaning = world.zap("stats")["meaning"]
    assert (meaning["model"], meaning["waiting"]) == ("openai:stub-a-96", len(NOTES) + 1)
    assert "stub-a-64" in meaning["space"]
    assert "stub-a-64" in str(world.run("doctor", "--json").stdout)

    stub.script(embed=["ok", "ok", "ok", {"hang": 600}])
    rebuild = world.start("reembed", ZAPOMNI_EMBEDDER_BATCH="10")
    drive.until(lambda: len(stub.log()) > 3)
    drive.kill(rebuild)
    assert drive.texts(world.zap("recall", NOTES["rivers"], "--limit", "1", "--mode", "semantic")) == [NOTES["rivers"]]
    stub.script()
    came = world.zap("reembed")
    assert (came["failed"], came["left"]) == (0, 0)
    assert "stub-a-96" in world.zap("stats")["meaning"]["space"]
    by_meaning(world, SUBJECTS)
    assert {key: value for key, value in kept(world).items() if key != new["id"]} == before

    world.use(stub, "stub-a-64")
    came = world.zap("reembed")
    assert (came["done"], came["left"]) == (len(NOTES) + 1, 0)
    by_meaning(world, SUBJECTS[::8])
    assert "stub-a-64" in world.zap("stats")["meaning"]["space"]
    world.healthy()
