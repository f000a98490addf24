"""What a model reads for a question: everything that fits, else the relevant, the important, some of the recent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zapomni.model import Actor, Draft, Filter, Origin, Query
from zapomni.search.selection import Selection, known_names, moment, select
from zapomni.services.remember import remember_many
from zapomni.text.asked import Asked, read_asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from zapomni.app import Zapomni
    from zapomni.model import Memory

NOW = datetime(2026, 3, 30, 10, tzinfo=UTC)
USER = Actor(name="test", origin=Origin.USER)


def fill(app: Zapomni, *drafts: Draft) -> list[str]:
    return [outcome.id for outcome in remember_many(app.context, drafts, actor=USER)]


def noise(app: Zapomni, count: int, **fields: Any) -> list[str]:
    """Store notes of the last days, newest last."""
    return fill(app, *(
        Draft(content=f"Note {no} on ferries and weather.", observed_at=NOW - timedelta(hours=count - no), **fields)
        for no in range(count)
    ))  # fmt: skip


def by_length(memory: Memory) -> int:
    return len(memory.content)


def pick(
    app: Zapomni, question: str, budget: int, asked: Asked | None = None, where: Filter | None = None
) -> Selection:
    return select(
        app.store,
        Query(text=question, where=where or Filter()),
        asked or Asked(),
        space=None,
        vector=None,
        budget=budget,
        cost=by_length,
    )


def texts(selection: Selection) -> list[str]:
    return [memory.content for memory in selection.memories]


@pytest.mark.promise("ask.supplied")
def test_everything_is_read_where_it_fits_oldest_first(words: Zapomni) -> None:
    noise(words, 30)
    found = pick(words, "nothing of the kind", 10_000)
    assert (len(found.memories), found.total) == (30, 30)
    assert [moment(one) for one in found.memories] == sorted(moment(one) for one in found.memories)
    assert found.tokens == sum(map(by_length, found.memories))


@pytest.mark.promise("ask.supplied")
@pytest.mark.parametrize(
    ("fact", "question"),
    [
        ("The budget of the third quarter is approved.", "what about the quarter's budget?"),
        ("Бюджет третьего квартала утверждён.", "что с бюджетом на третий квартал?"),
    ],
)
def test_an_old_relevant_fact_is_read_however_much_is_newer(words: Zapomni, fact: str, question: str) -> None:
    fill(words, Draft(content=fact, importance=0.9, observed_at=NOW - timedelta(days=3_000)))
    noise(words, 400)
    assert fact in texts(pick(words, question, 1_000))


def test_an_important_fact_is_read_though_no_word_leads_to_it(words: Zapomni) -> None:
    fill(words, Draft(content="Аллергия на арахис.", importance=1.0, observed_at=NOW - timedelta(days=3_000)))
    noise(words, 400, importance=0.5)
    assert "Аллергия на арахис." in texts(pick(words, "what may be cooked?", 1_000))


def test_the_recent_have_a_share_and_no_more(words: Zapomni) -> None:
    old = fill(
        words,
        *(
            Draft(
                content=f"Rule {no} of the harbour: moor at pier {no}.",
                importance=0.8,
                observed_at=NOW - timedelta(days=900),
            )
            for no in range(60)
        ),
    )
    new = noise(words, 200)
    read = {memory.id for memory in pick(words, "rules of the harbour and its piers", 2_000).memories}
    recent = [one in read for one in reversed(new)]
    assert 0 < sum(recent) < len(read) / 4
    assert all(recent[: sum(recent)]), "the newest of them"
    assert len(read & set(old)) > len(read) / 2


@pytest.mark.promise("ask.narrowed")
def test_the_days_and_names_of_the_question_come_first(words: Zapomni) -> None:
    day = datetime(2026, 2, 1, 12, tzinfo=UTC)
    wanted = fill(
        words,
        Draft(content="Встреча с подрядчиком.", observed_at=day, entities=("Алиса",), importance=0.1),
        Draft(content="The crane was repaired.", observed_at=day, importance=0.1),
    )
    noise(words, 300, importance=0.9)
    names = known_names(words.store, "что было первого февраля с Алисой", Filter())
    assert names == ["Алиса"]
    for question in ("что было первого февраля?", "What happened on 1 February?"):
        found = pick(words, question, 600, read_asked(question, (), NOW, UTC))
        assert {*wanted} <= {one.id for one in found.memories}
        assert found.narrowed is not None
        assert found.narrowed.since == datetime(2026, 2, 1, tzinfo=UTC)


def test_the_latest_with_somebody_is_read_among_many(words: Zapomni) -> None:
    meetings = fill(
        words,
        *(
            Draft(content=f"Meeting {no} with Alice.", entities=("Alice",), observed_at=NOW - timedelta(days=300 - no))
            for no in range(250)
        ),
    )
    noise(words, 50)
    question = "What was the last meeting with Alice about?"
    asked = read_asked(question, known_names(words.store, question, Filter()), NOW, UTC)
    assert (asked.entities, asked.newest) == (("Alice",), True)
    read = {one.id for one in pick(words, question, 500, asked).memories}
    assert {*meetings[-5:]} <= read


def test_a_day_on_which_nothing_happened_shuts_nothing_out(words: Zapomni) -> None:
    fill(words, Draft(content="The report is due on 1 March.", observed_at=NOW - timedelta(days=60)))
    noise(words, 300)
    question = "What is due on 1 March?"
    found = pick(words, question, 600, read_asked(question, (), NOW, UTC))
    assert "The report is due on 1 March." in texts(found)


def test_where_day_and_name_do_not_meet_the_day_counts(words: Zapomni) -> None:
    fill(words, Draft(content="Unnamed.", observed_at=datetime(2026, 2, 1, 12, tzinfo=UTC)))
    fill(words, Draft(content="Alice came.", observed_at=NOW, entities=("Alice",)))
    noise(words, 100)
    asked = Asked(since=datetime(2026, 2, 1, tzinfo=UTC), until=datetime(2026, 2, 2, tzinfo=UTC), entities=("Alice",))
    found = pick(words, "Alice", 300, asked)
    assert found.narrowed is not None
    assert found.narrowed.entities == ()
    assert {"Unnamed.", "Alice came."} <= set(texts(found))


def test_a_filter_that_was_given_is_kept_and_not_replaced(words: Zapomni) -> None:
    noise(words, 100, entities=("Bob",))
    fill(words, Draft(content="Alice came.", observed_at=NOW, entities=("Alice",)))
    asked = Asked(since=NOW - timedelta(days=900), entities=("Alice",))
    where = Filter(entities=("Bob",), since=NOW - timedelta(hours=10))
    found = pick(words, "Alice", 100, asked, where)
    assert found.narrowed is None
    assert found.total == 10
    assert all(memory.entities == ("Bob",) for memory in found.memories)


def test_insights_are_read_beside_memories(words: Zapomni) -> None:
    actor = Actor(name="consolidation", origin=Origin.CONSOLIDATION)
    (outcome,) = remember_many(words.context, [Draft(content="Ferries are late on Mondays.")], actor=actor)
    noise(words, 200)
    assert outcome.id in {one.id for one in pick(words, "are ferries late on Mondays", 600).memories}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=st.integers(1, 4_000), newest=st.booleans())
def test_the_budget_is_kept_and_the_same_question_gets_the_same(words: Zapomni, *, budget: int, newest: bool) -> None:
    if not words.store.page(Filter(), 1).total:
        noise(words, 120)
    asked = Asked(newest=newest)
    found = pick(words, "ferries and weather", budget, asked)
    assert found.tokens == sum(map(by_length, found.memories)) <= budget
    assert found == pick(words, "ferries and weather", budget, asked)


def test_vectors_lead_to_what_shares_no_word(opened: Callable[..., Zapomni]) -> None:
    from zapomni.embed.scripted import ScriptedEmbedder

    app = opened(ScriptedEmbedder())
    noise(app, 50)
    app.embedding.drain()
    asked = app.embedding.ask("ferries")
    found = select(
        app.store, Query(text="ferries"), Asked(), space=asked.space, vector=asked.vector, budget=300, cost=by_length
    )
    assert found.memories
