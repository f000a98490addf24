"""`zapomni hook`: its help; an event is answered by `surfaces.hook`, which takes the short way past click."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from zapomni.surfaces.cli.session import Session


@click.command("hook", context_settings={"ignore_unknown_options": True})
@click.option("--client", metavar="NAME", help="Whose event it is: claude-code, codex, cursor and so on.")
@click.option("--event", metavar="NAME", help="What the event is called, for clients that do not say it themselves.")
@click.option("--home", metavar="FOLDER", help="The folder that holds the store, as before the command.")
@click.argument("more", nargs=-1, type=click.UNPROCESSED, metavar="")
@click.pass_obj
def hook(
    session: Session,
    client: str | None,
    event: str | None,
    home: str | None,
    more: tuple[str, ...],  # noqa: ARG001 - what is not understood is passed over
) -> None:
    """Answer an event of an agent's client: for its settings, not for people.

    Reads the event as JSON from standard input and writes the answer in the form of that client, and nothing else.
    The status is always 0. With the variable ZAPOMNI_HOOK set to anything it does nothing.
    """
    from zapomni.surfaces.hook import Call, answer, read_input, write

    write(answer(Call(client or "", event or "", home or session.home), read_input()))
