"""One edit of one settings file: what every edit can do, and what it says of itself. Pure: texts in, texts out.

A text has no byte-order mark; an absent or blank file is a blank text. Every edit is exact: what it takes out again
leaves, byte for byte, the text that it was put into.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import Struct, field

from zapomni.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NAME: Final = "zapomni"
"""What our entry is called in every client: short, and of the letters that all of them accept."""


class State(StrEnum):
    """What a file holds of ours."""

    ABSENT = "absent"
    WIRED = "wired"
    CHANGED = "changed"
    FOREIGN = "foreign"


class Named(Struct, frozen=True, kw_only=True):
    """Our entry under `NAME`, whatever the format of its file.

    `ours` tells one that starts zapomni, `same` one that starts it as wanted, `renewed` brings another one up to date.
    """

    value: Mapping[str, Any]
    ours: Callable[[Any], bool]
    same: Callable[[Any, Any], bool]
    renewed: Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]

    def standing(self, found: Any) -> State:
        """Tell what it is that stands under our name."""
        if not self.ours(found):
            return State.FOREIGN
        return State.WIRED if self.same(found, self.value) else State.CHANGED


class Written(Struct, frozen=True, kw_only=True):
    """A text with our entry in it, and which of its containers were empty or missing before."""

    text: str
    blanks: Mapping[str, str | None] = field(default_factory=dict)


class Edit(Protocol):
    """One thing of ours in one file."""

    def state(self, text: str) -> State:
        """Tell whether the text holds what this edit would write, another version of ours, or somebody else's.

        Raises `Refused` for a text that cannot be read.
        """

    def put(self, text: str) -> Written:
        """Return the text with our entry in it; the same text when it is there already.

        Raises `Refused` for a text that cannot be read or edited safely, and where our name is somebody else's.
        """

    def drop(self, text: str, blanks: Mapping[str, str | None]) -> str:
        """Return the text without our entry; the same text when there is none.

        `blanks` are those of `put`. Raises `Refused` as `put` does.
        """


def line_end(text: str) -> str:
    """Return the line end that a text uses: that of its first line."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def unreadable(what: str, error: object) -> Refused:
    """Return the error of a file that is not what its name says."""
    return Refused(f"it is no {what} that can be read ({error})", remedy="Mend it, then run the command again")


def taken(where: str) -> Refused:
    """Return the error of a place that holds somebody else's entry of our name."""
    return Refused(
        f"{where} is called {NAME} and does not start zapomni", remedy="Rename or remove that entry, then run it again"
    )


def unsafe(what: str) -> Refused:
    """Return the error of a file whose shape leaves no place to write into."""
    return Refused(f"{what}, so nothing can be added without rewriting it", remedy="Add the entry by hand")
