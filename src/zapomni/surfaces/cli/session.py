"""What every command is handed: the memory to open, and how its answer is written."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Final, NoReturn, TextIO, TypeVar, cast

import click
from click.core import ParameterSource

from zapomni.errors import ZapomniError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from zapomni.app import Zapomni
    from zapomni.settings import Config

R = TypeVar("R")
_WHOLE: Final = 1_000
"""Letters of a command's first sentence; more than any has."""
EMBED_NOW: Final = 32
"""Memories, or chunks of documents, whose vectors a command makes before it ends; a larger backlog is left to a
server or `reembed`."""


class Session:
    """One run of the command: where its memory lies and in which form it answers."""

    def __init__(self, home: str | None = None) -> None:
        self.home = home
        self.json = False
        self.branch: str | None = None
        """The branch that was named for this command; None leaves it to the settings, empty is the main line."""

    def config(self, settings: Mapping[str, object] | None = None, *, folder: Path | None = None) -> Config:
        """Read the settings; `settings` override others by their names, `folder` is where the project lies."""
        from zapomni.config import load

        return load({"home": self.home, "branch": self.branch, **(settings or {})}, folder=folder)

    @contextmanager
    def memory(self, *, folder: str | None = ".", settings: Mapping[str, object] | None = None) -> Iterator[Zapomni]:
        """Open the memory for a person who works in `folder`, None for no place, and close it."""
        from zapomni.app import Zapomni
        from zapomni.model import Actor, Origin

        place = absolute(folder) if folder is not None else None
        config = self.config(settings, folder=place)
        with Zapomni(config, folder=place, actor=Actor(name="cli", origin=Origin.USER)) as app:
            yield app

    def answer(self, document: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Write the answer to standard output: the document with `--json`, otherwise the lines for people."""
        _say([_dump(document)] if self.json else lines)

    def note(self, lines: Iterable[str]) -> None:
        """Tell a person something about the answer, faintly and on standard error."""
        if not self.json:
            _say((click.style(self.typed(line), dim=True) for line in lines), err=True)

    def typed(self, text: str) -> str:
        """Return a text whose commands work where they are printed: with the store and branch that were named."""
        import re
        from shlex import quote

        if self.branch:
            text = re.sub(r"(`zapomni undo (?!-)[^`]+)`", lambda found: f"{found[1]} --branch {self.branch}`", text)
        return text.replace("`zapomni ", f"`zapomni --home {quote(self.home)} ") if self.home else text

    def embed(self, app: Zapomni, *, documents: bool = False) -> None:
        """Make the vectors of what was just stored where the model is local; the answer is out already."""
        with suppress(Exception):  # the text is stored, and the queue keeps what could not be done
            embedding = app.documents.embedding if documents else app.embedding
            wanted = embedding.wanted
            if wanted is not None and wanted.local:
                embedding.drain(limit=EMBED_NOW)


class Group(click.Group):
    """A group whose help shows the first sentence of each of its commands whole, however narrow the terminal."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of the commands; click itself would cut it at the edge."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(limit=_WHOLE)) for name, command in found if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def answers(function: Callable[..., R]) -> Callable[..., R]:
    """Hand the session to a command as its first argument and let it answer in JSON; blank values are refused."""
    option = click.option("--json", is_flag=True, expose_value=False, callback=_set_json, help="Answer in JSON.")

    @click.pass_context
    def command(ctx: click.Context, *given: Any, **values: Any) -> R:
        refuse_blank(ctx)
        try:
            return ctx.invoke(function, ctx.obj, *given, **values)
        except ZapomniError as error:
            error.remedy = ctx.obj.typed(error.remedy)
            raise

    return option(update_wrapper(command, function))


def on_branch(function: Callable[..., R]) -> Callable[..., R]:
    """Let a command work on a branch of the memory."""
    help_ = "Work on this branch of the memory; empty is the main line."
    return click.option("--branch", metavar="NAME", expose_value=False, callback=_set_branch, help=help_)(function)


def refuse_blank(ctx: click.Context) -> None:
    """Raise `InvalidInput` for an option or argument that was given blank, but for words that make up one text.

    A script whose variable is empty does not mean what leaving the option out means.
    """
    from zapomni.errors import InvalidInput
    from zapomni.text.clean import is_blank

    for param in ctx.command.params:
        name = param.name or ""
        if param.nargs != 1 or ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = ctx.params.get(name)
        texts = value if isinstance(value, tuple) else (value,)
        if any(isinstance(text, str) and is_blank(text) for text in texts):
            what = param.opts[-1].lstrip("-")
            raise InvalidInput(what, "it is blank", remedy="Give it a value, or leave it out")


def report(error: ZapomniError, *, as_json: bool) -> None:
    """Write an error: as JSON to standard output, for people (or where that is closed) to standard error."""
    from zapomni.surfaces import shapes
    from zapomni.surfaces.cli import render

    with suppress(OSError):
        if as_json:
            _say([_dump(shapes.error_shape(error))])
            return
    with suppress(OSError):
        _say(render.error(error), err=True)


def leave(status: int) -> NoReturn:
    """End the process at once; the memory is closed, and taking the interpreter down costs a tenth of a recall.

    A thread that still waits for a provider which answers too late is not waited for.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):
            stream.flush()
    os._exit(status)


def _set_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    ctx.obj.json = value


def _set_branch(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    ctx.obj.branch = value


def _say(lines: Iterable[str], *, err: bool = False) -> None:
    text = "\n".join(lines)
    try:
        if text:
            click.echo(text, err=err)
    except OSError:
        let_go(sys.stderr if err else sys.stdout)
        raise


def let_go(stream: TextIO | None) -> None:
    """Let what could not be written go nowhere, or else Python tries again at its end and talks about it."""
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), cast("TextIO", stream).fileno())


def _dump(document: Mapping[str, Any]) -> str:
    """Return one line of JSON; what a terminal might obey is escaped in it."""
    import json
    import re

    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    return re.sub(r"[\x7f-\x9f\u2028-\u202e\u2066-\u2069]", lambda found: f"\\u{ord(found[0]):04x}", text)


def absolute(folder: str) -> Path | None:
    """Return a folder by its whole path, None when the working folder that it starts from was deleted."""
    from pathlib import Path

    try:
        return Path(folder).absolute()
    except FileNotFoundError:
        return None
