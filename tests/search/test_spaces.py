"""Vectors of two models: never compared, and a new model is built beside the old one, which serves meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from zapomni.embed.scripted import ScriptedEmbedder
from zapomni.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Callable

    from zapomni.app import Zapomni

    Open = Callable[..., Zapomni]

TEXTS = (
    "Маяк на северном мысу гаснет в полночь.",
    "The northern lighthouse goes dark at midnight.",
    "Лодки красят весной, до первой большой воды.",
    "Nets are mended on the first day of each month.",
    "Карта глубин лежит в рубке под стеклом.",
)
QUESTION = "когда гаснет маяк на мысу"


def by_meaning(app: Zapomni, question: str = QUESTION) -> list[tuple[str, float]]:
    hits = app.recall(question, mode="semantic").hits
    return [(hit.memory.content, round(hit.score, 6)) for hit in hits]


def filled(open_with: Open, embedder: ScriptedEmbedder, home: str = "store", texts: tuple[str, ...] = TEXTS) -> Zapomni:
    app = open_with(embedder, home)
    for text in texts:
        app.remember(text)
    drained = app.embedding.drain()
    assert (drained.left, drained.failures) == (0, ())
    return app


@pytest.mark.promise("space.change")
def test_a_model_given_up_before_it_was_whole_is_forgotten_once_another_is(opened: Open) -> None:
    filled(opened, ScriptedEmbedder("one")).close()
    app = opened(ScriptedEmbedder("two"))
    app.embedding.drain(limit=2)
    app.close()
    app = opened(ScriptedEmbedder("three"))
    assert app.embedding.drain().left == 0
    assert [space.model for space in app.store.spaces()] == ["three"]


@pytest.mark.promise("space.never-mixed")
@pytest.mark.promise("space.change")
@pytest.mark.parametrize("width", [64, 96], ids=["of the same width", "of another width"])
def test_a_new_model_is_built_beside_the_old_one_which_answers_as_before(opened: Open, width: int) -> None:
    old = filled(opened, ScriptedEmbedder("one"))
    before = by_meaning(old)
    assert before[0][0] == TEXTS[0]
    old.close()

    app = opened(ScriptedEmbedder("two", width))
    for done in range(len(TEXTS)):
        found = app.recall(QUESTION)
        assert found.waiting == len(TEXTS) - done
        assert "scripted:one (64d)" in str(found.reason)
        assert by_meaning(app) == before
        assert app.embedding.drain(limit=1).done == 1
    found = app.recall(QUESTION)
    assert (found.mode.value, found.reason, found.waiting) == ("hybrid", None, 0)
    active = app.embedding.active()
    assert active is not None
    assert active.label == f"scripted:two ({width}d)"

    alone = filled(opened, ScriptedEmbedder("two", width), "alone")
    assert by_meaning(app) == by_meaning(alone)


@pytest.mark.promise("space.change")
def test_what_is_written_while_a_new_model_is_built_is_found_by_words_and_then_by_meaning(opened: Open) -> None:
    filled(opened, ScriptedEmbedder("one")).close()
    app = opened(ScriptedEmbedder("two"))
    app.embedding.drain(limit=2)
    new = app.remember("Буй у третьего пирса сорвало штормом.")
    assert new.waiting
    assert app.recall("что с буем у пирса").hits[0].memory.id == new.id
    assert app.embedding.drain().left == 0
    assert by_meaning(app, "буй у третьего пирса")[0][0] == "Буй у третьего пирса сорвало штормом."


@pytest.mark.promise("space.change")
def test_a_new_model_that_fails_leaves_the_old_one_in_use(opened: Open) -> None:
    old = filled(opened, ScriptedEmbedder("one"))
    before = by_meaning(old)
    old.close()
    app = opened(ScriptedEmbedder("two", failures=[EmbedderError("the new provider is down")] * 2))
    for _ in range(2):
        assert app.embedding.drain().reason == "the new provider is down"
        assert by_meaning(app) == before
    assert app.embedding.drain().left == 0
    assert app.recall(QUESTION).reason is None


@pytest.mark.promise("space.change")
def test_going_back_to_the_old_model_before_the_new_one_is_whole_costs_nothing(opened: Open) -> None:
    old = filled(opened, ScriptedEmbedder("one"))
    before = by_meaning(old)
    old.close()
    app = opened(ScriptedEmbedder("two"))
    app.embedding.drain(limit=3)
    app.close()
    again = ScriptedEmbedder("one")
    app = opened(again)
    assert (app.embedding.backlog().waiting, app.recall(QUESTION).reason) == (0, None)
    assert app.embedding.drain().done == 0
    assert by_meaning(app) == before
    assert {task for task, _ in again.calls} == {"query"}


@pytest.mark.promise("space.never-mixed")
def test_vectors_whose_model_cannot_be_had_are_not_compared(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(opened, ScriptedEmbedder("one")).close()

    class Other(ScriptedEmbedder):
        provider = "other"

    app = opened(Other("two"))
    nowhere: Callable[..., Any] = lambda *_: None  # noqa: E731
    monkeypatch.setattr(app.embedding, "_embedder_for", nowhere)
    found = app.recall(QUESTION)
    assert found.mode.value == "lexical"
    assert "scripted:one (64d), which is not available; run `zapomni reembed`" in str(found.reason)
    assert found.hits[0].memory.content == TEXTS[0]
