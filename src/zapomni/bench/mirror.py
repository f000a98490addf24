"""How long it takes to attach a mirrored folder, beside reading and hashing its files."""

from __future__ import annotations

import random
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from zapomni.app import Zapomni

    Progress = Callable[[str, int, int], None]

T = TypeVar("T")
SCOPE: Final = "agent:bench"
BODY: Final = 3_900
"""Bytes of a note: eight agents' 360 notes had 1.4 MB (article B)."""
_WORDS: Final = (
    *("release", "deploy", "indent", "branch", "review", "owner", "budget", "ledger", "queue", "index"),
    *("выпуск", "ветка", "отступ", "владелец", "бюджет", "очередь", "указатель", "память", "заметка", "правило"),
)
_TYPES: Final = ("user", "feedback", "project", "reference")


class Report(Struct, frozen=True, kw_only=True):
    """Seconds for a folder: reading and hashing it, attaching it, storing its texts alone, scanning it again.

    `ratio` is that of attaching to hashing.
    """

    files: int
    megabytes: float
    hashing: float
    attaching: float
    ratio: float
    storing: float
    idle: float


def run(folder: Path | None, files: int, progress: Progress) -> Report:
    """Attach a copy of a folder, or one of so many notes that is made for it, to a memory that is gone afterwards."""
    from zapomni.app import Zapomni
    from zapomni.config import load

    with tempfile.TemporaryDirectory(prefix="zapomni-bench-") as place:
        root = Path(place) / "notes"
        if folder is not None:
            shutil.copytree(folder, root)
        else:
            make_notes(root, files)
        size = sum(path.stat().st_size for path in root.rglob("*.md"))
        hashing = min(_hashed(root) for _ in range(3))
        with Zapomni(load({"home": f"{place}/home", "embedder.provider": "none"})) as app:
            app.documents.add(root, mode="mirror", scope=SCOPE)
            attaching, came = _timed(lambda: app.vaults.scan(scopes=[SCOPE]))
            progress("attached", came[0].added, files)
            storing = _stored(app, root)
            idle = min(_timed(lambda: app.vaults.scan(scopes=[SCOPE]))[0] for _ in range(3))
        return Report(
            files=came[0].added,
            megabytes=size / 1e6,
            hashing=hashing,
            attaching=attaching,
            ratio=attaching / hashing,
            storing=storing,
            idle=idle,
        )


def make_notes(root: Path, files: int, seed: int = 1) -> None:
    """Write notes as a harness does, in Russian and English, the same ones for the same seed."""
    source = random.Random(seed)  # noqa: S311 - notes, not keys
    root.mkdir(parents=True)
    for no in range(files):
        words = [source.choice(_WORDS) for _ in range(BODY // 10)]
        lines = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]
        header = f"name: note-{no}\ndescription: {' '.join(words[:8])}\nmetadata:\n  type: {source.choice(_TYPES)}"
        body = "\n".join([f"Number {no}.", *lines, "", f"See [[note-{source.randrange(files)}]]."])
        text = f"---\n{header}\n---\n\n{body}\n"
        (root / f"note-{no}.md").write_text(text, encoding="utf-8", newline="\n")


def _stored(app: Zapomni, root: Path) -> float:
    """Return how long the write gateway takes for the same texts: no attaching can be quicker than that."""
    from zapomni.model import Draft
    from zapomni.services.remember import remember_many

    drafts = [Draft(content=path.read_text(encoding="utf-8")) for path in root.rglob("*.md")]
    return _timed(lambda: list(remember_many(app.context, drafts, actor=app.actor)))[0]


def _hashed(root: Path) -> float:
    def read_all() -> None:
        for path in root.rglob("*.md"):
            sha256(path.read_bytes()).hexdigest()

    return _timed(read_all)[0]


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    start = perf_counter()
    came = work()
    return perf_counter() - start, came
