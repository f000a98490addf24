"""What a store must do for mirrored folders: the last agreed state of each file, and the files that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zapomni.model import Scope
    from zapomni.model.mirror import Agreed, KeptLine, Moves, Removed


class Standing(NamedTuple):
    """A memory as a look from above sees it: its version, whether it is deleted, whether a new file is made for it.

    None is made for one that is rejected, superseded, a candidate, or no longer valid.
    """

    version: int
    deleted: bool
    shown: bool


class MirrorWrites(Protocol):
    """The writes of mirrored folders inside an open transaction (`Tx.mirrors`)."""

    def agree(self, source_id: str, agreed: Agreed, text: str | None) -> None:
        """Keep what was agreed of a file, in place of what stood of its path; `text` is what it says.

        None keeps the text that stands there. A source that was removed meanwhile is left removed.
        """

    def forget(self, source_id: str, paths: Iterable[str]) -> None:
        """Forget files."""

    def keep(self, source_id: str, removed: Removed) -> None:
        """Keep a file that is gone, in place of what was kept of its memory."""

    def let_go(self, source_id: str, memory_id: str) -> None:
        """Forget the gone file of a memory."""

    def keep_lines(self, source_id: str, memory_id: str, lines: Sequence[KeptLine]) -> None:
        """Keep the lines of an index that go with a memory, in place of what was kept of it; none forget those."""

    def owe(self, source_id: str, step: int, moves: Moves) -> None:
        """Keep that the index does not yet say where these files went; moves of one step are all at once."""

    def intend(self, source_id: str, step: int, marks: Mapping[str, str]) -> None:
        """Keep by which hash each page is known once it says what is owed up to a step, in place of what was kept."""

    def pay(self, source_id: str, step: int) -> None:
        """Forget the steps that are owed up to this one, and what was intended: the index says so."""


class Mirrors(Protocol):
    """The mirrored folders of one store; methods may be called from any thread. Raises what `Store` raises."""

    def agreed(self, source_id: str) -> dict[str, Agreed]:
        """Return what was agreed of the files of a source, by path."""

    def texts(self, source_id: str, paths: Iterable[str]) -> dict[str, str]:
        """Return what files said when they were agreed; those of erased memories are left out."""

    def removed(self, source_id: str) -> dict[str, str]:
        """Return the SHA-256 of the files that are gone, by the ids of their memories."""

    def removed_file(self, source_id: str, memory_id: str) -> Removed | None:
        """Return the gone file of a memory."""

    def kept_lines(self, source_id: str) -> dict[str, tuple[KeptLine, ...]]:
        """Return the lines of the index that went with their memories, by the ids of those."""

    def returning_lines(self, source_id: str) -> dict[str, tuple[KeptLine, ...]]:
        """Return those of memories that have a file again, by its path."""

    def intended(self, source_id: str) -> dict[str, tuple[int, str]]:
        """Return up to which step each page that was to be written says what is owed, and its hash then."""

    def owed(self, source_id: str) -> dict[int, Moves]:
        """Return the steps that the index does not show yet, oldest first."""

    def standing(self, scope: Scope) -> Mapping[str, Standing]:
        """Return every memory of a scope, deleted ones too, by id, oldest first."""

    def pulse(self, scope: Scope) -> object:
        """Return a value that is another once any memory of a scope is."""
