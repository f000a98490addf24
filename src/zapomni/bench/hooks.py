"""What a hook costs: its wall time beside a bare interpreter, and many of them at once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zapomni.ids import random_id
from zapomni.model import About, Draft, Kind

if TYPE_CHECKING:
    from zapomni.app import Zapomni

ROUNDS: Final = 15
HORDE: Final = 200
"""Hooks that are fired together."""
_WORDS: Final = 40
_PROMPT: Final = "what about bar 77, den and ропак?"


class HookCost(Struct, frozen=True, kw_only=True):
    """One sort of event: the median milliseconds, and how many bare interpreters that is."""

    name: str
    ms: float
    ratio: float


class Horde(Struct, frozen=True, kw_only=True):
    """Many hooks at once: how many, how many were lost, the median and the slowest in seconds."""

    hooks: int
    at_once: int
    lost: int
    median_s: float
    slowest_s: float


def fill(app: Zapomni, size: int) -> None:
    """Store made-up memories: a tenth of them pinned by hundreds, of every kind, a seventh about the project."""
    from zapomni.services.remember import remember_many

    pick = random.Random(7)  # noqa: S311 - made-up words
    words = [
        head + tail for head in ("ba", "di", "ko", "ра", "се", "ту") for tail in ("bar", "den", "hut", "пак", "рин")
    ]
    drafts = [
        Draft(
            content=f"{' '.join(pick.choices(words, k=_WORDS))} {no}",
            title=f"note {no}",
            kind=list(Kind)[no % len(Kind)] if no % 10 == 0 else Kind.SEMANTIC,
            about=About.PROJECT if no % 7 == 0 else None,
            pinned=no % 1000 == 0,
            tags=(f"topic {no % 40}",),
        )
        for no in range(size)
    ]
    for _ in remember_many(app.context, drafts, actor=app.actor):
        pass


def run(home: Path) -> list[HookCost]:
    """Measure start and prompt in turn with the bare interpreter between, so that all see the same machine."""
    times: dict[str, list[float]] = {"bare": [], "session start": [], "prompt": [], "stop": []}
    for _ in range(ROUNDS):
        times["bare"].append(_wall([sys.executable, "-c", "pass"], b""))
        times["session start"].append(_fire(home, hook_event_name="SessionStart", source="startup"))
        times["prompt"].append(_fire(home, hook_event_name="UserPromptSubmit", prompt=_PROMPT))
        said = f"We decided to give shelf {random_id()} to the second warehouse."
        times["stop"].append(_fire(home, hook_event_name="Stop", last_assistant_message=said))
    bare = median(times.pop("bare"))
    return [HookCost(name=name, ms=median(took), ratio=median(took) / bare) for name, took in times.items()]


def horde(home: Path, at_once: int) -> Horde:
    """Fire `HORDE` hooks that each have something to keep, `at_once` of them at a time, and count what is there."""
    from zapomni.opening import open_memory

    said = [f"We decided to give warehouse {random_id()} a shelf of its own." for _ in range(HORDE)]
    with ThreadPoolExecutor(at_once) as pool:
        took = sorted(pool.map(lambda one: _fire(home, hook_event_name="Stop", last_assistant_message=one), said))
    while list((home / "spool").glob("*.json")):
        _fire(home, hook_event_name="SessionEnd")
    with open_memory(home) as app:
        kept = {memory.content for memory in app.list(limit=1000, tags="decided").memories}
    lost = len(set(said) - kept)
    return Horde(hooks=HORDE, at_once=at_once, lost=lost, median_s=median(took) / 1e3, slowest_s=took[-1] / 1e3)


def _fire(home: Path, **event: Any) -> float:
    own = str(Path(sys.executable).with_name("zapomni"))
    data = json.dumps({"session_id": random_id(), "cwd": tempfile.gettempdir(), **event}).encode()
    return _wall([own, "--home", str(home), "hook", "--client", "claude-code"], data)


def _wall(command: list[str], data: bytes) -> float:
    start = time.perf_counter()
    subprocess.run(command, input=data, check=True, capture_output=True)
    return 1e3 * (time.perf_counter() - start)
