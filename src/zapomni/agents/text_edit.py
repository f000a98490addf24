"""Our block among the instructions of a Markdown file, and files that are ours as a whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.agents.edits import NAME, State, Written, line_end
from zapomni.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

BEGIN: Final = "<!-- zapomni:begin -->"
END: Final = "<!-- zapomni:end -->"
"""Between these two lines a file of instructions is ours; the rest of it is never touched."""

_BLOCK: Final = re.compile(rf"{BEGIN}(?:(?!{BEGIN}).)*?{END}", re.DOTALL)  # a mark that lost its other is no block


class Block(Struct, frozen=True, kw_only=True):
    """A block between two marks at the end of a file of instructions."""

    content: str

    def state(self, text: str) -> State:
        """Tell whether the block stands there, and says what it should."""
        found = _BLOCK.findall(text)
        if not found:
            return State.ABSENT
        return State.WIRED if found == [self._block(text)] else State.CHANGED

    def put(self, text: str) -> Written:
        """Append the block behind a blank line, or bring it up to date where it stands."""
        block = self._block(text)
        if found := _BLOCK.search(text):
            rest = self.drop(text[found.end() :], {})
            return Written(text=text[: found.start()] + block + rest)
        end = line_end(text)
        if not text or text.endswith("\n"):
            return Written(text=f"{text}{end if text else ''}{block}{end}")
        return Written(text=f"{text}{end}{end}{block}")

    def drop(self, text: str, blanks: Mapping[str, str | None]) -> str:  # noqa: ARG002 - a block leaves no blanks
        """Remove every block with the line ends that it brought."""
        while found := _BLOCK.search(text):
            text = _joined(text[: found.start()], text[found.end() :])
        return text

    def _block(self, text: str) -> str:
        return line_end(text).join([BEGIN, *self.content.strip("\n").split("\n"), END])


def _joined(before: str, after: str) -> str:
    if not after:
        return re.sub(r"(?:\r?\n){1,2}\Z", "", before)
    return re.sub(r"(?<=\n)\r?\n\Z", "", before) + re.sub(r"\A\r?\n", "", after)


class Whole(Struct, frozen=True, kw_only=True):
    """A file that is ours from its first to its last character; `mark` is what tells it from somebody else's."""

    content: str
    mark: str = NAME

    def state(self, text: str) -> State:
        """Tell whether the file is there, is ours, and says what it should."""
        if not text.strip():
            return State.ABSENT
        if self.mark not in text:
            return State.FOREIGN
        return State.WIRED if text == self.content else State.CHANGED

    def put(self, text: str) -> Written:
        """Return our file; raises `Refused` where somebody else's has its name."""
        if self.state(text) is State.FOREIGN:
            raise Refused("a file of this name is there and is not ours", remedy="Move it away, then run it again")
        return Written(text=self.content)

    def drop(self, text: str, blanks: Mapping[str, str | None]) -> str:  # noqa: ARG002 - a whole file leaves no blanks
        """Return a blank text where the file is ours."""
        return text if self.state(text) is State.FOREIGN else ""
