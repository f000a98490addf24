"""`zapomni serve`: the MCP server, over the pipes of a client or, with the HTTP API, over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from zapomni.errors import InvalidInput
from zapomni.settings import TOOL_PROFILES
from zapomni.surfaces.cli.session import refuse_blank

if TYPE_CHECKING:
    from zapomni.settings import Config
    from zapomni.surfaces.cli.session import Session


@click.command("serve")
@click.option("--http", is_flag=True, help="Serve over streamable HTTP instead of standard input and output.")
@click.option("--host", metavar="ADDRESS", help="The address to listen on; the setting http.host if not given.")
@click.option("--port", type=int, metavar="N", help="The port to listen on; the setting http.port if not given.")
@click.option(
    "--tools", type=click.Choice(TOOL_PROFILES), help="Which tools agents see; the setting mcp.tools if not given."
)
@click.option(
    "--folder",
    default=".",
    metavar="PATH",
    envvar="CLAUDE_PROJECT_DIR",
    show_envvar=True,
    help="Where the agent works: its repository is the default scope. The working folder if not given.",
)
@click.pass_context
def serve(ctx: click.Context, *, http: bool, host: str | None, port: int | None, tools: str | None, folder: str) -> int:
    """Serve agents over MCP.

    Over standard input and output it ends when the client closes them. With --http agents are served at /mcp and
    programs at the routes that /docs lists. Over HTTP clients work in different folders, so that there is no
    default scope but the user's, and must send a token: that of the setting http.token or, without one, that of
    the file http.token in the data folder, which is made at the first start.
    """
    refuse_blank(ctx)
    if not http and (host is not None or port is not None):
        raise InvalidInput("serve", "an address is given, but not --http", remedy="Add --http")
    if ctx.get_parameter_source("folder") is ParameterSource.COMMANDLINE:
        _check_folder(folder, http=http)
    session: Session = ctx.obj
    settings = {"http.host": host, "http.port": port, "mcp.tools": tools}
    with session.memory(folder=None if http else folder, settings=settings) as app:
        _drain_spool(app.config)
        if not http:
            from zapomni.surfaces.mcp.stdio import run_stdio

            if sys.stdin is not None and sys.stdin.isatty():
                session.note(["Waiting for an MCP client to speak on standard input; Ctrl-C ends it"])
            return run_stdio(app)
        from zapomni.surfaces.mcp.http import run_http

        at = app.config.http
        return run_http(app, host=at.host, port=at.port, token=at.token.reveal() if at.token else None)


def _drain_spool(config: Config) -> None:
    """Work off what hooks could not keep, beside the serving: a client waits for the first answer."""
    from zapomni.surfaces.hook import drain_spool, homes_with_spool

    if not homes_with_spool(config):
        return
    from threading import Thread

    Thread(target=drain_spool, args=(config,), name="zapomni-spool", daemon=True).start()


def _check_folder(folder: str, *, http: bool) -> None:
    if http:
        raise InvalidInput("folder", "over HTTP clients work in folders of their own", remedy="Leave --folder out")
    if not Path(folder).is_dir():
        raise InvalidInput("folder", f"there is no {folder!r}", remedy="Name the folder that the agent works in")
