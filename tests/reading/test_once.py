"""Three real servers over one store: each trigger makes one of them consolidate, once; calls are counted at the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.provider import Provider, provider
from tests.trials import drivers_b

from zapomni.opening import open_memory

if TYPE_CHECKING:
    from tests.provider import Request
    from tests.trials.drivers_b import World

    from zapomni.app import Zapomni

world = drivers_b.world
NEVER = {
    "ZAPOMNI_CONSOLIDATE_ON_START": "false",
    "ZAPOMNI_CONSOLIDATE_AT_LEAST": "0",
    "ZAPOMNI_CONSOLIDATE_EVERY_S": "0",
    "ZAPOMNI_CONSOLIDATE_CHECK_S": "1",
}


def nothing_follows(_: Request) -> Any:
    return {"insights": []}


def opened(world: World) -> Zapomni:
    return open_memory(world.home / "data", **{"embedder.provider": "none"})


def store(world: World, *texts: str) -> None:
    with opened(world) as app:
        for text in texts:
            app.remember(text)


def serve(world: World, model: Provider, **settings: str) -> None:
    """Start three servers, two over pipes and one over HTTP."""
    world.env |= {
        **NEVER,
        **model.settings(),
        **{f"ZAPOMNI_CONSOLIDATE_{name}": text for name, text in settings.items()},
    }
    for begin in (world.server, world.http, world.server):
        begin()


def settled(world: World, model: Provider, calls: int) -> None:
    """Wait until nothing waits any more, and see that so many calls, one a run, brought that about."""
    with opened(world) as app:
        model.until(lambda: not app.store.readings.unconsolidated_counts())
        model.until(lambda: app.reading.ledger.costs(2).total.calls == calls)
        runs = [run for run in app.store.runs() if run.verb == "consolidate"]
        assert (model.asked_for("consolidate"), len(runs)) == (calls, calls)
        assert all(run.detail["done"] for run in runs)
        assert app.reading.ledger.costs(2).total.failed == 0


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.promise("consolidate.once", "model.ledger")
def test_three_servers_consolidate_once_at_their_start_and_once_when_five_wait(world: World) -> None:
    with provider(nothing_follows) as model:
        store(world, "The gate is green.", "Ворота зелёные.")
        serve(world, model, ON_START="true", AT_LEAST="5")
        settled(world, model, 1)
        store(world, "fact 1", "fact 2", "fact 3", "fact 4")
        assert model.asked_for("consolidate") == 1
        store(world, "факт 5")
        settled(world, model, 2)


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.promise("consolidate.once", "model.ledger")
def test_three_servers_consolidate_once_when_something_waited_for_its_day(world: World) -> None:
    """The day is three seconds long here: each of the servers looks every second."""
    with provider(nothing_follows) as model:
        store(world, "fact 1", "fact 2")
        serve(world, model, EVERY_S="3")
        settled(world, model, 1)
        store(world, "fact 3", "факт 4")
        settled(world, model, 2)
