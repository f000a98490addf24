"""Many processes on one store, and what is left after `kill -9`, on a full disk and of a read-only file."""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.servers import Server, environment
from tests.trials import drivers_b as drive

from zapomni.model import Filter
from zapomni.opening import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

world = drive.world
WRITERS, EACH, SERVERS = 8, 500, 4
SEEN_WITHIN = 2.0
WRITE_AND_CHANGE = """
import sys
from zapomni.opening import open_memory
with open_memory(sys.argv[1], **{"embedder.provider": "scripted"}) as app:
    for no in range(100_000):
        made = app.remember(f"round {sys.argv[2]} item {no}")
        print(made.id, 1, flush=True)
        if no % 3 == 0:
            print(made.id, app.update(made.id, content=f"round {sys.argv[2]} changed {no}").memory.version, flush=True)
"""
FILL = """
import json, resource, sys
from pathlib import Path
from zapomni.opening import open_memory
from zapomni.errors import ZapomniError
home, how = Path(sys.argv[1]), sys.argv[2]
home.mkdir(exist_ok=True)
filler = home / "filler"
if how == "disk":
    filler.write_bytes(bytes(1_000_000))
acknowledged, errors = [], []
with open_memory(home, **{"embedder.provider": "none"}) as app:
    acknowledged.append(app.remember("before it was full").id)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
    try:
        for no in range(1000):
            acknowledged.append(app.remember(f"filling {no} " + "x" * 20_000).id)
    except ZapomniError as error:
        errors.append([error.code, error.message, error.remedy])
    try:  # the next call meets the same, or what it needs has become free
        acknowledged.append(app.remember("once more " + "y" * 20_000).id)
    except ZapomniError as error:
        errors.append([error.code, error.message, error.remedy])
    there = app.stats().memories
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    filler.unlink(missing_ok=True)
    acknowledged.append(app.remember("after there was room again").id)
    found = {memory_id for memory_id in acknowledged if app.show(memory_id)}
with open_memory(home, **{"embedder.provider": "none"}) as app:
    wrong = [check.name for check in app.check() if not check.ok]
    print(json.dumps([len(acknowledged), len(found), there, app.stats().memories, errors, wrong]))
"""


def killed(process: subprocess.Popen[str], chance: random.Random, most: float) -> list[str]:
    """Kill a process at a moment of chance, if it still runs, and return the lines that it wrote."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(chance.uniform(0, most))
    process.kill()
    process.wait(drive.DEADLINE)
    lines = drive.read_lines(process)
    drive.finish(process)
    return lines


def unwell(home: Path) -> list[str]:
    with open_memory(home, **{"embedder.provider": "none"}) as app:
        return [f"{check.name}: {check.detail}" for check in app.check() if not check.ok]


def sees(server: Server, word: str, memory_id: str) -> bool:
    return drive.ids(server.good("recall_memory", query=word, mode="lexical"))[:1] == [memory_id]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.promise("store.shared")
def test_eight_writers_and_four_servers_lose_nothing_meet_no_lock_and_see_each_other(world: drive.World) -> None:
    servers = [world.server() for _ in range(SERVERS)]
    writers = [world.start("-c", drive.WRITE, world.store.parent, f"writer{no}", EACH) for no in range(WRITERS)]
    beacons: dict[str, str] = {}
    while any(writer.poll() is None for writer in writers) or len(beacons) < 2 * SERVERS:
        turn = len(beacons) % SERVERS
        text = f"beacon{len(beacons)} of server {turn}"
        made = servers[turn].good("store_memory", content=text)
        beacons[made["id"]] = text
        word = text.split(maxsplit=1)[0]
        for server in servers[:turn] + servers[turn + 1 :]:
            drive.until(partial(sees, server, word, made["id"]), SEEN_WITHIN)
    acknowledged = dict(beacons)
    for no, writer in enumerate(writers):
        lines = drive.read_lines(writer)
        assert writer.returncode == 0
        assert writer.stderr is not None
        assert writer.stderr.read() == ""
        acknowledged |= dict(zip(lines, (f"writer{no} item {at}" for at in range(EACH)), strict=True))
    assert len(acknowledged) == WRITERS * EACH + len(beacons)
    for server in servers:
        assert server.good("memory_stats")["memories"] == len(acknowledged)
        assert not [message for message in server.messages if message.get("result", {}).get("isError")]
    with open_memory(world.store.parent, **{"embedder.provider": "none"}) as app:
        kept = {memory.id: memory.content for memory in app.store.get(list(acknowledged), Filter())}
    assert kept == acknowledged
    assert unwell(world.store.parent) == []


@pytest.mark.slow
@pytest.mark.promise("store.crash", "write.read-back")
def test_thirty_kills_at_moments_of_chance_cost_no_acknowledged_write(world: drive.World) -> None:
    chance, home = random.Random(30), world.store.parent
    acknowledged: dict[str, int] = {}
    for no in range(30):
        process = world.start("-c", WRITE_AND_CHANGE, home, no)
        assert process.stdout is not None
        for _ in range(chance.randrange(0, 40) if no % 5 else 0):  # each fifth dies while it opens the store
            memory_id, version = process.stdout.readline().split()
            acknowledged[memory_id] = int(version)
        for line in killed(process, chance, 0.02 if no % 5 else 0.5):
            memory_id, version = line.split()
            acknowledged[memory_id] = int(version)
        with open_memory(home, **{"embedder.provider": "none"}) as app:
            kept = {memory.id: memory.version for memory in app.store.get(list(acknowledged), Filter())}
            assert kept.keys() == acknowledged.keys()
            assert not [one for one, version in acknowledged.items() if kept[one] < version]
        assert unwell(home) == []
    assert len(acknowledged) > 300


@pytest.mark.slow
@pytest.mark.promise("store.crash", "exchange.resumes")
def test_imports_and_rebuilds_killed_at_moments_of_chance_are_finished_by_the_next_run(world: drive.World) -> None:
    chance, home, count = random.Random(6), world.store.parent, 4_000
    own = world.zap("store", "My own note")["id"]
    path = world.lines("many.jsonl", *({"content": f"import line {no}", "tags": ["imp"]} for no in range(count)))
    before = 1
    for _ in range(5):
        killed(world.start("import", path), chance, 1.5)
        assert unwell(home) == []
        with open_memory(home, **{"embedder.provider": "none"}) as app:
            now = app.stats().memories
        assert now >= before
        before = now
    world.zap("import", str(path))
    assert sorted(world.contents()) == sorted(["My own note", *(f"import line {no}" for no in range(count))])

    world.env["ZAPOMNI_EMBEDDER_PROVIDER"] = "scripted"
    left = count + 1
    for no in range(5):
        killed(world.start("reembed"), chance, 0.8)
        assert unwell(home) == []
        with open_memory(home, **{"embedder.provider": "scripted"}) as app:
            now = app.embedding.backlog().waiting
            assert now <= left, no
            left = now
            assert app.show(own)[0].content == "My own note"
    came = world.zap("reembed")
    assert (came["done"], came["left"]) == (left, 0)
    found = world.zap("recall", "import line 3999", "--mode", "semantic", "--limit", "1")
    assert drive.texts(found) == ["import line 3999"]
    assert unwell(home) == []


@pytest.mark.slow
@pytest.mark.promise("backup.whole", "store.crash")
def test_a_backup_killed_at_a_moment_of_chance_is_whole_or_not_there(world: drive.World) -> None:
    chance = random.Random(19)
    world.zap("import", str(world.lines("many.jsonl", *({"content": f"ledger item {no}"} for no in range(2_000)))))
    target = world.home / "copy.db"
    for no in range(6):
        if no == 3:
            world.zap("backup", "copy.db", "--force")
        killed(world.start("backup", "copy.db", "--force"), chance, 0.6)
        assert no < 3 or target.exists()
        if target.exists():
            assert world.zap("restore", "--verify", str(target))["memories"] == 2_000
            if no < 3:
                target.unlink()
    assert unwell(world.store.parent) == []


def on_small_disk(command: list[str], folder: Path) -> list[str]:
    """Run a command where a folder is a disk of three megabytes, which goes with the command."""
    mount = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", mount, str(folder), *command]


@pytest.mark.promise("store.full")
@pytest.mark.parametrize("how", ["disk", "limit"])
def test_a_full_disk_gives_a_clear_error_loses_nothing_and_room_mends_it(world: drive.World, how: str) -> None:
    disk = world.home / "disk"
    disk.mkdir()
    command = [sys.executable, "-c", FILL, str(disk / "data"), how]
    if how == "disk":
        probe = on_small_disk(["true"], disk)
        if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True, check=False).returncode:
            pytest.skip("no disk can be mounted here")
        command = on_small_disk(command, disk)
    done = subprocess.run(command, env=environment(world.home), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    acknowledged, found, there, finally_there, errors, wrong = json.loads(done.stdout)
    assert acknowledged == found == finally_there
    assert there == acknowledged - 1
    assert 2 < acknowledged < 1000
    assert errors
    for code, message, remedy in errors:
        assert code == "unavailable"
        assert remedy
        assert ("no room left" if how == "disk" else "the disk failed") in message
    assert wrong == []


def bound_by_permissions(world: drive.World) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Commands for which read-only files are read-only, as they are not for root."""
    cap_drop, dac_override = 24, 1

    def give_up() -> None:
        if os.getuid() == 0:
            ctypes.CDLL(None).prctl(cap_drop, dac_override, 0, 0, 0)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*drive.CLI, *words],
            env=environment(world.home),
            cwd="/",
            preexec_fn=give_up,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.promise("store.full")
@pytest.mark.parametrize("folder", [0o555, 0o777])
def test_a_read_only_store_answers_readings_and_refuses_writings_clearly(world: drive.World, folder: int) -> None:
    made = world.zap("store", "The kiln fires at 1040")
    home = world.store.parent
    before = world.store.read_bytes()
    for file in home.iterdir():
        file.chmod(0o444)
    home.chmod(folder)
    run = bound_by_permissions(world)
    try:
        for words in (["recall", "kiln"], ["list"], ["show", made["id"]]):
            done = run(*words)
            assert done.returncode == 0, (words, done)
            assert "The kiln fires at 1040" in done.stdout
        assert run("stats", "--json").returncode == 0
        assert run("doctor", "--json").returncode in {0, 8}  # others may read it, which is told
        for words in (["store", "Another"], ["update", made["id"], "Other"], ["delete", "--yes", made["id"]]):
            done = run(*words, "--json")
            assert done.returncode == 7, (words, done)
            assert "unavailable" in done.stdout
            assert "cannot be written" in done.stdout
            assert "Traceback" not in done.stderr
    finally:
        home.chmod(0o700)
    assert world.store.read_bytes() == before


@pytest.mark.promise("store.full")
@pytest.mark.parametrize("folder", [0o555, 0o777])
def test_a_read_only_store_can_be_exported_and_backed_up(world: drive.World, folder: int) -> None:
    world.zap("store", "The kiln fires at 1040")
    home = world.store.parent
    for file in home.iterdir():
        file.chmod(0o444)
    home.chmod(folder)
    run = bound_by_permissions(world)
    try:
        saved = run("backup", str(world.home / "copy.db"))
        assert saved.returncode == 0, saved.stderr
        done = run("export", "-")
    finally:
        home.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert "The kiln fires at 1040" in done.stdout
    other = world.elsewhere("other machine")
    assert other.zap("restore", str(world.home / "copy.db"))["memories"] == 1


def test_a_library_that_python_has_loaded_before_the_command_is_not_loaded_twice() -> None:
    program = (
        "import sys, typing_extensions as first\n"
        "from zapomni.surfaces.start import main\n"
        "sys.argv = ['zapomni', '--version']\n"
        "try: main()\n"
        "finally: print(sys.modules['typing_extensions'] is first)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "True", done.stderr
