"""What clients of MCP over HTTP send, made readable for the SDK, behind the guard that every request passes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from zapomni.surfaces.mcp import wire

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MCP_PATH: Final = "/mcp"
_VERSION_HEADER: Final = b"mcp-protocol-version"


class Mending:
    """Wraps the web application; whatever is not for MCP goes through as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, mended; the guard has read its body, so that it comes as one message."""
        if scope["type"] != "http" or scope["path"].rstrip("/") != MCP_PATH:
            await self._app(scope, receive, send)
        elif scope["method"] != "POST":
            # No sessions: there is no stream to open by GET and nothing to end by DELETE.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
        else:
            await self._pass_on({**scope, "path": MCP_PATH}, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        message: Message | None = await receive()
        scope, body = _mended(scope, (message or {}).get("body", b""))
        message = {"type": "http.request", "body": body, "more_body": False}

        async def replay() -> Message:
            nonlocal message
            first, message = message, None
            return first if first is not None else await receive()

        await self._app(scope, replay, send)


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
