"""A folder of memories as it lies on the disk: its index, the leaves of that, and its notes."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from zapomni.files.names import real_path
from zapomni.files.rules import Rules
from zapomni.files.tree import Tree
from zapomni.files.walk import walk
from zapomni.model.document import Skipped
from zapomni.services.find import everything_in
from zapomni.services.mirror.look import SIZE_LIMIT, is_note
from zapomni.services.vault.pages import mark
from zapomni.text.index_cut import INDEX, is_leaf
from zapomni.text.notes import Note, parse_note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.files.walk import Found
    from zapomni.model.document import Source
    from zapomni.services.context import Context

NOTES: Final = ("*.md",)


class NoteFile(Struct, frozen=True, kw_only=True):
    """One note: its path under the root, its size in bytes and their SHA-256, when it was changed last, what it says.

    `body_line` is the line of the file with which the body begins, from 1.
    """

    path: str
    size: int
    sha256: str
    changed_at: datetime
    note: Note
    body_line: int = 1

    @property
    def name(self) -> str:
        """What it is called: by its header, or else by its file."""
        return self.own_name or self.stem

    @property
    def own_name(self) -> str:
        """What its header calls it, empty where that has no name."""
        return self.note.name

    @property
    def bare_path(self) -> str:
        """Its path without the ending."""
        return self.path.removesuffix(".md")

    @property
    def stem(self) -> str:
        """The name of its file without the ending."""
        return self.bare_path.rpartition("/")[2]


class Folder(Struct, frozen=True, kw_only=True):
    """`pages` are the index under `INDEX`, where there is one, and its leaves, each as its text by its path."""

    root: str
    pages: Mapping[str, str]
    notes: tuple[NoteFile, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def index(self) -> str:
        """The text of the index, empty where there is none."""
        return self.pages.get(INDEX, "")

    @property
    def leaves(self) -> Mapping[str, str]:
        """The texts of its leaves by their paths."""
        return {path: text for path, text in self.pages.items() if path != INDEX}


def read_folder(root: str, *, include: Sequence[str] = NOTES, exclude: Sequence[str] = ()) -> Folder:
    """Read every note of a folder. What cannot be read is among `skipped` with the reason.

    Raises `NotFound` for a root that is not there, `Unavailable` for one that cannot be read.
    """
    tree = Tree(real_path(root))
    found = walk(root, Rules.of(include, exclude), limit=lambda _: SIZE_LIMIT)
    pages: dict[str, str] = {}
    notes: list[NoteFile] = []
    skipped = list(found.skipped)
    for file in found.files:
        try:
            with tree.open(file.path) as opened:
                text = opened.read(SIZE_LIMIT).decode("utf-8")
        except UnicodeDecodeError:
            skipped.append(Skipped(path=file.path, reason="it is not UTF-8"))
            continue
        except OSError as error:
            skipped.append(Skipped(path=file.path, reason=f"it cannot be read ({error.strerror or error})"))
            continue
        if file.path == INDEX or is_leaf(text):
            pages[file.path] = text
        elif is_note(file.path):
            notes.append(_note(file, text))
    return Folder(root=tree.root, pages=pages, notes=tuple(notes), skipped=tuple(skipped))


def births(context: Context, source: Source) -> dict[str, datetime]:
    """Return when the memory of each file of a mirrored folder was made, by path."""
    ids = {path: row.memory_id for path, row in context.store.mirrors.agreed(source.id).items() if row.memory_id}
    found = context.store.get(list(ids.values()), everything_in((source.scope,)))
    made = {memory.id: memory.created_at for memory in found}
    return {path: made[one] for path, one in ids.items() if one in made}


def links_to(notes: Sequence[NoteFile]) -> dict[str, str]:
    """Return which note a `[[link]]` means, by `link_key`: its path, its name or its file; the first of a name wins."""
    found: dict[str, str] = {}
    for spelled in map(attrgetter, ("bare_path", "own_name", "stem")):
        for note in notes:
            found.setdefault(link_key(spelled(note)), note.path)
    found.pop("", None)
    return found


def link_key(link: str) -> str:
    """Return the form in which links and names are equal: as Obsidian compares, letter case apart."""
    return unicodedata.normalize("NFC", link.strip()).casefold().removesuffix(".md")


def _note(file: Found, text: str) -> NoteFile:
    note = parse_note(text)
    above = len(text.rstrip().split("\n")) - len(note.body.rstrip().split("\n"))
    changed = datetime.fromtimestamp(file.modified_ns / 1e9, UTC)
    return NoteFile(
        path=file.path, size=file.size, sha256=mark(text), changed_at=changed, note=note, body_line=above + 1
    )
