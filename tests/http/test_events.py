"""A question asked for its events: what will be read comes first, the checked answer last, and nothing in between."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests.http import test_reading

from zapomni.errors import ModelError
from zapomni.surfaces.http.openapi import document

if TYPE_CHECKING:
    from tests.http.test_reading import Serve
    from tests.http.web import Said

serve = test_reading.serve
WANTED = {"Accept": "text/event-stream"}


def events(said: Said) -> list[tuple[str, Any]]:
    assert (said.status, said.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    blocks = [block.split("\n") for block in said.body.decode().split("\n\n")[:-1]]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


@pytest.mark.promise("ask.told", "http.described")
@pytest.mark.parametrize(
    ("content", "question", "said"),
    [("Бюджет утверждён, 2,4 млн.", "что с бюджетом?", "Утверждён"), ("The gate is green.", "gate?", "It is\ngreen")],
)
def test_what_will_be_read_is_told_before_the_checked_answer(
    serve: Serve, content: str, question: str, said: str
) -> None:
    ids: list[str] = []
    web = serve(lambda _: {"answer": f"{said} [memory:{ids[0]}, memory:zzzz]", "found": True})
    ids.append(web.good("POST", "/memories", {"content": content})["id"])
    (first, reading), (last, answer) = events(web("GET", "/query", headers=WANTED, q=question))
    assert (first, reading["ids"], reading["count"], reading["not_read"]) == ("reading", ids, 1, 0)
    assert reading["tokens_in"] > 100
    schema = {"$ref": "#/components/schemas/Reading", "components": document()["components"]}
    jsonschema.Draft202012Validator(schema).validate(reading)
    assert (last, answer["answer"]) == ("answer", f"{said} [memory:{ids[0]}]")
    assert answer == web.good("GET", "/query", q=question) | {"memories": answer["memories"]}
    assert "text/event-stream" in document()["paths"]["/query"]["get"]["responses"]["200"]["content"]


@pytest.mark.promise("ask.told")
def test_unchecked_words_of_a_model_are_in_no_event_but_as_what_they_are(serve: Serve) -> None:
    web = serve(lambda _: {"answer": "It is yellow.", "found": True})
    web.good("POST", "/memories", {"content": "The gate is green."})
    (_, (last, answer)) = events(web("GET", "/query", headers=WANTED, q="submarine?"))
    assert (last, answer["found"], answer["unsupported"]) == ("answer", False, "It is yellow.")


@pytest.mark.promise("ask.told")
@pytest.mark.parametrize("replies", [None, test_reading.fails(ModelError("away"))], ids=["no model", "a failing one"])
def test_an_error_after_the_first_event_is_an_event_with_what_recall_finds(serve: Serve, replies: Any) -> None:
    web = serve(replies)
    web.good("POST", "/memories", {"content": "The gate is green."})
    (first, _), (last, answer) = events(web("GET", "/query", headers=WANTED, q="gate?"))
    assert (first, last) == ("reading", "error")
    assert answer["error"]["message"]
    assert [one["content"] for one in answer["memories"]] == ["The gate is green."]


def test_what_cannot_be_asked_is_refused_as_ever_and_a_rehearsal_is_plain(serve: Serve) -> None:
    web = serve(lambda _: {"answer": "x", "found": False})
    web.good("POST", "/memories", {"content": "The gate is green."})
    for query in ({}, {"q": " "}, {"q": "gate?", "budget": 1}):
        said = web("GET", "/query", headers=WANTED, **query)
        assert (said.status, said.headers["content-type"]) == (400, "application/json")
    assert web("GET", "/query", headers=WANTED, q="gate?", dry_run="true").json["dry_run"] is True
    assert web("GET", "/query", headers=WANTED | {"Authorization": None}, q="gate?").status == 401
