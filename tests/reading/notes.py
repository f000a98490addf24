"""A desk for ingesting: a memory with a scripted model that makes a fact of every line, and a folder of notes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.llm.base import Image, Text
from zapomni.llm.scripted import ScriptedLlm
from zapomni.model import Filter, Trust

if TYPE_CHECKING:
    from pathlib import Path

    from zapomni.llm.base import Task
    from zapomni.model import Memory
    from zapomni.model.document import Scanned

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
EVERYTHING = Filter(expired=True, deleted=True, trusts=tuple(Trust))


def facts_of(task: Task) -> dict[str, Any]:
    """Answer as a model would that takes every line for a fact."""
    if any(isinstance(part, Image) for part in task.parts):
        return {"facts": [{"content": "The diagram shows a pump.", "quote": None}]}
    fenced = task.parts[-1]
    assert isinstance(fenced, Text)
    lines = [line for line in fenced.text.split("\n")[1:-1] if line.strip()]
    return {"facts": [{"content": line, "quote": line} for line in lines]}


class Desk:
    """What a test of ingesting works with; `replies` may be changed while it goes on, and time is passed in."""

    def __init__(self, home: Path, root: Path, *, model: bool = True, **settings: Any) -> None:
        self.root = root
        self.now = NOW
        self.replies: Any = facts_of
        self.model = ScriptedLlm(lambda task: self.replies(task) if callable(self.replies) else self.replies)
        values = {"home": home, "embedder.provider": "none", **settings}
        llm = self.model if model else None
        self.app = Zapomni(load(values, environ={}), llm=llm, clock=lambda: self.now)

    @property
    def calls(self) -> int:
        return len(self.model.calls)

    def later(self, **delta: float) -> None:
        self.now += timedelta(**delta)

    def memories(self) -> list[Memory]:
        """Return what is remembered, oldest first."""
        return list(reversed(self.app.store.page(Filter(), 100_000).memories))

    def texts(self) -> set[str]:
        return {memory.content for memory in self.memories()}

    def one(self, content: str) -> Memory:
        return next(memory for memory in self.memories() if memory.content == content)

    def said(self, memory: Memory) -> list[str]:
        """Return the words that a memory stands on, in each text that it was read from."""
        readings = self.app.store.readings
        spans = [(readings.reading(span.reading_id), span) for span in readings.spans(memory.id)]
        return [reading.text[span.start : span.end] for reading, span in spans if reading is not None]

    def write(self, name: str, text: str | bytes) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def scan(self, **options: Any) -> Scanned:
        if not self.app.documents.sources():
            self.app.documents.add(self.root, mode="ingest")
        (came,) = self.app.reading.scan(**options)
        return came
