"""Work that a server has done by a process of its own, so that it stays small, quick and up."""

from __future__ import annotations

import json
import subprocess
import sys
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_SILENT: Final = "the background work was ended"


class Child:
    """One `zapomni` command at a time, which ends with the process that started it: its standard input ends then.

    Bulk work needs memory that a server promises not to take, and time that it owes to those who ask; and nothing
    that a model or a file does can take the server down.
    """

    def __init__(self, home: Path, *command: str) -> None:
        """`command` takes `--for-parent` and `--json`."""
        self._command = [sys.executable, "-m", "zapomni", "--home", str(home), *command, "--for-parent", "--json"]
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self, *more: str) -> str | None:
        """Do the work, with more arguments; None when that got anywhere or was stopped, else why not."""
        with self._lock:
            if self._stopped:
                return None
            pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
            process = self._process = subprocess.Popen([*self._command, *more], stdin=pipe, stdout=pipe, stderr=quiet)
        with process:  # its standard input is closed in the end
            assert process.stdout is not None
            answer = process.stdout.read()
            return None if process.wait() == 0 or self._stopped else _reason(answer)

    def stop(self) -> None:
        """End the process that runs, and start no other."""
        with self._lock:
            self._stopped = True
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()


def _reason(answer: bytes) -> str:
    """Read from the command's answer why it got nowhere; one that was killed gave none."""
    try:
        document = json.loads(answer)
    except ValueError:
        return _SILENT
    error, failures = document.get("error", {}), document.get("failures", [])
    return str(error.get("message") or document.get("reason") or (failures[0]["reason"] if failures else _SILENT))
