"""The walk of article C over real processes with replies that are written beforehand: what each surface says exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.provider import provider
from tests.reading.walk import QUIET, Agent, Command, Web
from tests.trials import drivers_b

if TYPE_CHECKING:
    from tests.provider import Request

world = drivers_b.world


class Tale(NamedTuple):
    told: str
    question: str
    facts: tuple[str, str]
    insight: str


TALES = [
    Tale(
        "Met with Alice today. Q3 budget is approved, $2.4M.",
        "What did Alice say about the budget",
        ("Alice said that the Q3 budget is approved: $2.4M.", "Alice leads the Q3 budget."),
        "Alice leads the approved Q3 budget of $2.4M.",
    ),
    Tale(
        "Встретился с Алисой. Бюджет третьего квартала утверждён, 2,4 млн.",
        "Что Алиса сказала о бюджете",
        ("Алиса сказала, что бюджет третьего квартала утверждён: 2,4 млн.", "Алиса ведёт бюджет третьего квартала."),
        "Алиса ведёт утверждённый бюджет третьего квартала: 2,4 млн.",
    ),
]


def replies(tale: Tale) -> Any:
    """A model that reads the tale rightly, and cites one memory too many."""

    def answer(request: Request) -> Any:
        if request.purpose == "ingest":
            assert tale.told in request.text
            return {"facts": [{"content": tale.facts[0], "quote": tale.told}, {"content": tale.facts[1]}]}
        if request.purpose == "consolidate":
            return {"insights": [{"statement": tale.insight, "members": request.ids}]}
        first = next(one for one in request.ids if tale.facts[0] in request.text.split(one)[1].split(">>>")[0])
        return {"answer": f"{tale.facts[0]} [memory:{first}, memory:{'z' * 16}]", "found": True}

    return answer


@pytest.mark.slow
@pytest.mark.promise("ingest.facts", "ask.cited", "http.verbs")
@pytest.mark.parametrize("tale", TALES, ids=["English", "Russian"])
def test_what_was_told_is_ingested_asked_consolidated_and_listed_alike_by_every_surface(
    world: drivers_b.World, tale: Tale
) -> None:
    with provider(replies(tale)) as model:
        world.env |= {**QUIET, **model.settings(), "ZAPOMNI_LLM_PRICE_IN": "1", "ZAPOMNI_LLM_PRICE_OUT": "2"}
        surfaces = Command(world), Web(world), Agent(world)
        for surface in surfaces:
            if isinstance(surface, Agent):
                ids = [surface.store(fact) for fact in tale.facts]
            else:
                came = surface.ingest(tale.told)
                assert (came["ok"], came["waiting"], came["source"]) == (True, 0, "notes")
                assert [one["content"] for one in came["memories"]] == list(tale.facts)
                assert (came["memories"][0]["start"], came["memories"][0]["end"]) == (0, len(tale.told))
                ids = [one["id"] for one in came["memories"]]
            answer = surface.ask(tale.question)
            assert (answer["ok"], answer["found"]) == (True, True)
            assert answer["answer"] == f"{tale.facts[0]} [memory:{ids[0]}]"
            assert [one["id"] for one in answer["memories"]] == ids[:1]
            assert answer["unknown"] == ["z" * 16]
            _conclude(surface, ids, tale.insight)
            assert surface.status()["memories"] == 3
            listed = surface.list()
            assert [one["content"] for one in listed["memories"]] == [tale.insight, tale.facts[1], tale.facts[0]]
            assert {one.get("source") for one in listed["memories"]} == {"notes", None}
        spent = world.zap("cost")
        assert {one["purpose"]: one["calls"] for one in spent["totals"]} == {"ingest": 2, "ask": 3, "consolidate": 2}
        assert (spent["total"]["tokens_in"], spent["total"]["tokens_out"]) == (700, 70)
        assert round(spent["total"]["usd"], 6) == round(840 / 1e6, 6)


def _conclude(surface: Command | Web | Agent, ids: list[str], insight: str) -> None:
    if isinstance(surface, Agent):
        batch = surface.call("next_batch")
        assert [one["id"] for one in batch["memories"]] == ids
        saved = surface.call("save_insight", batch=batch["batch"], statement=insight, members=ids)
        assert (saved["status"], saved["done"]) == ("created", 2)
        return
    (done,) = surface.consolidate()["batches"]
    assert ([one["content"] for one in done["insights"]], done["done"]) == ([insight], 2)
