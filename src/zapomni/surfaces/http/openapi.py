"""The description of every route by OpenAPI 3.1, made from the one table."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from zapomni import __version__
from zapomni.surfaces.http.call import EVENTS, JSON
from zapomni.surfaces.http.examples import ANSWERS, BODIES, VALUES
from zapomni.surfaces.http.schemas import SCHEMAS, ref
from zapomni.surfaces.http.table import CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.surfaces.http.call import Call

_ABOUT: Final = """\
One durable memory for agents and people. Shapes are those of docs/json.md. Every route but /health needs the token.\
"""
_EVENTS: Final = """\
Events whose data is one line of JSON: `reading` (the schema Reading), then `answer` (the JSON body of this route) or \
`error` (the body of the status that it would have had).\
"""
_SAID: Final = {
    200: "Done",
    201: "It is new",
    202: "Stored, and it waits for a language model",
    400: "A value cannot be used; the message names it",
    401: "The token is missing or wrong",
    403: "Host or Origin is foreign",
    404: "It is not there",
    408: "The body did not come in time",
    409: "A short id fits several memories, or somebody else changed it first",
    413: "The body is too long",
    415: "The body is of another type",
    422: "Understood and refused",
    429: "The day's tokens or money are spent",
    500: "A fault of the server",
    503: "Something needed is not available now: the store, a provider, a language model",
}
_ALWAYS: Final = (400, 401, 403, 404, 409, 422, 429, 500, 503)
_OF_BODIES: Final = (408, 413, 415)


@cache
def document() -> dict[str, Any]:
    """Return the whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for call in CALLS:
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(call)
    return {
        "openapi": "3.1.0",
        "info": {"title": "zapomni", "version": __version__, "description": _ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(call: Call) -> dict[str, Any]:
    made: dict[str, Any] = {"operationId": call.name, "summary": call.title}
    if call.says:
        made["description"] = call.says
    if parameters := list(_parameters(call)):
        made["parameters"] = parameters
    if call.body is not None:
        made["requestBody"] = _body(call)
    if call.is_open:
        made["security"] = []
    return made | {"responses": {str(status): answer for status, answer in _responses(call)}}


def _parameters(call: Call) -> Iterator[dict[str, Any]]:
    for name in call.names:
        yield _parameter(name, "path", {"type": "string", "minLength": 1}, required=True)
    for name, schema in call.query.items():
        yield _parameter(name, "query", schema, required=name in call.required)


def _parameter(name: str, place: str, schema: dict[str, Any], *, required: bool) -> dict[str, Any]:
    plain = {key: value for key, value in schema.items() if key != "description"}
    made = {"name": name, "in": place, "required": required, "schema": plain}
    said = {"description": schema["description"]} if "description" in schema else {}
    example = {"example": VALUES[name]} if required and name in VALUES else {}
    return made | said | example


def _body(call: Call) -> dict[str, Any]:
    if call.takes != JSON:
        return {"required": True, "content": {call.takes: {"schema": {"type": "string", "format": "binary"}}}}
    required = [name for name in call.required if name in (call.body or {})]
    schema: dict[str, Any] = {"type": "object", "properties": dict(call.body or {}), "additionalProperties": False}
    schema |= {"required": required} if required else {}
    return {"required": bool(required), "content": {JSON: {"schema": schema, "example": BODIES[call.name]}}}


def _responses(call: Call) -> Iterator[tuple[int, dict[str, Any]]]:
    events = {EVENTS: {"schema": {"type": "string", "description": _EVENTS}}} if call.tells else {}
    for status in call.statuses:
        yield status, {"description": _SAID[status], "content": {call.media_type: _content(call.gives), **events}}
    for status in _ALWAYS + (_OF_BODIES if call.body is not None else ()):
        if status not in call.statuses:
            yield status, {"description": _SAID[status], "content": {JSON: _content("Error")}}


def _content(shape: str) -> dict[str, Any]:
    if not shape:
        return {"schema": {"type": "string"}}
    return {"schema": ref(shape)} | ({"example": ANSWERS[shape]} if shape in ANSWERS else {})
