from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from zapomni.errors import Refused

if TYPE_CHECKING:
    from zapomni.app import Zapomni

EXPORT = """
import sys
from zapomni.opening import open_memory
with open_memory(sys.argv[1], **{"embedder.provider": "none"}) as app:
    app.export("/dev/stdout")
"""

SLOW = """
import sys
from zapomni.exchange import jsonl
from zapomni.opening import open_memory
real = jsonl.write
def slow(snapshot, write, **options):
    print("begun", flush=True)
    sys.stdin.readline()
    return real(snapshot, write, **options)
jsonl.write = slow
with open_memory(sys.argv[1], **{"embedder.provider": "none"}) as app:
    app.export(sys.argv[2])
"""


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal", ".lock"])
def test_the_files_beside_the_store_are_no_target(app: Zapomni, end: str) -> None:
    app.remember("kept")
    target = app.config.store_path.with_name(app.config.store_path.name + end)
    with pytest.raises(Refused):
        app.export(target)
    hidden = target.with_name(".anything.lock")
    hidden.touch()
    with pytest.raises(Refused):
        app.export(hidden)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no such device here")
def test_an_export_to_the_name_of_standard_output_goes_into_the_pipe(app: Zapomni, tmp_path: Path) -> None:
    app.remember("through the pipe")
    environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.defpath, "HOME": str(tmp_path)}
    came = subprocess.run(
        [sys.executable, "-c", EXPORT, str(app.config.home)], capture_output=True, text=True, env=environ, check=False
    )
    assert came.stderr == ""
    assert "through the pipe" in came.stdout


@pytest.mark.promise("exchange.whole")
def test_what_a_killed_export_left_goes_with_the_next_one_and_what_another_writes_stays(
    app: Zapomni, tmp_path: Path
) -> None:
    app.remember("Буй у третьего пирса")
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "память.jsonl"
    mine = target.with_name(f".{target.name}.2026-notes.part")  # looks like ours, and is a person's
    mine.touch()

    def begun() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SLOW, str(app.config.home), str(target)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        return process

    with begun() as killed, begun() as running:
        killed.kill()
        killed.wait()
        assert len([*target.parent.iterdir()]) == 3
        app.export(target)
        (left,) = {*target.parent.iterdir()} - {target, mine}
        assert f".{running.pid}-" in left.name
        target.unlink()
        running.communicate("\n")
    assert {*target.parent.iterdir()} == {target, mine}
    assert "третьего пирса" in target.read_text(encoding="utf-8")
