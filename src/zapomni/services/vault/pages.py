"""The pages of an index on the disk: what its notes are as cards, reading the pages, and writing those that changed."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from zapomni.errors import Unavailable
from zapomni.files.writing import write_file
from zapomni.model import About
from zapomni.text.index_cut import INDEX, Card, is_leaf
from zapomni.text.index_page import entry_of, parse_index, target_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zapomni.files.tree import Tree
    from zapomni.model import Memory
    from zapomni.services.vault.folder import Folder

LIMIT: Final = 2**20
"""Most bytes of a page; a harness loads a fortieth of it."""
_ACTS: Final = (About.USER, About.FEEDBACK)
"""What must act though nobody asks for it: who the owner is, and how to work (features B-8, B-15)."""


def cards_of_folder(folder: Folder) -> list[Card]:
    """Return the notes of a folder as its files have them, by path."""
    return [
        _card(one.path, one.name, one.note.description, one.note.about, one.note.body, pinned=one.note.pinned)
        for one in folder.notes
    ]


def card_of(path: str, memory: Memory) -> Card:
    """Return the memory of a mirrored file as a card."""
    return _card(path, memory.title, memory.description, memory.about, memory.content, pinned=memory.pinned)


def read_pages(tree: Tree) -> dict[str, str]:
    """Return the index of a folder and the leaves it leads to; empty where there is no index.

    Raises `Unavailable` for an index that cannot be read or is not UTF-8.
    """
    try:
        pages = {INDEX: _read(tree, INDEX)}
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        problem = f"{INDEX} is not UTF-8 (byte {error.start + 1})"
        raise Unavailable(problem, remedy="Convert it by hand") from None
    except OSError as error:
        raise Unavailable(
            f"{INDEX} cannot be read ({error.strerror or error})", remedy="Mend the file by hand"
        ) from None
    for line in parse_index(pages[INDEX]).entries:
        path = target_key(line.entry.target) if line.entry else ""
        if path.startswith("index-") and path not in pages:
            try:
                text = _read(tree, path)
            except (OSError, UnicodeDecodeError):
                continue
            if is_leaf(text):
                pages[path] = text
    return pages


def write_pages(tree: Tree, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Write the pages that say something else than before, the index last; return their paths.

    Raises `Conflict` when a page was changed meanwhile, `Unavailable` when one cannot be written.
    """
    changed = [path for path, text in after.items() if before.get(path) != text]
    for path in sorted(changed, key=lambda path: (path == INDEX, path)):
        was = before.get(path)
        write_file(tree, path, after[path].encode(), was=None if was is None else mark(was))
    return tuple(changed)


def mark(text: str) -> str:
    """Return the SHA-256 by which a page is known to be as it was read."""
    return sha256(text.encode()).hexdigest()


def _card(path: str, title: str, description: str, about: About | None, body: str, *, pinned: bool) -> Card:
    first, slash, _ = path.partition("/")
    words = description or next((line for line in body.splitlines() if line.strip()), "")
    return Card(
        entry=entry_of(title or path.rpartition("/")[2].removesuffix(".md"), path, words),
        core=pinned or about in _ACTS,
        topic=first if slash else "",
        about=about.value if about is not None and about not in _ACTS else "",
    )


def _read(tree: Tree, path: str) -> str:
    with tree.open(path) as file:
        data = file.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise OSError(f"it has more than {LIMIT:,} bytes")
    return data.decode("utf-8")
