"""Having the embed queue worked off by a process of its own, for a server that must stay small and up."""

from __future__ import annotations

import subprocess
import sys
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Reembedding:
    """One `zapomni reembed` at a time, which ends with the process that started it.

    The bulk engine needs memory that a server promises not to take, and nothing that a model does can take
    the server down.
    """

    def __init__(self, home: Path) -> None:
        self._command = [sys.executable, "-m", "zapomni", "--home", str(home), "reembed", "--for-parent"]
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> bool:
        """Work off what waits and say whether that got anywhere; False at once after `stop`."""
        with self._lock:
            if self._stopped:
                return False
            quiet = subprocess.DEVNULL
            self._process = subprocess.Popen(self._command, stdin=quiet, stdout=quiet, stderr=quiet)
        return self._process.wait() == 0

    def stop(self) -> None:
        """End the process that runs, and start no other."""
        with self._lock:
            self._stopped = True
            if self._process is not None and self._process.poll() is None:
                self._process.terminate()
