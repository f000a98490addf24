"""The HTTP server: MCP for any number of clients, both eras at one address without sessions, and the HTTP API."""

from __future__ import annotations

import signal
import socket
import sys
from typing import TYPE_CHECKING

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from zapomni.errors import ConfigError, Unavailable
from zapomni.hosts import is_loopback
from zapomni.surfaces.http.api import routes
from zapomni.surfaces.http.guard import BODY_LIMIT, Guard
from zapomni.surfaces.http.patience import PatientProtocol
from zapomni.surfaces.http.token import kept_token, token_file
from zapomni.surfaces.mcp.ending import GRACE, end_in_time
from zapomni.surfaces.mcp.mending import MCP_PATH, Mending
from zapomni.surfaces.mcp.server import build_server
from zapomni.surfaces.serving import Served

if TYPE_CHECKING:
    from mcp.server.subscriptions import ListenHandler
    from starlette.types import ASGIApp

    from zapomni.app import Zapomni


def run_http(app: Zapomni, *, host: str, port: int, token: str | None) -> int:
    """Serve at `http://HOST:PORT` until SIGTERM or SIGINT, and return the exit status.

    `app` is opened without a folder: clients of one server work in different ones, and none may get
    another's default scope. Port 0 takes a free one. Without a token the one of the data folder is asked for.
    The address and where the token lies are told on standard error. Raises `ConfigError` for an address that
    others can reach without a token of the settings, `Unavailable` when the address cannot be had.
    """
    if not is_loopback(host) and not token:
        raise ConfigError(
            f"http.token is not set and {host} can be reached from other machines",
            remedy="Set ZAPOMNI_HTTP_TOKEN, or listen on 127.0.0.1",
        )
    asked_for = token or kept_token(app.config.home)
    memory = Served(app)
    memory.start_worker()
    with _listen(host, port) as listener:
        server = _build(memory, host, asked_for)

        def end(*_: object) -> None:
            server.should_exit = True

        # One may come before uvicorn listens to them, and it raises the one that ended it once more.
        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
        shown = f"[{host}]" if ":" in host else host
        lies = app.config.origins.get("http.token", "the settings") if token else token_file(app.config.home)
        sys.stderr.write(f"Clients send the token of {lies}\n")
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


def web_app(memory: Served, *, host: str, token: str) -> tuple[ASGIApp, ListenHandler]:
    """Return everything that the server answers, behind its guard, and the handler of MCP's listeners."""
    server, listeners = build_server(memory)
    web = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=2 * BODY_LIMIT,  # the guard has its own, smaller limit
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard does it
        custom_starlette_routes=routes(memory),
    )
    return Guard(Mending(web), host=host, token=token), listeners


def _build(memory: Served, host: str, token: str) -> _Server:
    web, listeners = web_app(memory, host=host, token=token)
    config = uvicorn.Config(
        web,
        http=PatientProtocol,
        ws="none",
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
