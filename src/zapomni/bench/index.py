"""What indexing a folder costs: the first scan, one with nothing to do, one after ten changes, and its vectors."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.app import Zapomni
from zapomni.config import load

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[str, int, int], None]

CHANGED: Final = 10
EMBEDDED: Final = 256
"""Chunks whose vectors are made to tell how long all of them would take."""
_MB: Final = 1024 * 1024


class Scan(Struct, frozen=True, kw_only=True):
    """One scan: seconds, files opened, files that are searchable now, chunks written, chunks that want a vector."""

    what: str
    seconds: float
    opened: int
    documents: int
    written: int
    wanting: int
    skipped: int


class Report(Struct, frozen=True, kw_only=True):
    """The folder, its scans, what store and process hold in MB, and how many chunks get a vector in a second."""

    files: int
    megabytes: float
    scans: tuple[Scan, ...]
    store_mb: float
    peak_mb: float
    vectors_per_second: float


def run(folder: Path, progress: Progress) -> Report:
    """Index a copy of the folder, once more, and after ten of its documents were changed."""
    with tempfile.TemporaryDirectory(prefix="zapomni-bench-") as work:
        tree = Path(work, folder.name)
        shutil.copytree(folder, tree)
        with Zapomni(load({"home": Path(work, "home")})) as app:
            app.documents.add(tree)
            scans = [_scan(app, "first", progress), _scan(app, "nothing changed", progress)]
            peak = _peak_mb()
            size = sum(file.stat().st_size for file in app.config.home.glob("memories.db*"))
            rate = _rate(app)
            _change(app, tree)
            scans.append(_scan(app, f"{CHANGED} files changed", progress))
    files = [file for file in folder.rglob("*") if file.is_file()]
    return Report(
        files=len(files),
        megabytes=sum(file.stat().st_size for file in files) / _MB,
        scans=tuple(scans),
        store_mb=size / _MB,
        peak_mb=peak,
        vectors_per_second=rate,
    )


def _scan(app: Zapomni, what: str, progress: Progress) -> Scan:
    before = app.documents.embedding.backlog().waiting
    start = perf_counter()
    (came,) = app.documents.scan(progress=lambda _: lambda done, total: progress(what, done, total))
    seconds = perf_counter() - start
    (status,) = app.documents.status()
    return Scan(
        what=what,
        seconds=seconds,
        opened=came.read,
        documents=status.documents,
        written=came.chunks,
        wanting=app.documents.embedding.backlog().waiting - before,
        skipped=len(came.skipped),
    )


def _rate(app: Zapomni) -> float:
    app.documents.embedding.drain(limit=1)  # the model is loaded
    start = perf_counter()
    app.documents.embedding.drain(limit=EMBEDDED)
    return EMBEDDED / (perf_counter() - start)


def _change(app: Zapomni, tree: Path) -> None:
    """Add a section to ten documents that lie evenly among all of them."""
    (source,) = app.documents.sources()
    known = app.store.documents.documents(source.id).values()
    pages = sorted(one.path for one in known if one.problem is None and one.path.endswith((".txt", ".md", ".rst")))
    for path in pages[:: max(len(pages) // CHANGED, 1)][:CHANGED]:
        with (tree / path).open("a", encoding="utf-8") as file:
            file.write(f"\n\nA remark\n========\n\nAdded to {path} by a benchmark.\n")


def _peak_mb() -> float:
    """Return the most memory that this process ever held; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
