"""A failing provider rests, says until when, and comes back by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from zapomni.embed.breaker import FAILURES, REST, Breaker
from zapomni.embed.scripted import ScriptedEmbedder
from zapomni.errors import EmbedderError


class Hands:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Hands()


def failing(clock, count, **how):
    inner = ScriptedEmbedder(failures=[EmbedderError("the provider is down", **how)] * count)
    return inner, Breaker(inner, clock)


def fail(breaker):
    with pytest.raises(EmbedderError) as caught:
        breaker.embed(["a"], "query")
    return caught.value


def test_three_failures_in_a_row_switch_it_off_until_a_named_time(clock):
    inner, breaker = failing(clock, FAILURES)
    for _ in range(FAILURES):
        assert fail(breaker).message == "the provider is down"
    error = fail(breaker)
    assert error.message == "scripted is switched off until 2026-11-30 13:00 UTC: the provider is down"
    assert (error.retry_after, error.permanent) == (REST.total_seconds(), False)
    assert len(inner.calls) == FAILURES


def test_a_success_between_failures_starts_the_count_again(clock):
    inner, breaker = failing(clock, FAILURES - 1)
    for _ in range(FAILURES - 1):
        fail(breaker)
    breaker.embed(["a"], "query")
    inner.failures.extend([EmbedderError("again")] * (FAILURES - 1))
    for _ in range(FAILURES - 1):
        fail(breaker)
    assert len(breaker.embed(["a"], "query")) == 1


def test_a_permanent_error_switches_it_off_at_once(clock):
    inner, breaker = failing(clock, 1, permanent=True)
    fail(breaker)
    assert "switched off" in fail(breaker).message
    assert len(inner.calls) == 1


def test_it_heals_by_itself_after_the_rest(clock):
    _, breaker = failing(clock, FAILURES)
    for _ in range(FAILURES):
        fail(breaker)
    clock.now += REST - timedelta(seconds=1)
    fail(breaker)
    clock.now += timedelta(seconds=1)
    assert len(breaker.embed(["a"], "query")) == 1
    assert len(breaker.embed(["a"], "query")) == 1


def test_one_failure_after_the_rest_makes_it_rest_again(clock):
    inner, breaker = failing(clock, FAILURES + 1)
    for _ in range(FAILURES):
        fail(breaker)
    clock.now += REST
    assert fail(breaker).message == "the provider is down"
    assert "until 2026-11-30 14:00 UTC" in fail(breaker).message
    assert len(inner.calls) == FAILURES + 1


def test_only_one_call_tries_after_the_rest(clock):
    inner, breaker = failing(clock, FAILURES)
    for _ in range(FAILURES):
        fail(breaker)
    clock.now += REST
    others = []
    answer = inner.embed
    inner.embed = lambda texts, task: others.append(fail(breaker)) or answer(texts, task)
    assert len(breaker.embed(["a"], "query")) == 1
    assert ["switched off" in error.message for error in others] == [True]


def test_errors_of_single_texts_are_no_failure_of_the_provider(clock):
    inner, breaker = failing(clock, 0)
    inner.embed = lambda texts, _: [EmbedderError("this text", permanent=True) for _ in texts]
    for _ in range(FAILURES + 1):
        assert len(breaker.embed(["a"], "passage")) == 1


def test_it_shows_what_is_behind_it(clock):
    inner, breaker = failing(clock, 0)
    for name in ("provider", "model", "preparation", "local", "piece"):
        assert getattr(breaker, name) == getattr(inner, name)
    assert breaker.prior_mean() is None
    breaker.close()
