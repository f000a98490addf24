"""What every command is handed: the memory to open, and how its answer is written."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from zapomni.app import Zapomni
    from zapomni.config import Config
    from zapomni.errors import ZapomniError

R = TypeVar("R")
EMBED_NOW: Final = 32
"""Memories whose vectors a command makes before it ends; a larger backlog is left to a server or `reembed`."""


class Session:
    """One run of the command: where its memory lies and in which form it answers."""

    def __init__(self, home: str | None = None) -> None:
        self.home = home
        self.json = False

    def config(self, settings: Mapping[str, object] | None = None) -> Config:
        """Read the settings; `settings` override others by their names."""
        from zapomni.config import load

        return load({"home": self.home, **(settings or {})})

    @contextmanager
    def memory(
        self, *, folder: str | Path | None = None, settings: Mapping[str, object] | None = None
    ) -> Iterator[Zapomni]:
        """Open the memory for a person who works in `folder` (else in the working folder), and close it."""
        from zapomni.app import Zapomni
        from zapomni.model import Actor, Origin

        place = Path(folder).absolute() if folder else working_folder()
        with Zapomni(self.config(settings), folder=place, actor=Actor(name="cli", origin=Origin.USER)) as app:
            yield app

    def answer(self, document: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Write the answer to standard output: the document with `--json`, otherwise the lines for people."""
        _say([_dump(document)] if self.json else lines)

    def note(self, lines: Iterable[str]) -> None:
        """Tell a person something about the answer, faintly and on standard error."""
        if not self.json:
            _say((click.style(line, dim=True) for line in lines), err=True)

    def embed(self, app: Zapomni) -> None:
        """Make the vectors of what was just stored where the model is local; the answer is out already."""
        with suppress(Exception):  # the text is stored, and the queue keeps what could not be done
            wanted = app.embedding.wanted
            if wanted is not None and wanted.local:
                app.embedding.drain(limit=EMBED_NOW)


def answers(function: Callable[..., R]) -> Callable[..., R]:
    """Hand the session to a command as its first argument and let it answer in JSON."""
    option = click.option("--json", is_flag=True, expose_value=False, callback=_set_json, help="Answer in JSON.")
    return option(click.pass_obj(function))


def report(error: ZapomniError, *, as_json: bool) -> None:
    """Write an error: as JSON to standard output, for people to standard error."""
    from zapomni.surfaces import shapes
    from zapomni.surfaces.cli import render

    with suppress(BrokenPipeError):
        if as_json:
            _say([_dump(shapes.error_shape(error))])
        else:
            _say(render.error(error), err=True)


def _set_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    ctx.obj.json = value


def _say(lines: Iterable[str], *, err: bool = False) -> None:
    text = "\n".join(lines)
    if text:
        click.echo(text, err=err)


def _dump(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def working_folder() -> Path | None:
    """Return the folder that the command was started in, None when it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None
