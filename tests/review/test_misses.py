"""Misses: what was not found is kept, mends the description, and rings an alarm that is counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.errors import Conflict, InvalidInput, ModelError, NotFound
from zapomni.llm.scripted import ScriptedLlm
from zapomni.model import DESCRIPTION_LIMIT, Draft
from zapomni.model.proposal import ProposalKind
from zapomni.services.remember import remember_many
from zapomni.services.review.misses import chance, joined
from zapomni.text.words import similar_words

VECTOR = "Векторную базу для памяти агента не берём: до десяти тысяч документов она не окупается."
ASKED = "когда пересматривать решение про Qdrant?"
START = datetime(2026, 8, 11, 9, 0, tzinfo=UTC)


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def app(opened, clock):
    return opened(clock=clock)


def stored(app, **fields):
    return app.remember(VECTOR, description="архитектура памяти", **fields).id


@pytest.mark.promise("misses.mend")
def test_a_miss_is_kept_with_what_came_instead_and_proposes_a_better_description(app):
    wanted, other = stored(app), app.remember("Решение про Qdrant приняли в мае.").id
    missed = app.review.miss(ASKED, expected=wanted[:8])
    assert (missed.miss.expected, missed.miss.found) == (wanted, (other,))
    assert app.review.misses() == [missed.miss]
    (filed,) = app.review.proposals()
    assert (filed.kind, filed.memories) == (ProposalKind.DESCRIBE, (wanted,))
    assert app.recall(ASKED, by="description").hits == ()
    done = app.review.accept(filed.id)
    memory = app.show(wanted)[0]
    assert memory.description == "архитектура памяти; когда пересматривать решение про Qdrant"
    assert [hit.memory.id for hit in app.recall(ASKED, by="description").hits] == [wanted]
    assert [one.run for one in app.history(wanted)[1]][-1] == done.run
    app.undo_run(done.run)
    assert app.show(wanted)[0].description == "архитектура памяти"


@pytest.mark.promise("misses.mend")
def test_a_description_that_was_changed_meanwhile_is_not_overwritten(app):
    wanted = stored(app)
    filed = app.review.miss(ASKED, expected=wanted).proposal
    app.update(wanted, description="почему без векторов")
    with pytest.raises(Conflict, match="changed since"):
        app.review.accept(filed.id)
    assert app.show(wanted)[0].description == "почему без векторов"


@pytest.mark.promise("misses.mend")
def test_the_same_miss_twice_is_counted_twice_and_proposed_once(app):
    wanted = stored(app)
    assert app.review.miss(ASKED, expected=wanted).proposal is not None
    again = app.review.miss(ASKED, expected=wanted)
    assert again.proposal is None
    assert "proposed already" in again.note
    assert len(app.review.misses()) == 2
    nothing = app.review.miss("архитектура памяти", expected=wanted)
    assert nothing.proposal is None
    assert "every word" in nothing.note


@pytest.mark.promise("misses.mend")
@pytest.mark.parametrize(
    ("reply", "written", "note"),
    [
        ({"description": "Qdrant: когда пересматривать векторную базу для памяти"}, True, ""),
        ({"description": "Qdrant пересматривать в 2031 году"}, False, "2031"),
        ({"description": "архитектура памяти"}, False, "nothing new"),
        (ModelError("it is away"), False, "it is away"),
    ],
)
def test_a_model_writes_the_description_and_may_say_only_what_is_there(opened, reply, written, note):
    app = opened(llm=ScriptedLlm([reply]))
    missed = app.review.miss(ASKED, expected=stored(app))
    plain = "архитектура памяти; когда пересматривать решение про Qdrant"
    assert missed.proposal.detail["description"] == (reply["description"] if written else plain)
    assert note in missed.note
    assert app.reading.ledger.costs(1).today.calls == 1, "the ledger keeps the call"


def test_a_miss_needs_a_question_and_a_memory(app):
    wanted = stored(app)
    with pytest.raises(InvalidInput, match="query"):
        app.review.miss(" ", expected=wanted)
    with pytest.raises(NotFound):
        app.review.miss("x", expected="zzzz")
    assert app.review.misses() == []


@pytest.mark.promise("inbox.erased")
def test_erasing_a_memory_takes_its_misses_along(app):
    wanted = stored(app)
    app.review.miss("кто спит на сервере, AKIAIOSFODNN7EXAMPLE?", expected=wanted)
    assert "AKIA" not in app.review.misses()[0].query
    app.delete(wanted, erase=True)
    assert app.review.misses() == app.review.proposals() == []


# --- the alarm --------------------------------------------------------------------------------------------
def fill(app, count):
    drafts = [Draft(content=f"Правило номер {number}.") for number in range(count)]
    assert all(list(remember_many(app.context, drafts, actor=app.actor)))
    return app.list(limit=1).memories[0].id


def use(app, wanted, *, recalls, misses):
    for _ in range(recalls):
        app.recall("правило", mode="lexical")
    for number in range(misses):
        app.review.miss(f"вопрос {number}?", expected=wanted)


@pytest.mark.promise("misses.alarm")
@pytest.mark.parametrize(
    ("records", "before", "now", "rings"),
    [
        (151, (20, 0), (20, 6), True),
        (150, (20, 0), (20, 6), False),
        (151, (20, 0), (20, 4), False),
        (151, (20, 5), (20, 6), False),
        (151, (10, 3), (80, 6), False),
        (151, (0, 0), (20, 6), False),
    ],
)
def test_the_alarm_rings_when_there_are_too_many_and_misses_become_more(app, clock, records, before, now, rings):
    wanted = fill(app, records)
    use(app, wanted, recalls=before[0], misses=before[1])
    app.context.touches.flush()
    clock.now += timedelta(days=35)
    use(app, wanted, recalls=now[0], misses=now[1])
    (alarm,) = app.review.alarms()
    assert (alarm.records, alarm.recalls_before, alarm.misses_before) == (records, *before)
    assert (alarm.recalls, alarm.misses, alarm.rings) == (*now, rings)
    assert alarm.crowded == (records > 150)


@pytest.mark.promise("misses.alarm")
def test_each_scope_has_an_alarm_of_its_own(app):
    fill(app, 3)
    app.remember("x", scope="agent:ada")
    assert [(str(one.scope), one.records) for one in app.review.alarms(scopes=["all"])] == [
        ("user", 3),
        ("agent:ada", 1),
    ]


def test_the_chance_is_that_of_the_exact_test():
    assert chance(6, 0, 20, 20) == pytest.approx(0.5**6)
    assert chance(2, 1, 10, 30) == pytest.approx(3 * 0.25**2 * 0.75 + 0.25**3)
    assert chance(0, 4, 10, 10) == chance(3, 0, 10, 0) == 1


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_chance_is_a_chance_and_falls_with_more_misses(late, early, asked, before):
    value = chance(late, early, asked, before)
    assert -1e-9 <= value <= 1 + 1e-9
    assert chance(late + 1, early, asked, before) <= value + 1e-9


# --- joining ----------------------------------------------------------------------------------------------
@given(st.text(max_size=1_000), st.text(max_size=DESCRIPTION_LIMIT))
def test_a_joined_description_is_one_that_can_be_stored_and_says_what_was_asked(description, question):
    better = joined(" ".join(description.split()), " ".join(question.split()))
    assert len(better) <= DESCRIPTION_LIMIT
    if better:
        assert similar_words(" ".join(question.split()).strip(" ?.!…")) <= similar_words(better)
