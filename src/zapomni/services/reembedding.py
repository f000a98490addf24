"""Having the embed queue worked off by a process of its own, for a server that must stay small and up."""

from __future__ import annotations

import json
import subprocess
import sys
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_SILENT: Final = "the background work was ended"


class Reembedding:
    """One `zapomni reembed` at a time, which ends with the process that started it: its standard input ends then.

    The bulk engine needs memory that a server promises not to take, and nothing that a model does can take
    the server down.
    """

    def __init__(self, home: Path) -> None:
        reembed = ("reembed", "--for-parent", "--json")
        self._command = [sys.executable, "-m", "zapomni", "--home", str(home), *reembed]
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> str | None:
        """Work off what waits; None when that got anywhere, else why not. Does nothing after `stop`."""
        with self._lock:
            if self._stopped:
                return _SILENT
            pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
            process = self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=quiet)
        with process:  # its standard input is closed in the end
            assert process.stdout is not None
            answer = process.stdout.read()
            return None if process.wait() == 0 else _reason(answer)

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
