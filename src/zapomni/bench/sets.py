"""Retrieval sets on disk: a folder with corpus.jsonl, queries.jsonl and qrels.jsonl.

A question is asked only within its own `group` (one conversation, one haystack; empty is one global corpus).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from zapomni.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class Passage(Struct, frozen=True, kw_only=True):
    """One text to store; `thread` names the ordered source it belongs to, `place` its position there."""

    id: str
    group: str
    text: str
    thread: str | None
    place: int | None


class Question(Struct, frozen=True, kw_only=True):
    """One question, its category, and the ids of the passages that answer it."""

    id: str
    group: str
    text: str
    category: str
    answers: frozenset[str]


class RetrievalSet(Struct, frozen=True, kw_only=True):
    """Passages and questions; questions without an answer in the corpus are left out."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...] = field(default=())

    def only(self, groups: frozenset[str]) -> RetrievalSet:
        """Return the part of the set that belongs to these groups; no groups means all."""
        if not groups:
            return self
        return RetrievalSet(
            name=self.name,
            passages=tuple(p for p in self.passages if p.group in groups),
            questions=tuple(q for q in self.questions if q.group in groups),
        )


def read_set(folder: Path) -> RetrievalSet:
    """Read a set; raises `InvalidInput` naming the file that is missing or cannot be read."""
    answers: dict[str, set[str]] = {}
    for row in _rows(folder / "qrels.jsonl"):
        if row.get("rel", 1) > 0:
            answers.setdefault(row["qid"], set()).add(row["did"])
    questions = tuple(
        Question(
            id=row["id"],
            group=row.get("group", ""),
            text=row["text"],
            category=str(row.get("cat", "")),
            answers=frozenset(answers[row["id"]]),
        )
        for row in _rows(folder / "queries.jsonl")
        if row["id"] in answers
    )
    return RetrievalSet(name=folder.resolve().name, passages=tuple(_passages(folder)), questions=questions)


def _passages(folder: Path) -> Iterator[Passage]:
    places: dict[str, int] = {}
    for row in _rows(folder / "corpus.jsonl"):
        thread = _thread(row)
        place = None
        if thread is not None:
            place = places[thread] = places.get(thread, -1) + 1
        yield Passage(id=row["id"], group=row.get("group", ""), text=row["text"], thread=thread, place=place)


def _thread(row: Mapping[str, Any]) -> str | None:
    """Turns of a session and messages with a role stand in order; everything else stands alone."""
    if "session" in row:
        return f"{row.get('group', '')}/{row['session']}"
    return str(row.get("group", "")) if "role" in row else None


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                if line.strip():
                    yield json.loads(line)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput("set", f"{path} cannot be read ({why})", remedy="See docs/benchmarks.md") from error
