"""What the threads beside a server's answers have in common: started once, stopped before the store is closed."""

from __future__ import annotations

from threading import Event, Thread
from typing import Final

STOP_S: Final = 2.0
"""Most seconds that the end of a server waits for one of its threads; what that does is safe to be cut off."""


class Background:
    """One thread of background work; a subclass does it in `run` until `stopping` is set."""

    name = "zapomni"
    """What the thread is called."""

    def __init__(self) -> None:
        self.stopping = Event()
        self._thread = Thread(target=self.run, name=self.name, daemon=True)

    def start(self) -> None:
        """Begin; the first look comes at once."""
        self._thread.start()

    def stop(self) -> None:
        """End as soon as what is being done allows; waits at most `STOP_S` for it."""
        self.stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=STOP_S)

    def run(self) -> None:
        """Work until `stopping` is set."""
        raise NotImplementedError
