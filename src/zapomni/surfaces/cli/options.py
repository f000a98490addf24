"""Reading the command line: options that several commands share, and texts that come from standard input.

Values are handed on as they were given; `services.parse` reads them, for every surface alike.
"""

from __future__ import annotations

import codecs
import sys
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from zapomni.errors import InvalidInput
from zapomni.model import PAGE_LIMIT, About, Kind, Trust
from zapomni.text.clean import cut, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from enum import StrEnum
    from typing import BinaryIO

F = TypeVar("F", bound="Callable[..., Any]")

SCOPE: Final = "SCOPE"
SCOPES_HELP: Final = "See this scope alone: user, project:NAME, agent:NAME, team:NAME, or all. Repeatable."


def one_of(choices: type[StrEnum], *more: str) -> click.Choice[str]:
    """Return the type of an option that takes one word of a closed list."""
    return click.Choice([*(choice.value for choice in choices), *more], case_sensitive=False)


class Share(click.ParamType):  # type: ignore[type-arg] # older click has no type of what it reads
    """A number from 0 to 1, with a decimal point or comma."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; its bounds are looked at with every other surface's."""
        try:
            return float(str(value).replace(",", "."))
        except ValueError:
            never = ", and it cannot be cleared" if str(value).strip().lower() == "none" else ""
            self.fail(f"{value!r} is not a number from 0 to 1{never}", param, ctx)


SHARE: Final = Share()


def together(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Put several options under one name; they are shown in this order."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def at_most(usual: int, what: str = "") -> Callable[[F], F]:
    """Return the option that says how many are listed."""
    told = f"At most this many {what}".rstrip() + "."
    return click.option(
        "--limit", type=click.IntRange(1, PAGE_LIMIT), default=usual, metavar="N", show_default=True, help=told
    )


read_scopes = click.option("--scope", "scopes", multiple=True, metavar=SCOPE, help=SCOPES_HELP)

filters = together(
    read_scopes,
    click.option("--kind", multiple=True, type=one_of(Kind), help="Of this kind. Repeatable: any of them."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="With this tag. Repeatable: any of them."),
    click.option("--all-tag", "all_tags", multiple=True, metavar="TAG", help="With this tag. Repeatable: all of them."),
    click.option("--entity", "entities", multiple=True, metavar="NAME", help="About this entity. Repeatable: any."),
    click.option("--path", metavar="PATH", help="Under this dotted path."),
    click.option("--about", type=one_of(About), help="About this."),
    click.option("--source", metavar="SOURCE", help="From this source."),
    click.option("--since", metavar="DATE", help="Not older than this day, time or span (7d, 12h)."),
    click.option("--until", metavar="DATE", help="Before this day or time."),
    click.option("--on", metavar="DATE", help="Of this day, month or year."),
    click.option("--as-of", metavar="DATE", help="As it was valid then."),
    click.option(
        "--min-importance", "importance_from", type=SHARE, metavar="0..1", help="Of at least this importance."
    ),
    click.option("--pinned/--unpinned", default=None, help="Pinned ones alone, or the others alone."),
    click.option("--trust", multiple=True, type=one_of(Trust), help="Believed so far. Repeatable: any of them."),
)
"""What a reading may be narrowed by; the names are those of `services.parse.parse_filter`."""

_OPTIONS: Final = {
    "tags": "tag",
    "all_tags": "all-tag",
    "entities": "entity",
    "importance_from": "min-importance",
    "as_of": "as-of",
}
"""Names of a filter whose option is called otherwise."""
_SHOWN: Final = 100
"""Characters of a value that an answer repeats."""

_TEXTS: Final = (
    click.option("--title", metavar="TEXT", help="A title of one line."),
    click.option("--description", metavar="TEXT", help="The question that should find it, in one line."),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag, commas and all. Repeatable."),
    click.option("--entity", "entities", multiple=True, metavar="NAME", help="Who or what it is about. Repeatable."),
    click.option("--importance", type=SHARE, metavar="0..1", help="How much it matters; 0.5 if not given."),
    click.option("--pinned/--unpinned", default=None, help="Whether tidying must leave it alone."),
    click.option("--path", metavar="PATH", help="A dotted topic, such as profile.skills."),
    click.option("--source", metavar="SOURCE", help="Where it comes from."),
)
_TIMES: Final = (
    click.option("--observed-at", metavar="DATE", help="When it happened."),
    click.option("--valid-from", metavar="DATE", help="From when it holds."),
    click.option("--valid-until", metavar="DATE", help="Until when it holds."),
    click.option("--meta", "metadata", multiple=True, metavar="KEY=VALUE", help="A field of your own. Repeatable."),
)
draft_fields = together(
    click.option("--kind", type=one_of(Kind), help="What sort of memory it is; semantic if not given."),
    *_TEXTS,
    click.option("--about", type=one_of(About), help="Whom or what it speaks of."),
    click.option("--position", type=int, metavar="N", help="Its place in the source, counted from 0."),
    click.option("--key", metavar="KEY", help="Your own key: the same key means the same memory."),
    *_TIMES,
    click.option("--scope", metavar=SCOPE, help="Whose it is: user, project:NAME, agent:NAME or team:NAME."),
)
patch_fields = together(
    click.option("--kind", type=one_of(Kind), help="What sort of memory it is."),
    *_TEXTS,
    click.option("--about", type=one_of(About, "none"), help="Whom or what it speaks of."),
    *_TIMES,
    click.option("--move-to", metavar=SCOPE, help="Whose it is from now on."),
)


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given, repeated ones as lists and `--meta` as an object."""
    values = {name: list(v) if isinstance(v, tuple) else v for name, v in options.items() if v is not None and v != ()}
    if "metadata" in values:
        values["metadata"] = _pairs(values["metadata"])
    return values


def spelled(name: str, value: Any) -> str:
    """Return an argument of a search as it is given on the command line."""
    option = _OPTIONS.get(name, name)
    if isinstance(value, bool):
        return f"--{option}" if value else f"--un{option}"
    values = value if isinstance(value, list | tuple) else [value]
    return " ".join(f"--{option} {_quoted(str(one))}" for one in values)


def _quoted(value: str) -> str:
    shown = printable(cut(value, _SHOWN))
    return f"'{shown}'" if " " in shown else shown


def text_or_stdin(words: Sequence[str], what: str) -> str:
    """Return the words of the command line as one text, joined by spaces.

    `-` alone reads standard input, as do no words at all off a terminal; one line break at its end is dropped.
    Raises `InvalidInput` for none on a terminal and for what is not UTF-8.
    """
    if words and tuple(words) != ("-",):
        return " ".join(words)
    if not words and sys.stdin is not None and sys.stdin.isatty():
        raise _missing(what)
    piped = _decoded(standard_input(what).read(), what)
    return piped[:-2] if piped.endswith("\r\n") else piped.removesuffix("\n")


def standard_input(what: str) -> BinaryIO:
    """Return what is piped in; raises `InvalidInput` where standard input is closed."""
    if sys.stdin is None:
        raise _missing(what)
    return sys.stdin.buffer


def _missing(what: str) -> InvalidInput:
    return InvalidInput(what, "it is missing", remedy="Give it as an argument, or pipe it in")


def _decoded(data: bytes, what: str) -> str:
    """Read UTF-8; a byte order mark tells UTF-16, which some shells write."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"standard input is not UTF-8 text (byte {error.start + 1:,})"
        raise InvalidInput(what, problem, remedy="Convert it first, for example with `iconv -t utf-8`") from None


def _pairs(texts: Iterable[str]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InvalidInput("meta", f"{text!r} is not KEY=VALUE")
        pairs[name.strip()] = value
    return pairs
