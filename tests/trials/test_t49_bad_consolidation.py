"""Trial T49: a bad consolidation reply, or a kill with a good one in hand, must not cost the sources."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.provider import Request, provider
from tests.trials import drivers_b
from tests.trials.drivers_b import kill

from zapomni.model import Origin
from zapomni.opening import open_memory
from zapomni.record import to_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from subprocess import Popen

    from tests.provider import Provider
    from tests.trials.drivers_b import World

    from zapomni.app import Zapomni

world = drivers_b.world
FACTS = [f"fact {no}" for no in range(1, 13)]


def good(*members: str, first: int = 1, second: int = 2) -> dict[str, Any]:
    return {"statement": f"fact {first} and fact {second} go together", "members": list(members)}


def reply(*insights: Any) -> dict[str, Any]:
    return {"insights": list(insights)}


# What is replied to the ids; insights that come of it, memories that are done with, and the exit status.
REPLIES: dict[str, tuple[Callable[[list[str]], Any], int, int, int]] = {
    "invalid object": (lambda _: {"insights": "all"}, 0, 0, 7),
    "merge and an order to delete all": (lambda ids: {**reply(good(*ids[:3])), "delete": ids}, 0, 0, 7),
    "ids twice and an unknown one": (lambda ids: reply(good(*ids[:2], *ids[:2], "0000dead0000beef")), 0, 0, 0),
    "one bad of four": (
        lambda ids: reply(
            good(*ids[:2]),
            good(*ids[2:4], first=3, second=4),
            {"statement": "fact 99 is new", "members": ids[4:6]},
            good(*ids[6:8], first=7, second=8),
        ),
        3,
        6,
        0,
    ),
    "empty list": (lambda _: reply(), 0, 12, 0),
}


@contextmanager
def looking(world: World) -> Iterator[Zapomni]:
    with open_memory(world.home / "data", **{"embedder.provider": "none"}) as app:
        yield app


def filled(world: World, model: Provider) -> dict[str, dict[str, Any]]:
    world.env |= model.settings()
    with looking(world) as app:
        for fact in FACTS:
            app.remember(fact)
    return sources(world)


def sources(world: World) -> dict[str, dict[str, Any]]:
    """Every memory that was stored, whole."""
    with looking(world) as app:
        memories = app.list(scopes=["all"], limit=100).memories
        return {one.id: to_record(one) for one in memories if one.origin is not Origin.CONSOLIDATION}


def state(world: World) -> tuple[int, list[list[str]]]:
    """How many memories wait, and the members of each insight."""
    with looking(world) as app:
        waits = sum(app.store.readings.unconsolidated_counts().values())
        return waits, [[member.content for member in held.members] for held in app.reading.insights()]


@pytest.mark.promise("consolidate.safe", "consolidate.undo")
@pytest.mark.parametrize(("answer", "insights", "done", "status"), REPLIES.values(), ids=REPLIES)
def test_whatever_is_replied_the_sources_stay_and_what_was_merged_can_be_undone(
    world: World, answer: Callable[[list[str]], Any], insights: int, done: int, status: int
) -> None:
    with provider(lambda request: answer(request.ids)) as model:
        before = filled(world, model)
        came = world.zap("consolidate", status=status)
        (batch,) = came["batches"]
        assert (len(batch["insights"]), batch["done"]) == (insights, done)
        assert ("reason" in came) == (status == 7)
        assert sources(world) == before
        assert [len(members) for members in state(world)[1]] == [2] * insights
        assert state(world)[0] == 12 - done
        assert world.zap("recall", "fact 7")["memories"][0]["content"] == "fact 7"
        if insights:
            world.zap("undo", "--run", batch["run"])
        assert state(world) == (12 if insights else 12 - done, [])


@pytest.mark.promise("consolidate.safe")
def test_five_invalid_replies_in_a_row_are_five_failures_and_all_sources_stay_queued(world: World) -> None:
    with provider(lambda _: {"insights": "all"}) as model:
        before = filled(world, model)
        for _ in range(5):
            world.zap("consolidate", status=7)
        assert model.asked_for("consolidate") == 10  # each reply is sent back once
    assert (sources(world), state(world)) == (before, (12, []))
    with looking(world) as app:
        assert ["failed" in run.detail for run in app.store.runs() if run.verb == "consolidate"] == [True] * 5


@pytest.mark.slow
@pytest.mark.promise("consolidate.safe", "store.crash")
@pytest.mark.parametrize("moment", ["at once", "held from writing", "when the call is counted"])
def test_after_a_kill_with_a_good_reply_in_hand_there_is_no_half_of_it(world: World, moment: str) -> None:
    killed: list[int] = []
    holders: list[Popen[str]] = []

    def answer(request: Request) -> Any:
        if moment == "held from writing" and not holders:
            holders.append(world.hold())
        return reply(good(*request.ids[:2]), good(*request.ids[2:4], first=3, second=4))

    def after(_: Request) -> None:
        if moment == "when the call is counted":
            with looking(world) as app:
                model.until(lambda: app.reading.ledger.costs(1).total.calls)
        if not killed:
            kill(process)
            killed.append(process.returncode)

    with provider(answer) as model:
        before = filled(world, model)
        process = world.start("consolidate")
        model.after = after
        model.until(lambda: killed)
        for holder in holders:
            drivers_b.finish(holder)
        assert sources(world) == before
        waits, merged = state(world)
        whole = (0, [["fact 1", "fact 2"], ["fact 3", "fact 4"]])
        assert (waits, sorted(map(sorted, merged))) in [(12, []), whole]
        if holders:
            assert (killed, waits) == ([-9], 12)
        later = world.zap("consolidate")["batches"]
        assert [one["done"] for one in later] == ([12] if waits else [])
        assert (state(world)[0], sources(world)) == (0, before)
    world.healthy()
