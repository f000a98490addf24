"""T63: imports with bad lines, killed half-way, in replace mode with a broken file, and onto a full disk.

The file that is killed has five thousand lines instead of five hundred: an import takes a thousand a transaction.
"""

from __future__ import annotations

import json
import resource
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.servers import environment
from tests.trials import drivers_b as drive

if TYPE_CHECKING:
    from pathlib import Path

world = drive.world
OWN = [f"My own note {no}" for no in range(5)]
GRAPH = [
    {
        "type": "entity",
        "name": "Kiln",
        "entityType": "thing",
        "observations": ["plover1: fires at 1040", "plover2: belongs to Ada"],
    },
    {"type": "entity", "entityName": "Ada", "entityType": "person", "observations": ["plover3: prefers cone 6"]},
    "",
    {"type": "relation", "from": "Ada", "to": "Kiln", "relationType": "owns"},
    '{"type":"entity","name":"Cut","observations":["plov',
    {"type": "widget", "x": 1},
    {
        "type": "entity",
        "name": "Kiln",
        "entityType": "thing",
        "observations": ["plover1: fires at 1040", "plover4: door sticks"],
    },
]
MANY, BROKEN = 5_000, 3_500


def store_own(world: drive.World) -> None:
    for text in OWN:
        world.zap("store", text)


def big(world: drive.World, count: int, broken: int) -> Path:
    good = ({"content": f"import line {no}", "tags": ["imp"]} for no in range(1, count + 1))
    lines = (f'{{"content": "import line {no}"' if no == broken else line for no, line in enumerate(good, 1))
    return world.lines("big.jsonl", *lines)


@pytest.mark.promise("exchange.bad-lines")
def test_every_good_line_of_a_broken_graph_is_there_and_each_bad_one_is_named(world: drive.World) -> None:
    store_own(world)
    path = world.lines("graph.jsonl", *GRAPH)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    dry = world.zap("import", str(path), "--dry-run", status=2)
    assert sorted(world.contents()) == OWN
    came = world.zap("import", str(path), status=2)
    assert {line: came[line] for line in came if line not in {"run", "dry_run"}} == {
        line: dry[line] for line in dry if line not in {"run", "dry_run"}
    }
    assert [bad["line"] for bad in came["bad"]] == [5, 6]
    assert "JSON" in came["bad"][0]["reason"]
    assert "widget" in came["bad"][1]["reason"]
    assert (came["imported"], came["duplicates"]) == (5, 1)
    server = world.server()
    for no, text in enumerate(("fires at 1040", "belongs to Ada", "prefers cone 6", "door sticks"), 1):
        (found,) = server.good("recall_memory", query=f"plover{no}", mode="lexical")["memories"]
        assert text in found["content"]
    fact = server.good("recall_memory", query="Ada owns Kiln", mode="lexical")["memories"][0]
    links = server.good("list_memories", id=fact["id"])["links"]
    ends = {
        server.good("list_memories", id=link["target"])["content"] for link in links if link["source"] == fact["id"]
    }
    assert any("plover1" in end for end in ends)
    assert any("plover3" in end for end in ends)


@pytest.mark.slow
@pytest.mark.promise("exchange.resumes", "exchange.bad-lines")
def test_an_import_killed_half_way_and_run_again_holds_every_good_line_once(world: drive.World) -> None:
    store_own(world)
    path = big(world, MANY, BROKEN)
    server = world.server()
    process = world.start("import", path)
    drive.until(lambda: server.good("memory_stats")["memories"] > len(OWN))
    drive.kill(process)
    part = world.zap("stats")["memories"] - len(OWN)
    assert 0 < part < MANY
    world.healthy()
    came = world.zap("import", str(path), status=2)
    assert came["resumed"]
    assert [bad["line"] for bad in came["bad"]] == [BROKEN]
    assert came["imported"] + came["skipped"] + came["duplicates"] == MANY - 1
    assert came["imported"] == MANY - 1 - part
    good = {f"import line {no}" for no in range(1, MANY + 1)} - {f"import line {BROKEN}"}
    assert Counter(world.contents()) == Counter([*good, *OWN])
    world.healthy()


@pytest.mark.promise("exchange.bad-lines")
def test_a_broken_file_in_replace_mode_leaves_the_old_memories_as_they_were(world: drive.World) -> None:
    store_own(world)
    before = world.exported()[1:]
    refused = world.zap("import", "--mode", "replace", str(big(world, 500, 350)), status=6)
    assert "line 350" in refused["error"]["message"]
    assert world.exported()[1:] == before
    assert world.zap("import", "--mode", "replace", str(big(world, 500, 0)))["imported"] == 500


@pytest.mark.promise("store.full")
@pytest.mark.parametrize("mode", ["replace", "merge"])
def test_a_full_disk_stops_an_import_with_a_clear_error_and_costs_no_old_memory(world: drive.World, mode: str) -> None:
    store_own(world)
    limit = world.store.stat().st_size + 600_000
    done = subprocess.run(
        [*drive.CLI, "import", "--json", "--mode", mode, str(big(world, MANY, 0))],
        env=environment(world.home),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 7, (done.stdout, done.stderr)
    assert json.loads(done.stdout)["error"]["code"] == "unavailable"
    left: dict[str, int] = Counter(world.contents())
    assert {text: left[text] for text in OWN} == dict.fromkeys(OWN, 1)
    assert len(left) == len(OWN) or mode == "merge"
    world.healthy()
    came: Any = world.zap("import", "--mode", mode, str(world.home / "big.jsonl"))
    assert came["bad"] == []
    expected = {f"import line {no}" for no in range(1, MANY + 1)}
    assert set(world.contents()) - set(OWN) == expected
