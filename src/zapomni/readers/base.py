"""What a reader of files must do: the extension point `zapomni.readers`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, BinaryIO, Protocol

from msgspec import Struct

from zapomni.errors import ZapomniError

if TYPE_CHECKING:
    from collections.abc import Collection


class Unreadable(ZapomniError):
    """A file that is not what its name says, is locked, cut or too large; the message is the reason alone."""

    code = "unreadable"


class Layout(StrEnum):
    """How a text is best cut into pieces."""

    MARKDOWN = "markdown"
    LINES = "lines"
    PROSE = "prose"


class Extract(Struct, frozen=True, kw_only=True):
    """The text of one file and what is known about it.

    `text` is the whole decoded file, its line ends as they are, without a byte-order mark; `start` is where
    the body begins behind a header that is not to be searched. `lined` tells whether the lines of `text` are
    those of the file, `pages` at which character each page begins. `notes` say what was odd, with the line
    where it stands; nothing is mended in the file. `date` is the one that a header gives, as it is written.
    """

    text: str
    format: str
    layout: Layout
    start: int = 0
    title: str = ""
    tags: tuple[str, ...] = ()
    date: str = ""
    encoding: str = ""
    lined: bool = True
    pages: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class Reader(Protocol):
    """Reads files of one format.

    An entry point in the group `zapomni.readers` names an instance. Making and asking one loads nothing; the
    library behind a format is loaded when the first file of it is read.
    """

    name: str
    """The format's name, as documents show it."""
    version: int
    """Grows whenever the same file would give another text, so that files are read again."""
    endings: Collection[str]
    """The endings it reads, lower case with their dot."""
    limit: int
    """Most bytes of a file."""

    def read(self, file: BinaryIO, name: str) -> Extract:
        """Return what the file says; `name` is its last part, for messages and defaults.

        Takes no more memory than a small multiple of `limit`. Raises `Unreadable`, and nothing else, for any
        bytes at all.
        """
