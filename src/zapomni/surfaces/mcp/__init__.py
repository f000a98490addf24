"""The MCP server: six tools, two resources and three prompts over one memory, by stdio and by HTTP.

The SDK and the web framework are loaded when a server runs, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zapomni.app import Zapomni


def run_stdio(app: Zapomni) -> int:
    """Serve one client over standard input and output until the input ends; see `stdio.run_stdio`."""
    from zapomni.surfaces.mcp import stdio

    return stdio.run_stdio(app)


def run_http(app: Zapomni, *, host: str, port: int, token: str | None) -> int:
    """Serve any number of clients over HTTP until a signal ends it; see `http.run_http`."""
    from zapomni.surfaces.mcp import http

    return http.run_http(app, host=host, port=port, token=token)
