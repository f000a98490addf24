"""What every HTTP request must pass before any of it is looked at: Host, Origin, token, type, size and time.

Host and Origin are checked against DNS rebinding: a page of any site can make the browser of this machine's
user call an address that its own name server points at us. No answer carries a header of CORS.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers

from zapomni.hosts import is_loopback
from zapomni.surfaces.http.answers import refusal
from zapomni.surfaces.http.api import response
from zapomni.surfaces.http.call import JSON
from zapomni.surfaces.http.table import CALLS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from zapomni.surfaces.http.answers import Answer

BODY_LIMIT: Final = 10_000_000
"""Most bytes of one body: a hundred times the longest memory."""
BODY_SECONDS: Final = 30.0
"""Seconds that a whole body may take from its head on; 10 MB at 3 Mbit/s."""
OPEN: Final = {(call.method, call.path) for call in CALLS if call.is_open}
TAKES: Final = {(call.method, call.path): call.takes for call in CALLS if call.takes != JSON}
_BODIED: Final = {"POST", "PUT", "PATCH", "DELETE"}


class Guard:
    """Wraps the web application; answers by itself whatever must not reach it, and hands bodies over whole."""

    def __init__(self, app: ASGIApp, *, host: str, token: str, patience: float = BODY_SECONDS) -> None:
        """`host` is the address listened on: a loopback one is asked for by a loopback name alone."""
        self._app = app
        self._local = is_loopback(host)
        self._token = token.encode()
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a good request on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._stranger(headers, scope["method"], scope["path"])
        if refused is None and scope["method"] in _BODIED:
            refused = _unfit(headers, scope["method"], scope["path"])
        if refused is not None:
            await response(refused)(scope, receive, send)
        elif scope["method"] in _BODIED:
            await self._pass_on(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _stranger(self, headers: Headers, method: str, path: str) -> Answer | None:
        """Return what is said to one who may not ask."""
        host = headers.get("host", "")
        if not host or (self._local and not is_loopback(_name(host))):
            return refusal(403, "host", f"Host {host!r} is not this machine")
        origin = headers.get("origin")
        if origin is not None and not self._may_come_from(origin, host):
            return refusal(403, "origin", f"Origin {origin!r} may not ask")
        if ("GET" if method == "HEAD" else method, path) in OPEN or self._may_ask(headers.get("authorization", "")):
            return None
        remedy = "`zapomni serve --http` says at its start where the token lies"
        told = "a bearer token is needed: Authorization: Bearer TOKEN"
        return refusal(401, "token", told, remedy, WWW_Authenticate="Bearer")

    def _may_come_from(self, origin: str, host: str) -> bool:
        try:
            parts = urlsplit(origin)
            name = parts.hostname or ""
        except ValueError:
            return False
        return parts.netloc == host or (self._local and is_loopback(name))

    def _may_ask(self, authorization: str) -> bool:
        kind, _, given = authorization.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its whole body; one that breaks off is not acted on."""
        body: bytes | None = None
        try:
            with anyio.fail_after(self._patience):
                body = await _body(receive)
        except _Gone:
            return
        except TimeoutError:
            late = refusal(408, "time", f"the body did not come within {self._patience:g} s", Connection="close")
            await response(late)(scope, receive, send)
            return
        if body is None:
            long = refusal(413, "size", f"the body is longer than {BODY_LIMIT:,} bytes")
            await response(long)(scope, receive, send)
            return
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)


def _unfit(headers: Headers, method: str, path: str) -> Answer | None:
    """Return what is said to a body that the path does not take, judged by its head alone."""
    length = headers.get("content-length")
    if length is None and "transfer-encoding" not in headers:
        return None
    wanted = TAKES.get((method, path), JSON)
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given == wanted or (length == "0" and not given):
        return None
    shown = repr(given) if given else "no type"
    remedy = f"Send the header Content-Type: {wanted}"
    return refusal(415, "content_type", f"the body has {shown}; {wanted} is taken here", remedy)


def _name(host: str) -> str:
    """Return a Host header without its port."""
    return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]


class _Gone(Exception):
    """The client left before its request was whole."""


async def _body(receive: Receive) -> bytes | None:
    """Return the whole body, or None for one that is too long; raises `_Gone` when it breaks off."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _Gone
        body += message.get("body", b"")
        if len(body) > BODY_LIMIT:
            return None
        if not message.get("more_body", False):
            return bytes(body)
