"""Markdown: notes with their header, which gives title and tags and is not searched."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, BinaryIO, Final

from zapomni.readers.base import Extract, Layout
from zapomni.readers.decode import MEGABYTE, decode, take
from zapomni.readers.titles import first_heading, shown, stem
from zapomni.text.frontmatter import frontmatter

if TYPE_CHECKING:
    from collections.abc import Collection

    from zapomni.readers.base import Reader

_PARTS: Final = re.compile(r"[,\s]+")


class _Markdown:
    name = "markdown"
    version = 1
    endings: Collection[str] = (".md", ".markdown", ".mdown", ".mdx")
    limit = 10 * MEGABYTE

    def read(self, file: BinaryIO, name: str) -> Extract:
        decoded = decode(take(file, self.limit))
        header = frontmatter(decoded.text)
        title = _word(header.values.get("title")) or first_heading(decoded.text, header.start)
        unread = (f"frontmatter cannot be read at {header.problem}",) if header.problem else ()
        return Extract(
            text=decoded.text,
            format=self.name,
            layout=Layout.MARKDOWN,
            start=header.start,
            title=title or shown(stem(name)),
            tags=_tags(header.values.get("tags")),
            date=_word(header.values.get("date")) or _word(header.values.get("created")),
            encoding=decoded.encoding,
            notes=(*decoded.notes, *unread),
        )


MARKDOWN: Final[Reader] = _Markdown()
"""Reads Markdown; the title is the header's, else the first heading of level one, else the name."""


def _tags(value: object) -> tuple[str, ...]:
    words = [_word(entry) for entry in value] if isinstance(value, list) else _PARTS.split(_word(value))
    return tuple(dict.fromkeys(tag for word in words if (tag := word.lstrip("#").strip())))


def _word(value: object) -> str:
    if not isinstance(value, str | int | float | date):
        return ""
    try:
        return shown(str(value))
    except ValueError:  # a number of thousands of digits
        return ""
