"""What every HTTP request must pass before the SDK sees it: Host, Origin, token, method, size, and mending.

Host and Origin are checked against DNS rebinding: a page of any site can make the browser of this machine's
user call an address that its own name server points at us.
"""

from __future__ import annotations

import hmac
import json
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response

from zapomni.surfaces.mcp import wire
from zapomni.surfaces.mcp.pipe import LINE_LIMIT

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MCP_PATH: Final = "/mcp"
HEALTH_PATH: Final = "/health"
_VERSION_HEADER: Final = b"mcp-protocol-version"


def is_loopback(host: str) -> bool:
    """Tell whether a name or address without port means this machine alone."""
    host = host.strip("[]")
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Wraps the web application; answers by itself whatever must not reach it."""

    def __init__(self, app: ASGIApp, *, host: str, token: str | None) -> None:
        """`host` is the address listened on: a loopback one is asked for by a loopback name alone."""
        self._app = app
        self._local = is_loopback(host)
        self._token = token.encode() if token else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a good request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Headers(scope=scope), scope["path"], scope["method"])
        if refusal is not None:
            await refusal(scope, receive, send)
        elif scope["path"].rstrip("/") == MCP_PATH:
            await self._pass_on(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, headers: Headers, path: str, method: str) -> Response | None:
        host = headers.get("host", "")
        if not host or (self._local and not is_loopback(_name(host))):
            return _error(403, "host", f"Host {host!r} is not this machine")
        origin = headers.get("origin")
        if origin is not None and not self._may_come_from(origin, host):
            return _error(403, "origin", f"Origin {origin!r} may not ask")
        if path == HEALTH_PATH:
            return None
        if not self._may_ask(headers.get("authorization", "")):
            response = _error(401, "token", "a bearer token is needed: Authorization: Bearer TOKEN")
            response.headers["WWW-Authenticate"] = "Bearer"
            return response
        if path.rstrip("/") == MCP_PATH and method != "POST":
            # No sessions: there is no stream to open by GET and nothing to end by DELETE.
            return Response(status_code=405, headers={"Allow": "POST"})
        return None

    def _may_come_from(self, origin: str, host: str) -> bool:
        parts = urlsplit(origin)
        return parts.netloc == host or (self._local and is_loopback(parts.hostname or ""))

    def _may_ask(self, authorization: str) -> bool:
        if self._token is None:
            return True
        kind, _, given = authorization.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await _body(receive)
        except _Gone:
            return
        if body is None:
            await _error(413, "size", f"the body is longer than {LINE_LIMIT:,} bytes")(scope, receive, send)
            return
        scope, body = _mended(scope, body)
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)


def _name(host: str) -> str:
    """Return a Host header without its port."""
    return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]


def _error(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message}}, status_code=status)


class _Gone(Exception):
    """The client left before its request was whole; what came of it is not acted on."""


async def _body(receive: Receive) -> bytes | None:
    """Return the whole body, or None for one that is too long; raises `_Gone` when it breaks off."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _Gone
        body += message.get("body", b"")
        if len(body) > LINE_LIMIT:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _mended(scope: Scope, body: bytes) -> tuple[Scope, bytes]:
    """Return the request as the SDK can read it; what is no JSON is left to the SDK's own error.

    A handshake loses its version header: there the body's version is negotiated, and the SDK would refuse a
    header that names one it does not know before it came to that.
    """
    try:
        message: Any = wire.mended(wire.read(body))
    except wire.Unreadable:
        return scope, body
    body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
    if isinstance(message, dict) and message.get("method") == "initialize" and not _has_envelope(message):
        headers = [(name, value) for name, value in headers if name != _VERSION_HEADER]
    return {**scope, "headers": [*headers, (b"content-length", str(len(body)).encode())]}, body


def _has_envelope(message: dict[str, Any]) -> bool:
    meta = message["params"].get("_meta")
    return isinstance(meta, dict) and wire.ENVELOPE in meta
