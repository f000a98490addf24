"""`zapomni lessons`: what is acknowledged once is said to be so afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Zap = Callable[..., Any]
    Stored = Callable[..., str]


@pytest.mark.promise("lessons.handed")
def test_a_lesson_that_was_acknowledged_is_named_as_such_by_any_beginning_of_its_id(zap: Zap, stored: Stored) -> None:
    raised = stored("Корабли чинят на берегу.", "--scope", "agent:ada")
    filed = zap("promote", raised, "--to", "user", "--json").json["id"]
    zap("inbox", "accept", filed)
    rule = zap("lessons", "--agent", "bob", "--json").json["lessons"][0]["id"]
    ack = ("lessons", "--agent", "bob", "--ack")
    assert zap(*ack, rule[:8]).out == f"{rule}  acknowledged\n"
    for given in (rule, rule[:8]):
        again = zap(*ack, given)
        assert (again.status, again.out) == (0, f"{given}  acknowledged before\n")
    assert zap(*ack, rule, "--json").json == {"count": 0, "acknowledged": []}
    unknown = zap(*ack, "zzzz")
    assert (unknown.status, "no lesson 'zzzz' waits for agent:bob" in unknown.err) == (3, True)
