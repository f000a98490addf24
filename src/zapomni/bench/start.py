"""How long the command takes from cold, beside a bare interpreter, and how soon the server shakes hands."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.bench.server import served

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS: Final = 15


class Start(Struct, frozen=True, kw_only=True):
    """One command: the median milliseconds from start to end and how many bare interpreters that is."""

    name: str
    ms: float
    ratio: float


def run() -> list[Start]:
    """Measure each command in turn with the bare interpreter between, so that both see the same machine."""
    with tempfile.TemporaryDirectory(prefix="zapomni-bench-") as home:
        own = [str(Path(sys.executable).with_name("zapomni")), "--home", home]
        for text in ("We never deploy on Friday.", "Релизы по пятницам запрещены.", "The gate code is 7719."):
            subprocess.run([*own, "store", text], check=True, capture_output=True)
        commands = {
            "zapomni --version": [*own, "--version"],
            "zapomni recall (hybrid)": [*own, "recall", "Can I ship before the weekend?"],
            "zapomni recall --mode lexical": [*own, "recall", "--mode", "lexical", "deploy Friday"],
            "zapomni store": [*own, "store", "--key", "bench", "The same text each time."],
        }
        rows = [_against_bare(name, command) for name, command in commands.items()]
        rows.append(_handshake([*own, "serve"]))
        return rows


def _against_bare(name: str, command: Sequence[str]) -> Start:
    bare, own = [], []
    for _ in range(ROUNDS):
        bare.append(_wall([sys.executable, "-c", "pass"]))
        own.append(_wall(command))
    return Start(name=name, ms=median(own), ratio=median(own) / median(bare))


def _handshake(command: Sequence[str]) -> Start:
    """Time from starting the server to its answer to `initialize`."""
    bare, own = [], []
    for _ in range(5):
        bare.append(_wall([sys.executable, "-c", "pass"]))
        start = time.perf_counter()
        with served(command) as server:
            server.greet()
            own.append(1e3 * (time.perf_counter() - start))
    return Start(name="zapomni serve (to the handshake)", ms=median(own), ratio=median(own) / median(bare))


def _wall(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return 1e3 * (time.perf_counter() - start)
