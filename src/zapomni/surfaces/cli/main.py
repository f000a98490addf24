"""The command `zapomni`: its commands by name, and the one place where an error becomes a message and a status.

Starts fast: a command's module is imported when that command runs, the library when it opens the memory.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import click

from zapomni import __version__
from zapomni.errors import Unavailable, ZapomniError
from zapomni.surfaces.cli.session import Session, leave, let_go, refuse_blank, report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Row(NamedTuple):
    """Where a command lies, as module and name, and its help in one line, shown without importing it."""

    module: str
    name: str
    help: str


COMMANDS: Final[Mapping[str, Row]] = {
    "store": Row("write", "store", "Remember a text."),
    "recall": Row("recall", "recall", "Ask the memory a question."),
    "ask": Row("ask", "ask", "Answer a question in words, from what a model reads of the memory."),
    "search": Row("search", "search", "Ask the attached documents a question."),
    "list": Row("look", "list_", "List memories, newest first."),
    "show": Row("look", "show", "Show one memory whole."),
    "update": Row("write", "update", "Change a memory."),
    "delete": Row("delete", "delete", "Delete memories, by id or by a filter."),
    "history": Row("history", "history", "Show what happened to a memory, or the latest runs."),
    "diff": Row("versions", "diff", "Show what changed in a memory, or in a whole run."),
    "blame": Row("versions", "blame", "Show where each line of a memory comes from."),
    "undo": Row("history", "undo", "Take back the latest change of a memory, or a whole run."),
    "branch": Row("branch", "branch", "Work on the memory apart, compare, merge or drop what came of it."),
    "topics": Row("versions", "topics", "Show the topic paths of memories as a tree with counts."),
    "stats": Row("look", "stats", "Count memories and measure the store."),
    "ingest": Row(
        "ingest", "ingest", "Have a language model read texts, files or images, and remember what is worth it."
    ),
    "consolidate": Row("consolidate", "consolidate", "Have the model look for insights in what was remembered lately."),
    "insights": Row("consolidate", "insights", "List what memories were found to mean together, newest first."),
    "inbox": Row("inbox", "inbox", "Decide what is proposed: conflicts, merges, lessons and better descriptions."),
    "promote": Row("lessons", "promote", "Propose that a memory become a rule of a team or of the user."),
    "lessons": Row("lessons", "lessons", "Show rules that other agents raised, and answers to lessons raised in vain."),
    "miss": Row("misses", "miss", "Report a question that did not find its memory."),
    "misses": Row("misses", "misses", "List questions that did not find their memory, and whether they become more."),
    "source": Row("source", "source", "Attach folders and files to be searched."),
    "vault": Row("vault", "vault", "Look after a folder of memories: its size, its growth and its flaws."),
    "index": Row("index", "index", "Cut the index of a folder of memories into a core and leaves."),
    "export": Row(
        "exchange", "export", "Write memories to a file or to standard output, or their history to a git repository."
    ),
    "import": Row("exchange", "import_", "Read memories from a file or from standard input."),
    "backup": Row("backup", "backup", "Write a whole copy of the store while it is in use."),
    "restore": Row("backup", "restore", "Put a backup in the place of the store."),
    "reembed": Row("care", "reembed", "Give every memory and every document its vectors of the model in use."),
    "doctor": Row("care", "doctor", "Check the store and, asked for, repair it."),
    "serve": Row("serve", "serve", "Serve agents over MCP."),
    "setup": Row("setup", "setup", "Wire agents to the memory: its server, hooks, rules and skill."),
    "hook": Row("hook", "hook", "Answer an event of an agent's client: for its settings, not for people."),
    "session": Row("sessions", "session_", "Show and close the sessions of agents."),
    "cost": Row("cost", "cost", "Show what language models used, and what is left of today."),
    "config": Row("config", "config", "Show every setting and where its value came from."),
    "bench": Row("bench", "bench", "Measure retrieval and speed on this machine."),
}


class Commands(click.Group):
    """A group that knows its commands by name and imports the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import and return a command, None when there is none of that name."""
        row = COMMANDS.get(cmd_name)
        if row is None:
            return None
        command: click.Command = getattr(import_module(f"zapomni.surfaces.cli.{row.module}"), row.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.help) for name, row in COMMANDS.items()])


class Usage(ZapomniError):
    """The command line itself cannot be read."""

    code = "usage"
    exit_status = 2


class Unexpected(ZapomniError):
    """Something failed that nobody foresaw: an error of this program."""

    code = "unexpected"


_GARBAGE: Final = 50_000
INTERRUPTED: Final = 130
"""The status after Ctrl-C, as shells expect it."""


class AnyWord(click.types.BoolParamType):
    """A flag that any value of its environment variable sets, as NO_COLOR asks for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool:  # noqa: ARG002
        """Return whether the flag is set."""
        return bool(value)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--home", metavar="PATH", help="The folder that holds the store; it is made when missing.")
@click.option("--no-color", type=AnyWord(), is_flag=True, envvar="NO_COLOR", help="Colour nothing, even on a terminal.")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected error.")
@click.version_option(__version__, message="zapomni %(version)s")
@click.pass_context
def cli(ctx: click.Context, home: str | None, no_color: bool, debug: bool) -> None:  # noqa: ARG001, FBT001
    """One durable memory for all the AI agents you work with.

    A memory belongs to a scope: user, project:NAME, agent:NAME or team:NAME. Inside a repository the default
    is its project. An id may be shortened to any unique beginning. A single dash reads standard input; a text
    that begins with a dash goes after `--`.
    """
    refuse_blank(ctx)
    ctx.color = False if no_color else None
    ctx.obj = Session(home=home)


def main() -> NoReturn:
    """Run the command line of this process and end it with the status."""
    gc.set_threshold(_GARBAGE, 20, 20)  # most commands are over before collecting what their imports made could pay
    status = run(sys.argv[1:])
    if "zapomni.app" in sys.modules:
        leave(status)
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status; no error ends in a traceback."""
    words = [_mended(word) for word in arguments]
    _speak_utf8()
    failure: ZapomniError
    try:
        return _status(cli.main(words, "zapomni", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        failure = _usage(error)
    except click.Abort:
        return INTERRUPTED
    except ZapomniError as error:
        failure = error
    except UnicodeEncodeError as error:
        failure = _unspeakable(error)
    except OSError as error:
        if "--debug" in words:
            raise
        failure = Unavailable(f"the system refused ({error})", remedy="Look at the disk and at where output goes")
        let_go(sys.stdout)
        report(failure, as_json=False)
        return failure.exit_status
    except Exception as error:
        if "--debug" in words:
            raise
        failure = _unexpected(error)
    options = words[: words.index("--")] if "--" in words else words
    report(failure, as_json="--json" in options)
    return failure.exit_status


def _status(answer: Any) -> int:
    return answer if isinstance(answer, int) else 0


def _usage(error: click.ClickException) -> Usage:
    from zapomni.text.nearest import nearest

    context = getattr(error, "ctx", None)
    option = getattr(error, "option_name", "")
    if option == "--json" and context is not None and context.command is cli:
        return Usage(error.message.removesuffix("."), remedy=f"{option} goes behind the command")
    if any(option in param.opts for param in cli.params):
        return Usage(error.message.removesuffix("."), remedy=f"{option} goes before the command")
    near = getattr(error, "possibilities", None) or nearest(getattr(error, "command_name", ""), COMMANDS)
    if near:
        return Usage(error.message.removesuffix("."), remedy=f"Did you mean {' or '.join(near)}?")
    path = context.command_path if context is not None else "zapomni"
    return Usage(error.format_message().removesuffix("."), remedy=f"`{path} --help` tells what it takes")


def _unspeakable(error: UnicodeEncodeError) -> Usage:
    if any("\ud800" <= letter <= "\udfff" for letter in error.object):
        return Usage("an argument holds bytes that are not UTF-8", remedy="Convert it first, or pipe it in")
    what = f"the locale knows {error.encoding} alone, which cannot spell {error.object[:100]!r}"
    return Usage(what, remedy="Set PYTHONUTF8=1, or a locale with UTF-8")


def _unexpected(error: Exception) -> Unexpected:
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return Unexpected(
        f"something unforeseen happened ({what})",
        remedy="Please report it with what `zapomni --debug …` prints for the same command",
    )


def _mended(word: str) -> str:
    """Read an argument as UTF-8 where a locale without UTF-8 has left its bytes undecoded."""
    try:
        return word.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return word


def _speak_utf8() -> None:
    """Write UTF-8 whatever the locale says; what cannot be written becomes a question mark."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
