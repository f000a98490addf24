"""T19: a backup taken while a server runs and writes holds all that was acknowledged; a lone file is never empty.

Out of reach now: consolidations and indexed notes in the backup.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
from typing import Any

import pytest
from tests import servers
from tests.trials import drivers_b as drive

world = drive.world


def send_items(server: Any, numbers: range) -> None:
    server.send(
        *(
            {
                "jsonrpc": "2.0",
                "id": f"item-{no}",
                "method": "tools/call",
                "params": {"name": "store_memory", "arguments": {"content": f"ledger item {no}"}},
            }
            for no in numbers
        )
    )


def acknowledged(server: Any, count: int) -> set[str]:
    answers = server.replies(lambda message: str(message.get("id")).startswith("item-"), count)
    return {answer["result"]["structuredContent"]["id"] for answer in answers}


def kept(world: drive.World) -> set[str]:
    return {row["id"] for row in world.exported() if row.get("type") == "memory"}


@pytest.mark.promise("backup.whole")
def test_a_backup_beside_a_writing_server_restores_all_that_was_acknowledged_before_it(world: drive.World) -> None:
    server = world.server()
    send_items(server, range(200))
    before = acknowledged(server, 50)
    came = world.zap("backup", "copy.db")
    all_of_them = acknowledged(server, 200)
    other = world.elsewhere("other machine")
    assert other.zap("restore", str(world.home / "copy.db"))["restored"]
    restored = kept(other)
    assert before <= restored <= all_of_them
    assert came["memories"] == len(restored)
    found = other.zap("recall", "ledger item 1", "--limit", "100")
    assert set(drive.ids(found)) <= restored
    assert "ledger item 1" in drive.texts(found)
    other.healthy()


@pytest.mark.promise("backup.whole", "docs.true")
def test_a_lone_copy_of_the_main_file_is_never_an_empty_store_and_the_manual_warns_of_it(world: drive.World) -> None:
    server = world.server()
    for no in range(3):
        server.good("store_memory", content=f"ledger item {no}")
        other = world.elsewhere(f"copied {no}")
        other.store.parent.mkdir()
        shutil.copy(world.store, other.store)
        found = other.run("list", "--json")
        assert found.returncode == 8 or '"total": 0' not in found.stdout, found.stdout
    manual = (servers.ROOT / "docs" / "backup.md").read_text(encoding="utf-8")
    assert "Do not copy `memories.db` by hand while zapomni runs" in manual


@pytest.mark.promise("backup.whole")
def test_a_backup_that_cannot_be_finished_leaves_nothing_and_keeps_the_one_before(world: drive.World) -> None:
    world.zap("import", str(world.lines("many.jsonl", *({"content": f"ledger item {no}"} for no in range(500)))))
    folder = world.home / "copies"
    folder.mkdir()
    world.zap("backup", str(folder / "good.db"))
    good = (folder / "good.db").read_bytes()
    for name in ("good.db", "new.db"):
        done = subprocess.run(
            [*drive.CLI, "backup", "--force", "--json", str(folder / name)],
            env=servers.environment(world.home),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 7, (done.stdout, done.stderr)
        assert '"code": "unavailable"' in done.stdout
    assert drive.files_of(folder) == {str(folder / "good.db")}
    assert (folder / "good.db").read_bytes() == good
    other = world.elsewhere("other machine")
    assert other.zap("restore", str(folder / "good.db"))["memories"] == 500
