"""Material: what is to be ingested, read from a text or a file, without its secrets before anything else sees it."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO, Final

from msgspec import Struct

from zapomni.errors import InvalidInput
from zapomni.llm.base import Image
from zapomni.model import NAME_LIMIT, Redaction
from zapomni.readers.base import Unreadable
from zapomni.readers.images import is_image_name, media_type, read_image
from zapomni.readers.registry import reader_for
from zapomni.services.documents.scan import digest_of
from zapomni.services.reading.dating import written_at
from zapomni.text.clean import clean, is_blank, preview
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from datetime import datetime

    from zapomni.services.reading.dating import Moment

SOURCE_LIMIT: Final = 4 * NAME_LIMIT
"""Most characters of a source, as the write gateway takes it."""
_HEAD: Final = 8_192


class Material(Struct, frozen=True, kw_only=True):
    """A text or an image with where it comes from; `path` is that of a file under its source's root.

    `sha256` is that of the bytes as they were given. `notes` say what was odd about a file. `said_at` is when it was
    said, where somebody or the file itself told that: its "yesterday" is counted from then, not from the reading.
    """

    source: str
    sha256: str
    text: str = ""
    image: Image | None = None
    title: str = ""
    path: str | None = None
    redactions: tuple[Redaction, ...] = ()
    notes: tuple[str, ...] = ()
    said_at: datetime | None = None


def material_of_text(text: str, *, source: str) -> Material:
    """Return a text that was given; raises `InvalidInput` for a blank one, and for a source that is none."""
    cleaned, notes = clean(text)
    if is_blank(cleaned):
        raise InvalidInput("text", "it is blank", remedy="Give the text that should be read")
    bare, rules = redact(cleaned)
    return Material(
        source=checked_source(source),
        sha256=sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        text=bare,
        redactions=tuple(Redaction(rule=rule, field="text") for rule in rules),
        notes=tuple(notes),
    )


def material_of_file(
    file: BinaryIO, name: str, moment: Moment, *, source: str, path: str | None = None, mark: str | None = None
) -> Material:
    """Read a file by the reader of its name, or as the image that it is; `mark` is its SHA-256 where it is known.

    `moment` says by what it is told when the file was written. Raises `Unreadable` for what is neither, or holds no
    text.
    """
    file.seek(0)
    mark = mark or digest_of(file)
    file.seek(0)
    head = file.read(_HEAD)
    file.seek(0)
    if is_image_name(name) or media_type(head):
        data, kind = read_image(file)
        image, said_at = Image(data=data, media_type=kind), written_at("", name, moment)
        return Material(source=source, sha256=mark, image=image, path=path, said_at=said_at)
    extract = reader_for(name, head).read(file, name)
    cleaned, changed = clean(extract.text)
    if is_blank(cleaned):
        raise Unreadable("it holds no text")
    bare, rules = redact(cleaned)
    return Material(
        source=source,
        sha256=mark,
        text=bare,
        title=redact(extract.title)[0],
        path=path,
        redactions=tuple(Redaction(rule=rule, field="text") for rule in rules),
        notes=(*extract.notes, *changed),
        said_at=written_at(extract.date, name, moment),
    )


def checked_source(source: str) -> str:
    """Return the name of a source as one line; raises `InvalidInput` for a blank or too long one."""
    name = preview(source, SOURCE_LIMIT + 1)
    if is_blank(name) or len(name) > SOURCE_LIMIT:
        raise InvalidInput("source", f"it must be one line of 1 to {SOURCE_LIMIT} characters")
    return redact(name)[0]
