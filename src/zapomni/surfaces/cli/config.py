"""`zapomni config`: every setting, its value and where that was found."""

from __future__ import annotations

import os

import click

from zapomni.config import user_file
from zapomni.settings import SETTINGS
from zapomni.surfaces.cli import render
from zapomni.surfaces.cli.session import Group, Session, absolute, answers


@click.group("config", cls=Group)
def config() -> None:
    """Show every setting and where its value came from."""


@config.command("show")
@answers
def show(session: Session) -> None:
    """Show every setting, its value and where that was found.

    Later layers win: default, your settings file, the project's file, the environment, the command line.
    """
    found = session.config()
    rows = [
        {"name": name, "value": value, "origin": origin, "env": SETTINGS[name].env, "help": SETTINGS[name].doc}
        for name, value, origin in found.rows()
    ]
    session.answer({"store": str(found.store_path), "settings": rows}, render.settings(rows))


@config.command("path")
@answers
def path(session: Session) -> None:
    """Show where your settings file is looked for.

    It need not exist.
    """
    file = user_file(os.environ, absolute("."))  # noqa: TID251 - handed to the module that reads it
    session.answer({"file": str(file), "exists": file.is_file()}, [str(file)])
