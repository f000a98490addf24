"""T29: the watcher finds the last text of what is saved, and temporary names and unchanged files cost nothing.

Idle time is counted in rounds in tests/documents/test_watch.py, where it takes no minute. Out of reach now: notes that
the product writes itself, for it writes none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.trials import drivers_b as drive

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import Server

world = drive.world
stub_process, stub = drive.stub_process, drive.stub
TEMPORARY = (".swift.md.swp", "swift.md~", ".#swift.md", "~$swift.docx", "swift.md.tmp", ".syncthing.swift.md.tmp")


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.iterdir()}


def last_scan(world: drive.World) -> str:
    return str(world.zap("source", "status")["sources"][0]["scanned_at"])


def waiting(server: Server) -> int:
    return int(server.good("semantic_search", query="anything", mode="lexical").get("waiting", 0))


@pytest.mark.slow
@pytest.mark.promise("documents.watched", "documents.fresh", "documents.untouched")
def test_saved_files_are_found_as_they_are_last_and_all_else_costs_nothing(world: drive.World, stub: Any) -> None:
    world.use(stub)
    vault = world.home / "vault"
    world.write("vault/swift.md", "# Swift\n\nстриж нулевой\n")
    server = world.server(ZAPOMNI_DOCUMENTS_DEBOUNCE_S="0.1")
    world.zap("source", "add", str(vault), "--no-scan")

    for no in range(1, 11):
        world.write("vault/.swift.md.tmp", f"# Swift\n\nstoat{no} стриж\n")
        (vault / ".swift.md.tmp").rename(vault / "swift.md")
    drive.until(lambda: world.places("stoat10") == ["swift.md"])
    assert world.places("нулевой", "--mode", "lexical") == []
    with (vault / "slow.md").open("w", encoding="utf-8") as slow:
        for part, word in (
            ("# Slow\n\nсокол", "соколы"),
            (" then merlin", "merlin"),
            (" at last kestrel-END\n", "kestrel"),
        ):
            slow.write(part)
            slow.flush()
            drive.until(lambda word=word: world.places(word, "--mode", "lexical") == ["slow.md"])  # type: ignore[misc]

    drive.until(lambda: not waiting(server))
    calls, scanned = len(drive.called(stub)), last_scan(world)
    for name in TEMPORARY:
        world.write(f"vault/{name}", "magpie\n")
    os.utime(vault / "swift.md")
    before = stamps(vault)
    drive.until(lambda: last_scan(world) != scanned)
    assert (waiting(server), len(drive.called(stub))) == (0, calls)  # an unchanged file is not embedded again
    (status,) = world.zap("source", "status")["sources"]
    assert (status["documents"], status["skipped"], status["waiting"]) == (2, [], 0)
    assert server.good("semantic_search", query="magpie", mode="lexical")["count"] == 0
    assert stamps(vault) == before
    assert server.errors == ""
