"""`zapomni config`: every setting, its value and where that was found."""

from __future__ import annotations

import os

import click

from zapomni.config import stands, user_file
from zapomni.errors import ConfigError
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
    unread = {"unread": list(found.unread)} if found.unread else {}
    session.answer({"store": str(found.store_path), "settings": rows, **unread}, render.settings(rows))
    session.note(f"not looked into for a project's settings: {folder}" for folder in found.unread)


@config.command("path")
@answers
def path(session: Session) -> None:
    """Show where your settings file is looked for.

    It need not exist.
    """
    file = user_file(os.environ, absolute("."))  # noqa: TID251 - handed to the module that reads it
    try:
        exists = stands(file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be looked at: {error}", remedy="Mend the rights of its folder") from None
    session.answer({"file": str(file), "exists": exists}, [str(file)])
