"""How well a question finds its answer: a set is stored through the gateway and asked through `recall`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.bench.plain import PlainWords
from zapomni.bench.score import Scores, mean, paired, score
from zapomni.model import CONTENT_LIMIT, Actor, Draft, Mode, Origin, Scope, ScopeKind, Status
from zapomni.services.remember import remember_many
from zapomni.text.pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zapomni.app import Zapomni
    from zapomni.bench.sets import Passage, Question, RetrievalSet

DEPTH: Final = 10
_ACTOR: Final = Actor(name="bench", origin=Origin.IMPORT)


class Report(Struct, frozen=True, kw_only=True):
    """The figures of one run: over all questions, by category, and against plain FTS5 on the same data.

    `guaranteed` counts questions whose group is so small that hit@10 is 1 by construction. `silent` is the share of
    questions that nothing was returned for, `loud` that of unrelated ones for which anything was.
    """

    name: str
    mode: str
    questions: int
    passages: int
    guaranteed: int
    silent: float
    loud: float | None
    overall: Scores
    plain: Scores
    by_category: dict[str, Scores]
    gain: dict[str, tuple[float, float]]


def run(
    app: Zapomni,
    data: RetrievalSet,
    mode: Mode,
    progress: Callable[[str, int, int], None],
    unrelated: RetrievalSet | None = None,
) -> Report:
    """Store the passages, make their vectors when the mode wants them, ask every question, score.

    Unrelated questions see all that was stored.
    """
    held = store(app, data.passages, progress)
    if mode is not Mode.LEXICAL:
        app.embedding.drain(progress=lambda done, total: progress("embedding", done, total))
    ranked = {q.id: found for q, found in _ask(app, data.questions, held, mode, progress)}
    ours = {q.id: score(ranked[q.id], q.answers) for q in data.questions}
    plain = PlainWords(data.passages)
    theirs = {q.id: score(plain.ask(q.group, q.text, DEPTH), q.answers) for q in data.questions}
    sizes: dict[str, int] = {}
    for passage in data.passages:
        sizes[passage.group] = sizes.get(passage.group, 0) + 1
    categories = sorted({q.category for q in data.questions})
    return Report(
        name=data.name,
        mode=mode.value,
        questions=len(data.questions),
        passages=len(data.passages),
        guaranteed=sum(sizes[q.group] <= DEPTH for q in data.questions),
        silent=sum(not found for found in ranked.values()) / max(len(ranked), 1),
        loud=None if unrelated is None else _loud(app, unrelated, list(sizes), mode),
        overall=mean(list(ours.values())),
        plain=mean(list(theirs.values())),
        by_category={c: mean([ours[q.id] for q in data.questions if q.category == c]) for c in categories},
        gain={metric: paired(ours, theirs, metric) for metric in ("hit@1", "rec@10", "ndcg@10")},
    )


def scope_of(group: str) -> Scope:
    """Return the scope that a group is stored in."""
    return Scope(kind=ScopeKind.PROJECT, name=group or "everything")


def store(app: Zapomni, passages: Iterable[Passage], progress: Callable[[str, int, int], None]) -> dict[str, list[str]]:
    """Store the passages and return, for each memory id, the passages that it stands for.

    Equal texts of one group are one memory, as they are for every user; a passage over the limit of one memory
    is split, as the error that it would meet advises.
    """
    rows = [(row, part) for row in passages for part in pieces(row.text, CONTENT_LIMIT)]
    drafts = [
        Draft(content=part, scope=scope_of(row.group), source=row.thread, position=row.place) for row, part in rows
    ]
    held: dict[str, list[str]] = {}
    outcomes = remember_many(app.context, drafts, actor=_ACTOR)
    for done, ((row, _), outcome) in enumerate(zip(rows, outcomes, strict=True), 1):
        assert outcome.status is not Status.REFUSED, outcome
        held.setdefault(outcome.id, []).append(row.id)
        if done % 500 == 0:
            progress("storing", done, len(rows))
    return held


def _loud(app: Zapomni, unrelated: RetrievalSet, groups: Iterable[str], mode: Mode) -> float:
    scopes = [str(scope_of(group)) for group in groups]
    texts = {question.text for question in unrelated.questions}
    answered = sum(bool(app.recall(text, scopes=scopes, limit=DEPTH, mode=mode).hits) for text in texts)
    return answered / max(len(texts), 1)


def _ask(
    app: Zapomni,
    questions: Iterable[Question],
    held: dict[str, list[str]],
    mode: Mode,
    progress: Callable[[str, int, int], None],
) -> Iterable[tuple[Question, list[str]]]:
    rows = list(questions)
    for place, question in enumerate(rows):
        answer = app.recall(question.text, scopes=[str(scope_of(question.group))], limit=DEPTH, mode=mode)
        found = (name for hit in answer.hits for name in held.get(hit.memory.id, ()))
        yield question, list(dict.fromkeys(found))
        if place % 100 == 0:
            progress("asking", place, len(rows))
