"""`zapomni serve`: the MCP server, over the pipes of a client or over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zapomni.errors import InvalidInput

if TYPE_CHECKING:
    from zapomni.surfaces.cli.session import Session


@click.command("serve")
@click.option("--http", is_flag=True, help="Serve over streamable HTTP instead of standard input and output.")
@click.option("--host", metavar="ADDRESS", help="The address to listen on; the setting http.host if not given.")
@click.option("--port", type=int, metavar="N", help="The port to listen on; the setting http.port if not given.")
@click.option(
    "--folder",
    default=".",
    metavar="PATH",
    envvar="CLAUDE_PROJECT_DIR",
    show_envvar=True,
    help="Where the agent works: its repository is the default scope. The working folder if not given.",
)
@click.pass_obj
def serve(session: Session, *, http: bool, host: str | None, port: int | None, folder: str) -> int:
    """Serve agents over MCP.

    Over standard input and output it ends when the client closes them. Over HTTP clients work in different
    folders, so that there is no default scope but the user's, and must send the token of the setting
    http.token when it is set.
    """
    if not http and (host is not None or port is not None):
        raise InvalidInput("serve", "an address is given, but not --http", remedy="Add --http")
    settings = {"http.host": host, "http.port": port}
    with session.memory(folder=None if http else folder, settings=settings) as app:
        if not http:
            from zapomni.surfaces.mcp.stdio import run_stdio

            return run_stdio(app)
        from zapomni.surfaces.mcp.http import run_http

        at = app.config.http
        return run_http(app, host=at.host, port=at.port, token=at.token.reveal() if at.token else None)
