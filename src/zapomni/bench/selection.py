"""How well a memory is chosen by its description alone, beside full text and hybrid, over the same records.

Records and questions come from a retrieval set, and a rule describes each record: by its first sentence, which is what
a title says; by one of the questions about it, which is what article B wants of a description; or by the first
sentence with every question about it that is not asked, which is what reported misses make of it in the end. A hash of
its id chooses which questions are asked, and which half of those is held back.
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zapomni.bench.retrieval import DEPTH, scope_of
from zapomni.bench.score import mean, score
from zapomni.errors import InvalidInput
from zapomni.model import Actor, By, Draft, Mode, Origin, Status
from zapomni.services.remember import remember_many
from zapomni.services.review.misses import joined
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from zapomni.app import Zapomni
    from zapomni.bench.score import Scores
    from zapomni.bench.sets import Passage, Question, RetrievalSet

ASKED: Final = 100
"""Questions of one run, half of them held back."""
LONGEST: Final = 150
"""Characters of a line of an index (article B's owner)."""
_ACTOR: Final = Actor(name="bench", origin=Origin.IMPORT)


class Describe(StrEnum):
    """Where a record's description comes from."""

    SENTENCE = "sentence"
    QUESTION = "question"
    MISSES = "misses"


WAYS: Final[Mapping[str, dict[str, Any]]] = {
    "by description": {"by": By.DESCRIPTION, "mode": Mode.HYBRID},
    "by description, words": {"by": By.DESCRIPTION, "mode": Mode.LEXICAL},
    "by description, meaning": {"by": By.DESCRIPTION, "mode": Mode.SEMANTIC},
    "by full text": {"mode": Mode.LEXICAL},
    "hybrid": {"mode": Mode.HYBRID},
}
"""What is compared: descriptions, the words of everything, words and meaning of everything."""


class Row(Struct, frozen=True, kw_only=True):
    """The scores of one way on one half of the questions."""

    way: str
    half: str
    questions: int
    scores: Scores


class Selection(Struct, frozen=True, kw_only=True):
    """The figures of one run."""

    name: str
    records: int
    described_by: str
    rows: tuple[Row, ...]


def run(app: Zapomni, data: RetrievalSet, rule: Describe, progress: Callable[[str, int, int], None]) -> Selection:
    """Store the records with their descriptions, ask every chosen question in every way, score.

    Raises `InvalidInput` for a set of several groups: a reader of descriptions sees one list.
    """
    if len({passage.group for passage in data.passages}) != 1:
        raise InvalidInput("set", "its passages are of several groups", remedy="Name one of them by --groups")
    described, questions = descriptions(data, rule)
    held = _store(app, data.passages, described)
    app.embedding.drain(progress=lambda done, total: progress("embedding", done, total))
    rows = []
    for number, (way, options) in enumerate(WAYS.items()):
        if options["mode"] is Mode.SEMANTIC and app.embedding.wanted is None:
            continue
        progress("asking", number, len(WAYS))
        scored = {one.id: score(_ask(app, one, held, options), one.answers) for one in questions}
        for half in ("seen", "held back"):
            chosen = [scored[one.id] for one in questions if half_of(one) == half]
            rows.append(Row(way=way, half=half, questions=len(chosen), scores=mean(chosen)))
    return Selection(name=data.name, records=len(data.passages), described_by=rule.value, rows=tuple(rows))


def descriptions(data: RetrievalSet, rule: Describe) -> tuple[dict[str, str], list[Question]]:
    """Return the description of each record by its id, and the questions that are asked, in the order of hashes."""
    by_hash = sorted(data.questions, key=lambda one: _hash(one.id))
    described: dict[str, str] = {}
    if rule is not Describe.QUESTION:
        described = {one.id: first_sentence(one.text) for one in data.passages}
        for one in by_hash[ASKED:] if rule is Describe.MISSES else ():
            for answer in one.answers:
                described[answer] = joined(described[answer], one.text) or described[answer]
        return described, by_hash[:ASKED]
    rest: list[Question] = []
    for one in by_hash:
        (answer, *_) = sorted(one.answers)
        if described.setdefault(answer, one.text) is not one.text:
            rest.append(one)
    return described, rest[:ASKED]


def half_of(question: Question) -> str:
    """Return the half that a question belongs to: the last bit of its hash says it."""
    return "held back" if _hash(question.id)[-1] & 1 else "seen"


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, at most `LONGEST` characters of it."""
    flat = " ".join(text.split())
    ends = [at for mark in (". ", "! ", "? ") if (at := flat.find(mark)) > 0]
    return cut(flat[: min(ends) + 1] if ends else flat, LONGEST)


def _store(app: Zapomni, passages: Iterable[Passage], described: Mapping[str, str]) -> dict[str, list[str]]:
    rows = list(passages)
    drafts = [Draft(content=row.text, scope=scope_of(row.group), description=described.get(row.id, "")) for row in rows]
    held: dict[str, list[str]] = {}
    for row, outcome in zip(rows, remember_many(app.context, drafts, actor=_ACTOR), strict=True):
        assert outcome.status is not Status.REFUSED, outcome
        held.setdefault(outcome.id, []).append(row.id)
    return held


def _ask(app: Zapomni, question: Question, held: Mapping[str, list[str]], options: Mapping[str, Any]) -> list[str]:
    found = app.recall(question.text, scopes=[str(scope_of(question.group))], limit=DEPTH, **options)
    return list(dict.fromkeys(name for hit in found.hits for name in held.get(hit.memory.id, ())))


def _hash(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=8).digest()
