"""The two ends of the pipe to a client: taken from everything else in the process, read and written by threads.

The threads are daemons that hold no lock of Python's own streams, so that a client which stops reading, or
never closes its end, cannot keep the process alive.
"""

from __future__ import annotations

import os
import sys
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Final

from zapomni.surfaces.mcp.wire import Overlong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINE_LIMIT: Final = 10_000_000
"""Most bytes of one line: a hundred times the longest memory."""
_EDGE: Final = 1_000
_CHUNK: Final = 65_536


class Pipe:
    """Standard input and output for the protocol alone.

    From `take` on, whatever else the process prints goes to standard error, and whatever else reads finds
    nothing. They are not given back: the process ends when its client has gone.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink

    @classmethod
    def take(cls) -> Pipe:
        """Take both streams of this process."""
        source, sink = _duplicate(0), _duplicate(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # started without standard error
            os.dup2(nothing, 1)
        os.close(nothing)
        sys.stdout = sys.stderr
        return cls(source, sink)

    def lines(self) -> Iterator[bytes | Overlong]:
        """Yield what the client sends, line by line, until its end; blocks the calling thread."""
        return split_lines(lambda: os.read(self._source, _CHUNK))

    def write(self, data: bytes) -> None:
        """Write all of it; blocks the calling thread. Raises `OSError` when nobody reads any more."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._sink, rest) :]


class Writer:
    """A thread that writes in the order given; once the client does not read any more, it writes nothing."""

    def __init__(self, pipe: Pipe, broken: Callable[[], None]) -> None:
        """`broken` is called once, on the thread, when the client has closed its end."""
        self._pipe = pipe
        self._broken = broken
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="mcp-writer", daemon=True)
        self._thread.start()

    def put(self, data: bytes) -> None:
        """Write this behind what waits already."""
        self._queue.put(data)

    def finish(self, timeout: float) -> None:
        """Wait until everything is written, at most `timeout` seconds."""
        self._queue.put(None)
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            for data in iter(self._queue.get, None):
                self._pipe.write(data)
        except OSError:
            self._broken()


def split_lines(read: Callable[[], bytes]) -> Iterator[bytes | Overlong]:
    """Yield lines without their ends; of one that is longer than `LINE_LIMIT` only its two ends are kept."""
    held, head = bytearray(), b""
    while chunk := _read(read):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            held += part
            yield Overlong(head, bytes(held[-_EDGE:])) if head else bytes(held)
            held, head = bytearray(), b""
        held += rest
        if len(held) > LINE_LIMIT:
            head = head or bytes(held[:_EDGE])
            del held[:-_EDGE]
    if held:
        yield Overlong(head, bytes(held[-_EDGE:])) if head else bytes(held)


def _read(read: Callable[[], bytes]) -> bytes:
    try:
        return read()
    except OSError:  # a reset of the other end is its end
        return b""


def _duplicate(stream: int) -> int:
    copy = os.dup(stream)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(copy, os.O_BINARY)
    return copy
