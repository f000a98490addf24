"""MCP over HTTP: any number of clients, both eras at one address, no sessions."""

from __future__ import annotations

import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.routing import Route

from zapomni import __version__
from zapomni.errors import ConfigError, Unavailable, ZapomniError
from zapomni.surfaces.mcp.ending import GRACE, end_in_time
from zapomni.surfaces.mcp.guard import HEALTH_PATH, MCP_PATH, Guard, is_loopback
from zapomni.surfaces.mcp.pipe import LINE_LIMIT
from zapomni.surfaces.mcp.server import Memory, build_server
from zapomni.surfaces.shapes import meaning_shape

if TYPE_CHECKING:
    from mcp.server.subscriptions import ListenHandler

    from zapomni.app import Zapomni


def run_http(app: Zapomni, *, host: str, port: int, token: str | None) -> int:
    """Serve at `http://HOST:PORT/mcp` until SIGTERM or SIGINT, and return the exit status.

    `app` is opened without a folder: clients of one server work in different ones, and none may get
    another's default scope. Port 0 takes a free one; the address is told on standard error. Raises
    `ConfigError` for an address that others can reach without a token, `Unavailable` when the address
    cannot be had.
    """
    if not is_loopback(host) and not token:
        raise ConfigError(
            f"http.token is not set and {host} can be reached from other machines",
            remedy="Set ZAPOMNI_HTTP_TOKEN, or listen on 127.0.0.1",
        )
    memory = Memory(app)
    memory.start_worker()
    with _listen(host, port) as listener:
        server = _build(memory, host, token)
        # uvicorn raises the signal that ended it once more, for whoever started it: here nobody.
        before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
        shown = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"zapomni listens on http://{shown}:{listener.getsockname()[1]}{MCP_PATH}\n")
        sys.stderr.flush()
        try:
            server.run(sockets=[listener])
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            app.close()
    return 0


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except OSError as error:
        raise Unavailable(
            f"cannot listen on {host}, port {port}: {error.strerror or error}", remedy="Choose another with --port"
        ) from error


def _build(memory: Memory, host: str, token: str | None) -> _Server:
    server, listeners = build_server(memory)
    web = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=2 * LINE_LIMIT,  # the guard has its own, smaller limit
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard does it
        custom_starlette_routes=[Route(HEALTH_PATH, _Health(memory), methods=["GET"])],
    )
    config = uvicorn.Config(
        Guard(web, host=host, token=token),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(GRACE),
    )
    return _Server(config, listeners)


class _Server(uvicorn.Server):
    """Ends the open listeners before it waits for its clients: they would never end by themselves."""

    def __init__(self, config: uvicorn.Config, listeners: ListenHandler) -> None:
        super().__init__(config)
        self._listeners = listeners

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what is in flight and stop."""
        end_in_time()
        self._listeners.close()
        await super().shutdown(sockets)


class _Health:
    """Answers whether the server works, with nothing that a stranger may not know."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        response = await self._answer()
        await response(scope, receive, send)

    async def _answer(self) -> JSONResponse:
        try:
            state = await self._memory.ask(lambda app: meaning_shape(app.embedding))
        except ZapomniError as error:
            return JSONResponse({"status": error.code, "version": __version__}, status_code=503)
        mode = "hybrid" if state.get("space") else "lexical"
        shape = {"status": "ok", "version": __version__, "mode": mode, "waiting": state.get("waiting", 0)}
        return JSONResponse(shape)
