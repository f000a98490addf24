"""The page `docs/cli.md`, written from the commands: `python -m zapomni.surfaces.cli.manual > docs/cli.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from zapomni.errors import EXIT_STATUS
from zapomni.surfaces.cli.main import INTERRUPTED, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD: Final = """\
# The command
<!-- Written by `python -m zapomni.surfaces.cli.manual > docs/cli.md`; a test compares the two. -->

Every command but `serve` and `bench` answers for people, and with `--json` as one JSON document ([json.md](json.md)).
Notes and progress go to standard error. `python -m zapomni` is the same command.

What a value may be is the same for every command:

- **Scope**: `user`, `project:NAME`, `agent:NAME`, `team:NAME`. Readings without one see the scopes of the place
  (the repository of the working folder, the teams of the settings, the user); `all` sees every scope. Writings
  without one go to the repository's project, outside a repository to `user`.
- **Id**: any unique beginning of it. One that fits several memories lists them and changes nothing.
- **Text**: words without quotes are joined by spaces. `-` reads standard input, and so does no text at
  all where standard input is no terminal. It must be UTF-8 (or UTF-16 with its mark); one line break at its end
  is dropped. A text that begins with a dash goes after `--`.
- **Date**: a day (`2026-11-30`, or `30.11.2026`: day, month, year), a month (`2026-11`), a year, a time with or
  without a zone (`2026-11-30T14:05`, `2026-11-30T14:05+03:00`), `today` or `yesterday` (`сегодня`, `вчера`). A bare
  day is the local day. `--since`, `--until` and `--on` also take a span back from now: `90min`, `12h`,
  `7d`, `2w` (`90мин`, `12ч`, `7д`, `2н`); they look at `observed_at` where a memory has one, else at `created_at`.
- **Scores** order the hits of one answer; what they are made of, and when nothing counts as an answer, is in
  [scores.md](scores.md).
- **Tags** of a filter are compared whole and without regard to case; a comma is part of a tag.
- **A blank value** of an option, or of a single argument, is an error: leave it out. `--branch ""` is the main line.
- **Completion**: `eval "$(_ZAPOMNI_COMPLETE=bash_source zapomni)"`; also `zsh_source` and `fish_source`.
- **Colour** only on a terminal, and never with `NO_COLOR` or `--no-color`.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join([_HEAD, *_parts(cli, None, "zapomni"), *_statuses()]) + "\n"


def _parts(command: click.Command, parent: click.Context | None, name: str) -> Iterator[str]:
    context = click.Context(command, parent, info_name=name, terminal_width=100, max_content_width=100)
    context.help_option_names = ["-h", "--help"]
    yield f"## {context.command_path}"
    yield f"```text\n{command.get_help(context)}\n```"
    yield ""
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from _parts(found, context, inner)


def _statuses() -> Iterator[str]:
    yield "## Exit statuses"
    yield "| status | meaning |"
    yield "|---|---|"
    for status, meaning in {**EXIT_STATUS, INTERRUPTED: "interrupted (Ctrl-C)"}.items():
        yield f"| {status} | {meaning} |"


if __name__ == "__main__":
    click.echo(page(), nl=False)
