"""The table of routes as a web application's routes: one place a path, each call on a thread of the memory."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zapomni.errors import InvalidInput, ZapomniError
from zapomni.surfaces.http.answers import Answer, failure, refusal
from zapomni.surfaces.http.asked import Asked, check_required, read_body, read_query
from zapomni.surfaces.http.call import EVENTS
from zapomni.surfaces.http.events import ALWAYS, Events
from zapomni.surfaces.http.table import CALLS
from zapomni.surfaces.serving import caller, unforeseen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Receive, Scope, Send

    from zapomni.app import Zapomni
    from zapomni.surfaces.http.call import Call
    from zapomni.surfaces.http.events import Tell
    from zapomni.surfaces.serving import Served

_LOG = logging.getLogger(__name__)
_HALF: Final = InvalidInput(
    "body", "it holds half of a surrogate pair where only whole characters will do", remedy="Send whole characters"
)
"""Texts that are kept are mended; a name or an id with half a character in it is none of ours."""


def routes(memory: Served) -> list[Route]:
    """Return a route for each path of the table, those with names in them last, and one for all that is not there."""
    paths = sorted({call.path for call in CALLS}, key=lambda path: "{" in path)
    places = [Route(path, _Place(memory, {call.method: call for call in CALLS if call.path == path})) for path in paths]
    return [*places, Route("/{path:path}", _Nowhere())]


class _Place:
    """Answers the requests for one path."""

    def __init__(self, memory: Served, calls: Mapping[str, Call]) -> None:
        self._memory = memory
        self._calls = calls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        call = self._calls.get("GET" if request.method == "HEAD" else request.method)
        if call is None:
            await response(self._other_method(request))(scope, receive, send)
            return
        events = Events(send) if call.tells and EVENTS in request.headers.get("accept", "") else None
        answer = await self._answer(call, request, events.tell if events is not None else None)
        if events is not None and events.begun:
            await events.end(answer)
        else:
            await response(answer)(scope, receive, send)

    def _other_method(self, request: Request) -> Answer:
        allowed = ", ".join(self._calls)
        return refusal(405, "method", f"{request.method} does nothing here; there is {allowed}", Allow=allowed)

    async def _answer(self, call: Call, request: Request, tell: Tell | None) -> Answer:
        body = await request.body()
        act = partial(_act, call=call, request=request, body=body, tell=tell)
        return await self._memory.ask(act, writes=call.writes, thinks=call.thinks)


class _Nowhere:
    """Answers the requests for every other path."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = refusal(404, "not_found", f"there is no {scope['path']}", "GET /docs lists what there is")
        await response(answer)(scope, receive, send)


def response(answer: Answer) -> Response:
    """Return an answer as the web framework sends it."""
    return Response(answer.body, answer.status, {**ALWAYS, **answer.headers}, answer.media_type)


def _act(app: Zapomni, call: Call, request: Request, body: bytes, tell: Tell | None) -> Answer:
    """Do one call; whatever goes wrong becomes an answer that says so."""
    try:
        values = {
            **read_body(call, body),
            **read_query(call, request.query_params.multi_items()),
            **request.path_params,
        }
        check_required(call, values)
        agent = request.headers.get("user-agent", "")
        return call.act(app, Asked(values, caller("http", agent.partition("/")[0]), body, tell))
    except ZapomniError as error:
        return failure(error)
    except UnicodeEncodeError as error:
        return failure(_HALF if b"\\ud" in body.lower() else unforeseen(error, call.name, _LOG))
    except Exception as error:  # noqa: BLE001 - the boundary: nothing of ours may end the server
        return failure(unforeseen(error, call.name, _LOG))
