"""Scans that are killed, and scans beside each other: the next one finishes the work, and nothing is there twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.servers import environment

if TYPE_CHECKING:
    from tests.documents.conftest import Desk

NOTES = 120
ROUNDS = 20
SCAN = """
import sys
from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.embed.scripted import ScriptedEmbedder
with Zapomni(load({"home": sys.argv[1]}), embedder=ScriptedEmbedder()) as app:
    tell = lambda done, total: print(done, flush=True)
    app.documents.scan(progress=lambda source: tell)
    app.documents.embedding.drain(progress=tell)
"""


def scanning(desk: Desk) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCAN, str(desk.app.config.home)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(desk.app.config.home))


@pytest.mark.slow
@pytest.mark.promise("documents.crash")
def test_a_scan_killed_at_any_moment_leaves_nothing_half_done_and_the_next_one_finishes(desk: Desk) -> None:
    dice = random.Random(7)
    for n in range(NOTES):
        desk.write(f"n{n:03}.md", f"# Note {n}\n\npebble{n} among gardens and tools.\n")
    desk.app.documents.add(desk.root)
    for number in range(ROUNDS):
        for n in dice.sample(range(NOTES), 30):
            desk.write(f"n{n:03}.md", f"# Note {n}\n\npebble{n} in round {number}.\n\n## More\n\n{'text ' * number}\n")
        with scanning(desk) as child:
            assert child.stdout is not None
            for _ in range(dice.randrange(1, 40)):
                child.stdout.readline()
            child.send_signal(signal.SIGKILL)
        assert desk.count("strays") == 0
        documents = desk.app.store.documents.documents(desk.app.documents.sources()[0].id)
        assert sum(document.chunks for document in documents.values()) == desk.count("chunks") == desk.count("words")
    with scanning(desk) as child:
        assert child.wait() == 0
    desk.app.store.documents.sweep()
    assert desk.count("strays") == desk.count("jobs") == 0
    assert desk.count("pieces") == desk.count("chunks")
    assert [desk.found(f"pebble{n}") for n in range(NOTES)] == [[f"n{n:03}.md"] for n in range(NOTES)]


@pytest.mark.promise("documents.crash")
def test_one_process_scans_at_a_time_and_the_other_is_told(desk: Desk) -> None:
    desk.write("a.md", "# A\n\nheron\n")
    source = desk.app.documents.add(desk.root)
    home = desk.app.config.home
    command = [sys.executable, "-m", "zapomni", "--home", str(home), "source", "scan", "--scope", "all", "--json"]
    with desk.app.store.documents.worker_lock("scan") as mine:
        other = subprocess.run(command, capture_output=True, text=True, env=environment(home), check=False)
    assert mine
    assert other.returncode == 7
    (told,) = json.loads(other.stdout)["sources"]
    assert (told["id"], told["problem"]) == (source.id, "another process is scanning just now")
    assert desk.app.documents.sources()[0].scanned_at is None
    assert desk.scan().added == 1
