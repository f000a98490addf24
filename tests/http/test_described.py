"""The OpenAPI document and the page: complete, true, and hard to break the server with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.openapi import from_asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.http.web import TOKEN, Web
from tests.reading.notes import facts_of
from tests.servers import ROOT

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.errors import ZapomniError
from zapomni.llm.scripted import ScriptedLlm
from zapomni.surfaces.http.examples import ANSWERS, BODIES
from zapomni.surfaces.http.openapi import document
from zapomni.surfaces.http.page import page
from zapomni.surfaces.http.schemas import SCHEMAS
from zapomni.surfaces.http.table import CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zapomni.llm.base import Task

HEADERS = {"Host": "127.0.0.1", "Authorization": f"Bearer {TOKEN}"}
EXAMPLES = 25
"""Requests made up for each route and each mode."""
CHECKS = [content_type_conformance, response_schema_conformance, status_code_conformance]


def conforms(value: Any, shape: str) -> None:
    schema = {"$ref": f"#/components/schemas/{shape}", "components": {"schemas": SCHEMAS}}
    jsonschema.Draft202012Validator(schema).validate(value)


@pytest.mark.promise("http.described")
def test_the_document_names_every_route_once_and_refers_to_nothing_that_is_not_there(web: Web) -> None:
    told = web.good("GET", "/openapi.json")
    assert told == document()
    assert told["openapi"].startswith("3.1")
    routes = {(method.upper(), path) for path, methods in told["paths"].items() for method in methods}
    assert routes == {(call.method, call.path) for call in CALLS}
    names = [one["operationId"] for methods in told["paths"].values() for one in methods.values()]
    assert len(names) == len(set(names)) == len(CALLS)
    for name in re.findall(r"#/components/schemas/(\w+)", str(told)):
        assert name in SCHEMAS


@pytest.mark.promise("http.described")
@pytest.mark.parametrize("shape", sorted(ANSWERS))
def test_an_example_of_an_answer_has_the_shape_that_it_shows(shape: str) -> None:
    conforms(ANSWERS[shape], shape)


@pytest.mark.promise("http.described")
@pytest.mark.parametrize("name", sorted(BODIES))
def test_an_example_of_a_body_is_one_that_its_route_takes(name: str) -> None:
    (operation,) = [one for path in document()["paths"].values() for one in path.values() if one["operationId"] == name]
    jsonschema.Draft202012Validator(operation["requestBody"]["content"]["application/json"]["schema"]).validate(
        BODIES[name]
    )


@pytest.mark.promise("http.described")
def test_the_page_names_every_route_and_needs_no_other_host_and_no_script(web: Web) -> None:
    said = web("GET", "/docs")
    assert (said.status, said.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in said.headers["content-security-policy"]
    text = said.body.decode()
    assert text == page()
    assert not re.search(r"<script|<img|<link|src=|url\(|https?://", text)
    for call in CALLS:
        assert f"{call.method} {call.path}" in text


@pytest.mark.promise("docs.true")
def test_the_docs_name_every_route_and_every_code_of_an_error() -> None:
    text = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    rows = [f"| `{call.method} {call.path}` | {call.title} |" for call in CALLS]
    assert "\n".join(rows) in text
    for kind in known_errors():
        assert f"`{kind.code}`" in text or kind.code == "error", kind


def known_errors(kind: type[ZapomniError] = ZapomniError) -> list[type[ZapomniError]]:
    below = [one for child in kind.__subclasses__() for one in known_errors(child)]
    return [one for one in [kind, *below] if one.__module__ in {"zapomni.errors", "zapomni.surfaces.mcp.calls"}]


# --- requests that are made up ------------------------------------------------------------------------------
def replied(task: Task) -> dict[str, Any]:
    """What a model says of which nothing can go wrong, so that every failure is the server's."""
    assert task.schema is not None
    if "facts" in task.schema["properties"]:
        return facts_of(task)
    said = {"insights": [], "answer": "Закрыта.", "found": False, "ids": []}
    return {name: value for name, value in said.items() if name in task.schema["properties"]}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The operations of a server that has all it needs, by their names, and the id of something in its memory."""
    home = tmp_path_factory.mktemp("served")
    (home / "docs").mkdir()
    (home / "docs" / "harbour.md").write_text("# Гавань\n\nЗакрыта на зиму.\n", encoding="utf-8")
    config = load({"home": home, "embedder.provider": "scripted"}, environ={}, cwd=home)
    with Zapomni(config, llm=ScriptedLlm(replied)) as app:
        web = Web(app)
        planted = web.good("POST", "/memories", {"content": "Запись о гавани.", "tags": ["гавань"]})
        web.good("POST", "/memories", {"content": "The harbour is closed in winter."})
        app.documents.add(home / "docs")
        app.documents.scan()
        app.documents.embedding.drain()
        app.embedding.drain()
        described = from_asgi("/openapi.json", web.asgi, headers=HEADERS)
        operations: list[Any] = [one.ok() for one in described.get_all_operations()]  # type: ignore[union-attr]
        yield {operation.label: operation for operation in operations}, planted["id"]


def made_up() -> Iterator[tuple[str, str]]:
    """Right and wrong requests of each route but the document's own; with neither value nor token none is wrong."""
    for call in CALLS:
        if call.path != "/openapi.json":
            yield "positive", f"{call.method} {call.path}"
            yield from () if call.is_open else [("negative", f"{call.method} {call.path}")]


@pytest.mark.promise("http.described")
@pytest.mark.parametrize(("mode", "label"), list(made_up()))
def test_no_request_makes_the_server_fail_and_each_answer_is_as_described(
    served: tuple[Mapping[str, Any], str], label: str, mode: str
) -> None:
    operations, planted = served

    @settings(max_examples=EXAMPLES, database=None, derandomize=True, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(case=operations[label].as_strategy(generation_mode=GenerationMode(mode)), known=st.booleans())
    def ask(case: Any, *, known: bool) -> None:
        if known and "id" in case.path_parameters:
            case.path_parameters["id"] = planted
        said = case.call(headers=HEADERS)
        assert said.status_code < 500, said.text
        case.validate_response(said, checks=CHECKS)

    ask()
