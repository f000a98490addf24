"""A desk for documents: a folder of files, a memory that it is attached to, and an embedder that counts."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.trials.drivers_b import until

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.embed.scripted import ScriptedEmbedder
from zapomni.errors import ZapomniError
from zapomni.services.documents import watch
from zapomni.services.documents.watch import Watcher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.model.document import Scanned

REST = 0.1
"""Seconds that files must rest before a watcher of the tests has them read."""
needs_proc = pytest.mark.skipif(not Path("/proc/self/fdinfo").exists(), reason="watches are seen on Linux only")
COUNTS = {
    "chunks": "SELECT count(*) FROM chunks",
    "words": "SELECT count(*) FROM chunk_words",
    "pieces": "SELECT count(*) FROM chunk_pieces",
    "vectors": "SELECT count(*) FROM chunk_vectors",
    "jobs": "SELECT count(*) FROM chunk_jobs",
    "strays": """SELECT (SELECT count(*) FROM chunks WHERE document_no NOT IN (SELECT no FROM documents))
        + (SELECT count(*) FROM chunk_words WHERE rowid NOT IN (SELECT no FROM chunks))
        + (SELECT count(*) FROM chunk_pieces WHERE chunk_no NOT IN (SELECT no FROM chunks))
        + (SELECT count(*) FROM chunk_jobs WHERE chunk_no NOT IN (SELECT no FROM chunks))
        + (SELECT count(*) FROM (SELECT document_no, ordinal FROM chunks GROUP BY 1, 2 HAVING count(*) > 1))""",
}


class Desk:
    """What a test of documents works with; its clock runs ahead of the files, so that none looks just written."""

    def __init__(self, home: Path, root: Path) -> None:
        self.root = root
        self.embedder = ScriptedEmbedder()
        self.app = Zapomni(load({"home": home}), embedder=self.embedder, clock=self.clock)

    @staticmethod
    def clock() -> datetime:
        return datetime.now(UTC) + timedelta(days=1)  # noqa: TID251 - files have the system's time

    def write(self, name: str, text: str | bytes) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def later(self, name: str) -> None:
        """Give a file a time of its own, as any later writing would."""
        info = (self.root / name).stat()
        os.utime(self.root / name, ns=(info.st_atime_ns, info.st_mtime_ns + 1_000_000_000))

    def scan(self, **options: Any) -> Scanned:
        if not self.app.documents.sources():
            self.app.documents.add(self.root)
        (came,) = self.app.documents.scan(**options)
        return came

    def embed(self) -> int:
        """Work the queue off and return how many texts the embedder was asked for."""
        before = sum(len(texts) for task, texts in self.embedder.calls if task == "passage")
        self.app.documents.embedding.drain()
        self.app.store.documents.sweep()
        return sum(len(texts) for task, texts in self.embedder.calls if task == "passage") - before

    def found(self, question: str, **options: Any) -> list[str]:
        """Return the paths that the words of a question find; the scripted vectors know no meaning."""
        hits = self.app.documents.search(question, **{"mode": "lexical", **options}).hits
        return [hit.document.path for hit in hits]

    def count(self, what: str) -> int:
        db = apsw.Connection(str(self.app.config.store_path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return int(db.execute(COUNTS[what]).get)
        finally:
            db.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    root = tmp_path / "papers"
    root.mkdir()
    desk = Desk(tmp_path / "data", root)
    with desk.app:
        yield desk


class Watched:
    """A watcher in this process, and every scan that it asked for."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.scans: list[tuple[str, ...]] = []
        self.watcher = Watcher(desk.app.store.documents, self.scan, REST)

    def scan(self, *names: str) -> str | None:
        try:
            came = self.desk.app.documents.scan(*names, scopes=["all"])
        except ZapomniError as error:
            return error.message
        finally:
            self.scans.append(names)
        return next((one.problem for one in came if one.problem), None)

    def start(self) -> None:
        self.watcher.start()
        until(lambda: self.scans)

    def settle(self, rounds: int = 5) -> int:
        """Return the number of scans once so many rounds went by without one."""
        documents = self.desk.app.store.documents
        sources, quiet, last = documents.sources, 0, len(self.scans)

        def counted() -> Any:
            nonlocal quiet, last
            quiet, last = (quiet + 1 if len(self.scans) == last else 0), len(self.scans)
            return sources()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(documents, "sources", counted)
            until(lambda: quiet > rounds)
        assert self.watcher._thread.is_alive()
        return last


@pytest.fixture
def watched(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(watch, "PATIENCE_S", 0.1)
    monkeypatch.setattr(watch, "POLL_S", 0.1)
    desk.write("first.md", "# First\n\npebble\n")
    desk.app.documents.add(desk.root)
    made = Watched(desk)
    yield made
    made.watcher.stop()


def watches(pid: int) -> int:
    """The number of inotify watches of a process."""
    count = 0
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            count += sum(line.startswith("inotify") for line in info.read_text().splitlines())
        except OSError:
            continue
    return count
