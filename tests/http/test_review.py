"""The review desk over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.http.web import Web

LESSON = "Цены каталога сверяем с прайсом поставщика."


@pytest.mark.promise("http.verbs")
def test_a_lesson_is_raised_decided_handed_over_and_acknowledged(web: Web) -> None:
    made = web.good("POST", "/memories", {"content": LESSON, "scope": "agent:ada"})["id"]
    filed = web.good("POST", f"/memories/{made}/promote", {"to": "user", "why": "дважды"}, scope=["agent:ada"])
    assert web.good("GET", "/proposals")["proposals"] == [filed]
    assert web.good("GET", f"/proposals/{filed['id'][:8]}") == filed
    done = web.good("POST", f"/proposals/{filed['id']}/accept", {})
    assert (done["state"], done["decided_by"]) == ("accepted", "http")
    assert web.good("GET", "/proposals", state=["accepted"], kind=["promote"])["count"] == 1
    (lesson,) = web.good("GET", "/lessons", agent="bob")["lessons"]
    assert (lesson["memory"]["content"], lesson["rejected"]) == (LESSON, None)
    assert web.good("POST", "/lessons/acknowledge", {"ids": [lesson["id"]], "agent": "bob"})["count"] == 1
    assert web.good("GET", "/lessons", agent="bob")["count"] == 0
    again = web("POST", f"/proposals/{filed['id']}/accept", {})
    assert (again.status, again.json["error"]["code"]) == (409, "conflict")


@pytest.mark.promise("http.verbs")
def test_a_miss_is_reported_and_its_description_accepted_or_rejected(web: Web) -> None:
    made = web.good("POST", "/memories", {"content": LESSON, "description": "цены"})["id"]
    missed = web.good("POST", "/misses", {"query": "откуда брать стоимость?", "expected": made})
    assert missed["proposal"]["detail"]["description"] == "цены; откуда брать стоимость"
    listed = web.good("GET", "/misses")
    assert (listed["misses"][0]["expected"], listed["alarms"][0]["rings"]) == (made, False)
    refused = web.good("POST", f"/proposals/{missed['proposal']['id']}/reject", {"why": "слишком общо"})
    assert refused["answer"] == "слишком общо"
    found = web.good("GET", "/memories/search", q="цена", by="description")
    assert [one["id"] for one in found["memories"]] == [made]
