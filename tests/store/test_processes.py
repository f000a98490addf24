from __future__ import annotations

import signal

import pytest

from zapomni.model import Filter
from zapomni.store.sqlite import open_sqlite

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from zapomni.model import Actor, Kind, Memory, USER_SCOPE, Verb
from zapomni.store.sqlite import open_sqlite
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
now = datetime(2026, 11, 30, tzinfo=UTC)
print("ready", flush=True)
sys.stdin.readline()
store = open_sqlite(path, busy_timeout_ms=60_000)
for at in range(count):
    memory = Memory(id=f"{name}{at}", kind=Kind.SEMANTIC, scope=USER_SCOPE, content=f"writer {name} item {at}", created_at=now, updated_at=now, tags=(name,))
    with store.write() as tx:
        tx.put(None, memory, verb=Verb.CREATE, actor=Actor(name=name), at=now)
    print(memory.id, flush=True)
store.close()
"""


@pytest.mark.slow
@pytest.mark.promise("store.shared")
def test_eight_processes_open_a_new_store_at_once_and_write_to_it(tmp_path, python):
    path = tmp_path / "new" / "memories.db"
    writers = [python(WRITER, path, f"w{at}-", 25) for at in range(8)]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    acknowledged = set()
    for writer in writers:
        out, err = writer.communicate(timeout=110)
        assert err == ""
        acknowledged |= set(out.split())
    store = open_sqlite(path)
    assert {memory.id for memory in store.page(Filter(), 1000).memories} == acknowledged
    assert len(acknowledged) == 200
    assert [check for check in store.check() if not check.ok] == []
    store.close()


@pytest.mark.slow
@pytest.mark.promise("store.crash", "write.read-back")
@pytest.mark.parametrize("after", [1, 7, 23])
def test_after_a_kill_every_acknowledged_memory_is_there_and_the_indexes_agree(bench, python, after):
    writer = python(WRITER, bench.path, "k", 1000)
    writer.stdin.write("go\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == "ready\n"
    acknowledged = [writer.stdout.readline().strip() for _ in range(after)]
    writer.send_signal(signal.SIGKILL)
    rest = writer.communicate(timeout=60)[0].split()
    acknowledged += [name for name in rest if bench.get(name)]
    written = bench.ids()
    assert set(acknowledged) <= set(written)
    assert len(written) <= len(acknowledged) + 1
    assert sorted(bench.found("writer")) == sorted(written)[:100]
    assert bench.unwell() == []
    bench.add(bench.memory("next"))


@pytest.mark.slow
@pytest.mark.promise("store.crash")
def test_a_kill_inside_a_long_transaction_leaves_nothing_of_it(bench, python):
    bench.add(bench.memory("before"))
    code = WRITER.replace("for at in", "held = store.write()\ntx = held.__enter__()\nfor at in")
    code = code.replace("    with store.write() as tx:\n    ", "")
    writer = python(code, bench.path, "k", 100_000)
    writer.stdin.write("go\n")
    writer.stdin.flush()
    for _ in range(2000):
        writer.stdout.readline()
    writer.kill()
    writer.communicate(timeout=60)
    assert bench.ids() == ["before"]
    assert bench.unwell() == []


@pytest.mark.promise("store.shared")
def test_what_another_process_writes_is_seen_at_once(bench, python):
    generation = bench.store.generation()
    writer = python(WRITER, bench.path, "w", 1)
    assert writer.communicate("go\n", timeout=60)[1] == ""
    assert bench.ids() == bench.found("writer") == ["w0"]
    assert bench.store.generation() != generation


def test_one_process_at_a_time_does_the_work_and_death_frees_it(bench, python):
    code = (
        "import sys\nfrom pathlib import Path\nfrom zapomni.store.sqlite import open_sqlite\n"
        "store = open_sqlite(Path(sys.argv[1]))\n"
        "with store.worker_lock('embed') as mine:\n    print(mine, flush=True)\n    sys.stdin.readline()"
    )
    holder = python(code, bench.path)
    assert holder.stdout.readline() == "True\n"
    with bench.store.worker_lock("embed") as mine, bench.store.worker_lock("other") as free:
        assert (mine, free) == (False, True)
    holder.kill()
    holder.communicate(timeout=60)
    with bench.store.worker_lock("embed") as mine:
        assert mine
        with bench.store.worker_lock("embed") as again:
            assert not again
