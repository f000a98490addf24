"""What a prompt brings to mind: how often the right passage, how often anything for a question of other things."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from zapomni.bench.retrieval import scope_of, store
from zapomni.model import Filter
from zapomni.services.sessions.prompted import relevant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zapomni.app import Zapomni
    from zapomni.bench.sets import Question, RetrievalSet
    from zapomni.model import Memory

HALVES = ("even", "odd")


class Rate(Struct, frozen=True, kw_only=True):
    """One half of the questions of a set: how many there are, and what share of them brought what is named."""

    name: str
    brought: str
    half: str
    questions: int
    share: float


def run(
    app: Zapomni, data: RetrievalSet, unrelated: RetrievalSet | None, progress: Callable[[str, int, int], None]
) -> list[Rate]:
    """Store the passages and bring each different question as a prompt; halves are questions of even and odd number.

    Questions of the set see their own group, unrelated ones everything that was stored.
    """
    held = store(app, data.passages, progress)

    def told(question: Question, where: Filter) -> list[Memory]:
        return relevant(app.context, question.text, where, ())

    def right(question: Question) -> bool:
        found = told(question, Filter(scopes=(scope_of(question.group),)))
        return any(not question.answers.isdisjoint(held[memory.id]) for memory in found)

    rates = _rates(data.name, "an answer", data.questions, right)
    if unrelated is not None:
        rates += _rates(unrelated.name, "anything", unrelated.questions, lambda one: bool(told(one, Filter())))
    return rates


def _rates(name: str, brought: str, questions: Iterable[Question], ask: Callable[[Question], bool]) -> list[Rate]:
    different: dict[str, Question] = {}
    for question in questions:
        different.setdefault(question.text, question)
    halves = [[ask(question) for question in list(different.values())[start::2]] for start in range(2)]
    return [
        Rate(name=name, brought=brought, half=half, questions=len(said), share=sum(said) / max(len(said), 1))
        for half, said in zip(HALVES, halves, strict=True)
    ]
