"""What was used, by whom and when, and the caps of a day under a clock of the test's own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from tests.llm.samples import settings

from zapomni.clock import LocalZone
from zapomni.errors import BudgetSpent, ConfigError, ModelError, Unavailable
from zapomni.llm.base import Usage
from zapomni.llm.checked import Raw
from zapomni.llm.scripted import ScriptedLlm
from zapomni.services.reading.ledger import Ledger, Metered
from zapomni.store.calls import Call, Sum
from zapomni.store.sqlite import open_sqlite

MOSCOW = timezone(timedelta(hours=3))
USED = Usage(tokens_in=70, tokens_out=30)


class Clock:
    def __init__(self):
        self.now = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    store = open_sqlite(tmp_path / "memories.db", clock=clock)
    yield store
    store.close()


@pytest.fixture
def metered(store, clock):
    def make(reply=None, zone=MOSCOW, run=None, **values):
        llm = ScriptedLlm(lambda _: reply or Raw(text='{"summary": "a"}', usage=USED))
        return Metered(llm, Ledger(store.calls, settings("scripted", **values), clock, zone), run=run)

    return make


@pytest.mark.promise("model.ledger")
def test_a_call_is_kept_with_what_it_used(metered, store, task, clock):
    reply = metered(price_in=1.0, price_out=10.0, run="r1").ask(task())
    assert reply.value == {"summary": "a"}
    (total,) = store.calls.totals(clock.now)
    assert (total.purpose, total.model) == ("ingest", "scripted:scripted")
    assert total.sum == Sum(calls=1, tokens_in=70, tokens_out=30, usd=0.00037)


@pytest.mark.promise("model.ledger")
def test_a_failed_call_is_kept_with_what_it_used(metered, store, task, clock):
    with pytest.raises(ModelError):
        metered(Raw(text="nonsense", usage=USED)).ask(task())
    with pytest.raises(ModelError):
        metered(ModelError("away")).ask(task())
    spent = store.calls.spent(clock.now)
    assert spent == Sum(calls=2, failed=2, tokens_in=140, tokens_out=60, unpriced=2)


@pytest.mark.promise("model.ledger")
def test_what_another_process_wrote_is_counted(metered, task, tmp_path, clock):
    metered().ask(task())
    other = open_sqlite(tmp_path / "memories.db", clock=clock)
    assert other.calls.spent(clock.now).tokens == 100
    other.close()


def test_calls_change_no_memory_and_are_no_history(metered, store, task):
    before = store.generation()
    metered().ask(task())
    assert store.generation() == before
    assert [check.name for check in store.check() if not check.ok] == []


@pytest.mark.promise("model.caps")
def test_the_cap_of_tokens_stops_a_call_before_it_is_made(metered, store, task, clock):
    llm = metered(daily_tokens=200)
    for _ in range(2):
        llm.ask(task())
    with pytest.raises(BudgetSpent) as caught:
        llm.ask(task())
    error = caught.value
    assert "200 of 200 tokens of today are spent" in error.message
    assert "llm.daily_tokens" in error.remedy
    assert "2026-12-01 00:00" in error.remedy
    assert error.retry_after == 3600
    assert not error.permanent
    assert isinstance(error, Unavailable)
    assert (error.code, error.exit_status) == ("budget", 7)
    assert store.calls.spent(clock.now).calls == 2


@pytest.mark.promise("model.caps")
def test_the_cap_of_money_stops_a_call_before_it_is_made(metered, task):
    llm = metered(price_in=1_000.0, price_out=1_000.0, daily_usd=0.15)
    for _ in range(2):
        llm.ask(task())
    with pytest.raises(BudgetSpent, match=r"\$0\.20 of \$0\.15 of today") as caught:
        llm.ask(task())
    assert "llm.daily_usd" in caught.value.remedy


@pytest.mark.promise("model.caps")
def test_the_next_local_day_opens_again(metered, task, clock):
    llm = metered(daily_tokens=100)
    llm.ask(task())
    clock.now = datetime(2026, 11, 30, 20, 59, 59, tzinfo=UTC)
    with pytest.raises(BudgetSpent):
        llm.ask(task())
    clock.now += timedelta(seconds=1)
    assert llm.ask(task()).value == {"summary": "a"}
    with pytest.raises(BudgetSpent):
        llm.ask(task())


@pytest.mark.promise("model.caps")
def test_a_day_of_23_hours_is_a_day(metered, task, clock):
    clock.now = datetime(2027, 3, 28, 0, 30, tzinfo=UTC)
    llm = metered(zone=ZoneInfo("Europe/Berlin"), daily_tokens=0)
    with pytest.raises(BudgetSpent) as caught:
        llm.ask(task())
    assert caught.value.retry_after == 21.5 * 3600
    assert "2027-03-29 00:00" in caught.value.remedy


def test_the_machines_own_zone_has_days_too(metered, task):
    assert metered(zone=LocalZone()).ask(task()).value == {"summary": "a"}


def test_a_cap_of_nothing_stops_every_call(metered, task):
    with pytest.raises(BudgetSpent):
        metered(daily_tokens=0).ask(task())


@pytest.mark.parametrize("prices", [{}, {"price_in": 1.0}, {"price_out": 1.0}])
@pytest.mark.promise("model.caps")
def test_a_cap_of_money_without_prices_is_a_bad_setting_and_no_empty_promise(metered, prices):
    with pytest.raises(ConfigError, match=r"llm\.daily_usd"):
        metered(daily_usd=1.0, **prices)


def test_a_free_model_has_a_price_that_is_known(metered, task, store, clock):
    metered(price_in=0.0, price_out=0.0, daily_usd=0.5).ask(task())
    assert store.calls.spent(clock.now) == Sum(calls=1, tokens_in=70, tokens_out=30, usd=0.0)


def test_a_metered_model_is_called_as_the_model_is(metered):
    llm = metered()
    assert (llm.label, llm.local) == ("scripted:scripted", True)


def test_costs_are_added_up_by_purpose_model_and_local_day(store, clock):
    def used(hours_ago, purpose="ingest", model="openai:m", usd=0.5):
        at = clock.now - timedelta(hours=hours_ago)
        store.calls.add_call(Call(at=at, purpose=purpose, model=model, tokens_in=1, tokens_out=2, usd=usd))

    for hours in (0, 22.9, 23.1, 47.1, 71.2):  # local midnights lie 23, 47 and 71 hours back
        used(hours)
    used(1, purpose="ask", usd=None)
    costs = Ledger(store.calls, settings("openai", daily_tokens=9), clock, MOSCOW).costs(3)
    assert [(one.day.isoformat(), one.sum.calls) for one in costs.days] == [
        ("2026-11-28", 1),
        ("2026-11-29", 1),
        ("2026-11-30", 3),
    ]
    assert [(one.purpose, one.sum.calls, one.sum.unpriced) for one in costs.totals] == [("ingest", 4, 0), ("ask", 1, 1)]
    assert costs.total == Sum(calls=5, tokens_in=5, tokens_out=10, usd=2.0, unpriced=1)
    assert (costs.today.calls, costs.today.tokens, costs.daily_tokens) == (3, 9, 9)


def test_nothing_used_is_nothing(store, clock):
    costs = Ledger(store.calls, settings("openai"), clock, MOSCOW).costs(1)
    assert (costs.total, list(costs.totals), len(costs.days)) == (Sum(), [], 1)
