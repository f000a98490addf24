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
