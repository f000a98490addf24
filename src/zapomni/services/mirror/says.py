"""What a note says as a memory, and what a memory says as a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from zapomni.model import Draft
from zapomni.readers.titles import first_heading, shown, stem
from zapomni.services.prepare import Prepared, prepare
from zapomni.text.clean import is_blank
from zapomni.text.notes import Note, fitting, new_note, parse_note, plain_body, slug
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zapomni.model import Memory

TOPIC_MARK: Final = "."
"""Stands between the parts of a topic path, where a folder has `/`."""
_ALWAYS: Final = ("content",)
_HEADED: Final = ("content", "title", "description", "about", "pinned")
_OPTIONAL: Final = ("kind", "tags", "importance")


class Said(Struct, frozen=True, kw_only=True):
    """A note that was read: the draft of its memory, and the fields of it that the file itself carries.

    The others (the title of a note without a header, the tags of one that has none) are what a new memory begins with;
    later they are the memory's own. `held` tells that something was cut out of it that only the file may hold.
    """

    note: Note
    prepared: Prepared
    carried: tuple[str, ...]
    held: bool

    @property
    def draft(self) -> Draft:
        """The memory that it would be."""
        draft: Draft = self.prepared.values
        return draft

    def says_as(self, other: Said) -> bool:
        """Tell whether two notes carry the same fields and say the same in them."""
        return self.carried == other.carried and all(
            getattr(self.draft, name) == getattr(other.draft, name) for name in self.carried
        )

    def differs(self, memory: Memory) -> dict[str, Any]:
        """Return the carried fields in which a memory says something else, as the note has them."""
        return {name: value for name in self.carried if (value := getattr(self.draft, name)) != _of(memory, name)}

    def wanted(self, memory: Memory) -> dict[str, Any]:
        """Return the carried fields in which a memory says something else, as the memory has them."""
        return {name: _of(memory, name) for name in self.differs(memory)}


def said(text: str, path: str) -> Said:
    """Read a note of a path as a memory.

    Raises `InvalidInput` for one that cannot be a memory: it is over a limit, or holds nothing.
    """
    note = parse_note(text)
    name = stem(path.rpartition("/")[2])
    title = "" if note.untitled else note.name or first_heading(note.body) or shown(name)
    values: dict[str, Any] = {
        "content": note.body if not is_blank(note.body) else note.description or title or name,
        "title": title,
        "description": note.description,
        "about": note.about,
        "pinned": note.pinned,
        "path": topic_of(path),
    }
    optional = {name: getattr(note, name) for name in _OPTIONAL if getattr(note, name) is not None}
    carried = (*(_HEADED if note.header else _ALWAYS), *optional)
    in_header = redact(note.header)[1]  # before the body, which the index would else part again: 25 us a note
    prepared = prepare(Draft(**values | optional))
    held = bool(prepared.redactions) or bool(in_header)
    return Said(note=note, prepared=prepared, carried=carried, held=held)


def note_fields(changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return changed fields of a memory as `edited_note` takes them."""
    fields = dict(changed)
    if "content" in fields:
        fields["body"] = fields.pop("content")
    return fields


def note_of(memory: Memory, name: str) -> str:
    """Return a memory as a note of our own, in a file of this name."""
    return new_note(
        name=fitting(memory.title, name) if memory.title else name,
        title=memory.title,
        description=memory.description,
        about=memory.about,
        pinned=memory.pinned,
        body=memory.content,
        memory_id=memory.id,
        kind=memory.kind,
        tags=memory.tags,
        importance=memory.importance,
    )


def name_of(memory: Memory) -> str:
    """Return what the file of a memory is called, without its ending."""
    first = memory.content.strip().partition("\n")[0]
    return slug(memory.title or first, memory.id)


def topic_of(path: str) -> str | None:
    """Return the topic path of a file: its folders with dots between, None in the root."""
    folders = path.split("/")[:-1]
    return TOPIC_MARK.join(folder.replace(TOPIC_MARK, "_") for folder in folders) or None


def folder_of(topic: str | None) -> str:
    """Return the folder of a topic path, relative to the root."""
    parts = [part.strip() for part in (topic or "").replace("/", TOPIC_MARK).split(TOPIC_MARK)]
    return "/".join(slug(part, "topic") for part in parts if part)


def _of(memory: Memory, name: str) -> Any:
    return plain_body(memory.content) if name == "content" else getattr(memory, name)
