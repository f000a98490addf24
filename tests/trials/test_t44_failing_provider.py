"""T44: a provider that limits, refuses batches and one text, hangs, goes away and refuses the key.

An import and `reembed` stand for INDEX. Out of reach now: indexed notes and their files.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest
from tests import stub as providers
from tests.trials import drivers_b as drive

if TYPE_CHECKING:
    from collections.abc import Iterator

world = drive.world
stub_process, stub = drive.stub_process, drive.stub
KEY = "sk-trial-KEY-123"
POISONED = 47
NOTES = [
    f"Number {no}: the {word} of {place}{' POISON' if no == POISONED else ''}"
    for no, (word, place) in enumerate(
        (word, place)
        for word in ("bakery", "chapel", "cinema", "lighthouse", "museum", "observatory")
        for place in ("Arkona", "Bergen", "Cadiz", "Derry", "Elblag", "Faro", "Galway", "Haifa", "Izmir", "Jurmala")
    )
]
PATIENCE = {
    "ZAPOMNI_EMBEDDER_TIMEOUT_S": "8",
    "ZAPOMNI_EMBEDDER_QUERY_TIMEOUT_S": "8",
    "ZAPOMNI_EMBEDDER_BATCH": "15",
    "ZAPOMNI_EMBEDDER_API_KEY": KEY,
}


@pytest.fixture
def switched(stub: providers.Stub) -> Iterator[Any]:
    """A provider of one's own that can be switched off and on; `stub` is asked for to skip where there is none."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    running: list[Any] = []

    def switch(*, on: bool) -> providers.Stub:
        for process in running:
            process.kill()
            process.wait()
        running[:] = [drive.own_stub(port)] if on else []
        return providers.Stub(port)

    yield switch
    switch(on=False)


def by_meaning(world: drive.World, text: str) -> list[str]:
    return drive.texts(world.zap("recall", text, "--mode", "semantic", "--limit", "1"))


@pytest.mark.slow
@pytest.mark.promise("embed.guarded", "embed.heals")
def test_limits_refusals_and_a_hang_cost_only_the_poisoned_note_its_vector(world: drive.World, stub: Any) -> None:
    world.use(stub, **PATIENCE)
    world.zap("import", str(world.lines("notes.jsonl", *({"content": note} for note in NOTES))))
    limit = {"status": 429, "headers": {"Retry-After": "2"}}
    steps = ["ok", "ok", limit, "ok", {"status": 500}, {"hang": 40}]
    stub.script(embed=steps, embed_default={"max_batch": 10, "reject_if": "POISON"})
    came = world.zap("reembed", status=7)
    assert (came["done"], came["failed"], came["left"]) == (len(NOTES) - 1, 1, 1)
    (failure,) = came["failures"]
    assert "POISON" in world.zap("show", failure["id"])["content"]
    assert "reason" not in came
    asked = stub.log()
    assert asked[3]["t"] - asked[2]["t"] >= 2  # the stub's own clock: the limit was kept
    assert asked[3]["body"] == asked[2]["body"]
    meaning = world.zap("stats")["meaning"]
    assert (meaning["waiting"], meaning["failed"]) == (1, 1)
    assert "400" in meaning["error"]
    for note in [*NOTES[::7], NOTES[POISONED - 1]]:
        assert by_meaning(world, note) == [note]
    assert drive.texts(world.zap("recall", "POISON", "--mode", "lexical")) == [NOTES[POISONED]]
    again = world.zap("reembed")  # its next try is a minute away
    assert (again["done"], again["left"]) == (0, 1)


@pytest.mark.slow
@pytest.mark.promise("embed.heals", "recall.degrades")
def test_what_was_stored_while_the_provider_was_away_gets_its_vector_when_it_is_back(
    world: drive.World, switched: Any
) -> None:
    world.use(switched(on=True), **PATIENCE)
    world.zap("import", str(world.lines("notes.jsonl", *({"content": note} for note in NOTES[:20]))))
    assert world.zap("reembed")["left"] == 0
    switched(on=False)
    server = world.server()
    for note in NOTES[20:25]:
        assert server.good("store_memory", content=note)["waiting"]
    found = server.good("recall_memory", query=NOTES[22])
    assert drive.texts(found)[0] == NOTES[22]
    assert (found["mode"], found["waiting"]) == ("lexical", 5)
    assert "could not be reached" in found["reason"]
    switched(on=True)
    drive.until(lambda: world.run("reembed").returncode in {0, 7} and not world.zap("stats")["meaning"]["waiting"])
    for note in NOTES[20:25]:
        assert by_meaning(world, note) == [note]
    world.healthy()


@pytest.mark.promise("embed.key")
def test_a_refused_key_stops_at_once_says_so_and_the_key_is_told_nowhere(world: drive.World, stub: Any) -> None:
    world.use(stub, **PATIENCE)
    stub.script(embed_default={"status": 401, "body": {"error": {"message": f"bad key {KEY}"}}})
    world.zap("import", str(world.lines("notes.jsonl", *({"content": note} for note in NOTES[:20]))))
    told = [world.run("reembed"), world.run("reembed", "--json"), world.run("--debug", "reembed")]
    assert [done.returncode for done in told] == [7, 7, 7]
    assert len(stub.log()) == 3
    assert all("401" in done.stdout and "refuses the key" in done.stdout for done in told)
    server = world.server()
    server.good("store_memory", content="The kiln fires at 1040")
    server.good("recall_memory", query="kiln")
    drive.until(lambda: "refuses the key" in str(server.good("memory_stats")["meaning"]))
    for words in (
        ["stats"],
        ["doctor"],
        ["config", "show"],
        ["recall", "kiln"],
        ["recall", "kiln", "--mode", "semantic"],
    ):
        told += [world.run(*words), world.run(*words, "--json")]
    assert KEY not in "".join(done.stdout + done.stderr for done in told) + server.errors + str(server.messages)
    server.stop()
    for file in world.store.parent.iterdir():
        assert KEY.encode() not in file.read_bytes()
