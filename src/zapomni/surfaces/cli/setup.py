"""`zapomni setup`: every agent on this machine wired to the memory, and unwired."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zapomni.agents.base import Reach
from zapomni.agents.clients import CLIENTS
from zapomni.agents.look import inspect
from zapomni.agents.machine import machine
from zapomni.agents.wiring import Outcome, Starter, unwire, wire
from zapomni.errors import InvalidInput, Refused
from zapomni.surfaces.cli import render_setup
from zapomni.surfaces.cli.options import one_of
from zapomni.surfaces.cli.session import Session, absolute, answers
from zapomni.surfaces.setup_shapes import looks_shape, report_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.agents.base import Client, Launch, Machine
    from zapomni.agents.look import Look
    from zapomni.agents.wiring import Report
    from zapomni.settings import Config


@click.command("setup")
@click.argument("names", nargs=-1, metavar="[CLIENT]...")
@click.option("--all", "every", is_flag=True, help="Every client that is found on this machine.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--scope", type=one_of(Reach), help="In your own files (user, if not given), or in this project's.")
@click.option("--remove", is_flag=True, help="Take everything out again; without a client, of every client.")
@click.option("--list", "show", is_flag=True, help="Only show which clients there are and how they are wired.")
@answers
def setup(
    session: Session, names: Sequence[str], *, every: bool, dry_run: bool, scope: str | None, remove: bool, show: bool
) -> int:
    """Wire agents to the memory: its server, hooks, rules and skill.

    A client's own command adds the server where it has one; else its file is edited, and nothing around the entry
    changes. Each file is backed up. Removing puts back what was there, to the byte where nobody else has changed the
    file since; what --scope project wrote, which others share, goes with --remove --scope project alone. Hooks of
    Codex run once you have trusted them in /hooks.
    """
    config, here = session.config(), machine(os.environ, absolute("."))  # noqa: TID251 - handed to where it is read
    reach = Reach(scope.lower()) if scope else Reach.USER
    if show:
        return _show(session, _chosen(names) or list(CLIENTS.values()), here, config, reach)
    if reach is Reach.PROJECT and "project" not in here.roots:
        raise InvalidInput("scope", "the working folder was deleted, so there is no project", remedy="Go to a folder")
    if remove:
        clients = _chosen(names) or list(CLIENTS.values())
        report = unwire(clients, here, home=config.home, reach=reach, dry_run=dry_run)
    else:
        clients = _wanted(names, here, every=every)
        report = wire(clients, here, _starter(config), home=config.home, reach=reach, dry_run=dry_run)
    shape = report_shape(report, clients, reach, dry_run=dry_run)
    session.answer(shape, render_setup.report(report, clients, dry_run=dry_run))
    session.note(render_setup.notes(report, clients, reach, removed=remove))
    return _status(report)


def looks_here(config: Config) -> list[tuple[Look, Launch, Machine]]:
    """Return every client as it stands in the user's files, and how it would start us."""
    here, starter = machine(os.environ, absolute(".")), _starter(config)  # noqa: TID251 - handed to where it is read
    launches = [(client, starter.launch(client, here, Reach.USER)) for client in CLIENTS.values()]
    return [(inspect(client, here, launch, Reach.USER), launch, here) for client, launch in launches]


def _show(session: Session, clients: Sequence[Client], here: Machine, config: Config, reach: Reach) -> int:
    starter = _starter(config)
    looks = [inspect(client, here, starter.launch(client, here, reach), reach) for client in clients]
    session.answer(looks_shape(looks, reach), render_setup.looks(looks))
    return 0


def _status(report: Report) -> int:
    return Refused.exit_status if any(step.outcome is Outcome.SKIPPED for step in report.steps) else 0


def _wanted(names: Sequence[str], here: Machine, *, every: bool) -> list[Client]:
    """Return the clients that were named, or with `every` those that are here."""
    found = [client for client in CLIENTS.values() if here.installed(client)]
    if every:
        return [*found, *(client for client in _chosen(names) if client not in found)]
    if not names:
        here_are = ", ".join(client.name for client in found) or "none"
        raise InvalidInput(
            "client", "none is named", remedy=f"Name some, or give --all for those on this machine: {here_are}"
        )
    return _chosen(names)


def _chosen(names: Sequence[str]) -> list[Client]:
    from zapomni.text.nearest import nearest

    for name in names:
        if name not in CLIENTS:
            near = nearest(name, CLIENTS)
            remedy = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(CLIENTS)}"
            raise InvalidInput("client", f"{name!r} is not known", remedy=remedy)
    return [CLIENTS[name] for name in dict.fromkeys(names)]


def _starter(config: Config) -> Starter:
    """Return how this very installation is started, with the data folder where that is not the usual one."""
    usual = config.origins.get("home", "default") == "default"
    home = {} if usual else {"ZAPOMNI_HOME": str(config.home)}
    return Starter(command=_command(), environment=home, names_agents=not config.agent)


def _command() -> str:
    """Return the whole path of the command: graphical programs know no PATH."""
    called = Path(sys.argv[0])
    if called.stem == "zapomni" and called.is_file():
        return str(called.absolute())
    beside = Path(sys.executable).with_name("zapomni.exe" if sys.platform == "win32" else "zapomni")
    return str(beside)
