"""DOCX: the text of a Word document as Markdown."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, Final
from zipfile import BadZipFile, ZipFile

from zapomni.readers.base import Extract, Layout, Unreadable
from zapomni.readers.decode import MEGABYTE, take
from zapomni.readers.html import MISSING, to_markdown
from zapomni.readers.titles import first_heading, shown, stem

if TYPE_CHECKING:
    from collections.abc import Collection

    from zapomni.readers.base import Reader

UNPACKED_LIMIT: Final = 20 * MEGABYTE
"""Most bytes of all parts but pictures, unpacked: the parser takes some thirty times as much memory."""
PARTS_LIMIT: Final = 5_000
"""Most files in the archive."""
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf", ".svg", ".wdp")
_LOCKED: Final = b"\xd0\xcf\x11\xe0"
"""A document with a password is put into the container of old Office."""


class _Docx:
    name = "docx"
    version = 1
    endings: Collection[str] = (".docx",)
    limit = 10 * MEGABYTE

    def read(self, file: BinaryIO, name: str) -> Extract:
        data = take(file, self.limit)
        if data.startswith(_LOCKED):
            raise Unreadable("it is locked with a password, or an old .doc")
        _refuse_bomb(data)
        text = to_markdown(_to_html(data)).text
        return Extract(
            text=text,
            format=self.name,
            layout=Layout.MARKDOWN,
            title=first_heading(text) or shown(stem(name)),
            lined=False,
        )


DOCX: Final[Reader] = _Docx()
"""Reads the text of a document; the title is its first heading, else the name. Pictures are passed over."""


def _refuse_bomb(data: bytes) -> None:
    """Refuse by the sizes that the directory states, beyond which Python unpacks nothing."""
    try:
        with ZipFile(BytesIO(data)) as archive:
            parts = archive.infolist()
    except (BadZipFile, NotImplementedError, ValueError, OverflowError):
        raise Unreadable("it is no whole DOCX document: it is cut, damaged or something else") from None
    unpacked = sum(part.file_size for part in parts if not part.filename.lower().endswith(_PICTURES))
    if unpacked > UNPACKED_LIMIT or len(parts) > PARTS_LIMIT:
        raise Unreadable(f"unpacked it is larger than {UNPACKED_LIMIT // MEGABYTE} MB")


def _to_html(data: bytes) -> str:
    try:
        import mammoth  # type: ignore[import-untyped] # it has no stubs
    except ImportError:
        raise Unreadable(f"reading .docx {MISSING}") from None
    try:
        html = mammoth.convert_to_html(BytesIO(data), convert_image=lambda _: []).value
    except RecursionError:
        raise Unreadable("its parts are nested too deep") from None
    except Exception as error:  # noqa: BLE001 - whatever the parser meets in a broken document
        raise Unreadable(f"it is no DOCX document that can be read: {error}") from None
    assert isinstance(html, str)
    return html
