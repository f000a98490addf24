"""T28: tools' folders, binaries and giant files are neither indexed nor watched, and what was passed over is named.

Idle time is counted in rounds in tests/documents/test_watch.py, where it takes no minute. Out of reach: the limit of
watches of a whole machine; there a user namespace stands for it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.documents.conftest import watches
from tests.trials import drivers_b as drive

if TYPE_CHECKING:
    from tests.servers import Server

world = drive.world
NOTES = 20
MEMORY_MB = 500
LIMIT = 10 * 2**20
BIG = 60 * 2**20


@pytest.fixture
def tree(world: drive.World) -> Path:
    for no in range(1, NOTES + 1):
        world.write(f"tree/notes/d{no:02}.md", f"# D\n\ndove{no}\n")
    for no in range(600):
        world.write(f"tree/node_modules/p{no:03}/README.md", f"# pkg\n\nmagpie{no}\n")
    for no in range(200):
        world.write(f"tree/.git/objects/{no % 64:02x}/o{no}", os.urandom(64))
    world.write("tree/.obsidian/workspace.json", '{"magpie":1}')
    world.write("tree/.trash/old.md", "magpie-trash\n")
    world.write("tree/dist/app.min.js", "var a=1;" * 250_000)
    world.write("tree/notes/photo.md", b"\x89PNG\r\n\x1a\n" + os.urandom(5_000))
    world.write("tree/.gitignore", "private/\n")
    world.write("tree/private/p.md", "dove-private\n")
    world.write("tree/big.log", "2026-01-01 magpie line\n")
    os.truncate(world.home / "tree/big.log", BIG)
    return world.home / "tree"


def status_of(server: Server, name: str) -> list[str]:
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(line.split() for line in lines if line.startswith(name))


@pytest.mark.promise("documents.watched", "documents.isolated")
def test_what_is_left_out_is_not_found_and_not_watched_and_is_named(world: drive.World, tree: Path) -> None:
    server = world.server("--tools", "full", ZAPOMNI_DOCUMENTS_DEBOUNCE_S="0.1")
    world.zap("source", "add", str(tree), "--no-scan")
    (came,) = server.good("index_documents")["sources"]
    assert came["excluded"] == {
        ".gitignore": 1,
        **{f"default exclude {name}": 1 for name in (".git", ".obsidian", ".trash", "dist", "node_modules")},
    }
    assert {one["path"]: one["reason"] for one in came["skipped"]} == {
        "big.log": f"it has {BIG:,} bytes, more than {LIMIT:,}",
        "notes/photo.md": "it is a PNG image, not text",
    }
    for no in range(1, NOTES + 1):
        assert drive.paths(server.good("semantic_search", query=f"dove{no}")) == [f"notes/d{no:02}.md"]
    for word in ("magpie", "magpie7", "magpie-trash", "var a=1"):
        assert server.good("semantic_search", query=word)["count"] == 0
    assert "private/p.md" not in drive.paths(server.good("semantic_search", query="dove-private"))
    (status,) = world.zap("source", "status")["sources"]
    assert [one["path"] for one in status["skipped"]] == ["big.log", "notes/photo.md"]
    server.stop()
    if sys.platform == "linux":
        watched_cheaply(world)


def watched_cheaply(world: drive.World) -> None:
    server = world.server(ZAPOMNI_DOCUMENTS_DEBOUNCE_S="0.1")
    server.good("memory_stats")
    drive.until(lambda: watches(server.process.pid))
    world.write("tree/node_modules/p007/README.md", "magpie again\n")
    world.write("tree/notes/d07.md", "# D\n\nжуравль\n")
    drive.until(lambda: world.places("журавли") == ["notes/d07.md"])
    assert watches(server.process.pid) == 2  # the root and the notes
    assert int(status_of(server, "VmHWM")[1]) < MEMORY_MB * 1024
    assert server.errors == ""
