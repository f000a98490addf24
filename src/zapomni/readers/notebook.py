"""Jupyter notebooks: the sources of their cells as Markdown, without what the code printed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from zapomni.readers.base import Extract, Layout, Unreadable
from zapomni.readers.decode import MEGABYTE, decode, take
from zapomni.readers.titles import first_heading, shown, stem
from zapomni.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from zapomni.readers.base import Reader


class _Notebook:
    name = "notebook"
    version = 1
    endings: Collection[str] = (".ipynb",)
    limit = 10 * MEGABYTE

    def read(self, file: BinaryIO, name: str) -> Extract:
        decoded = decode(take(file, self.limit))
        text = clean("\n\n".join(_cells(decoded.text)))[0]
        return Extract(
            text=text,
            format=self.name,
            layout=Layout.MARKDOWN,
            title=first_heading(text) or shown(stem(name)),
            encoding=decoded.encoding,
            lined=False,
            notes=decoded.notes,
        )


NOTEBOOK: Final[Reader] = _Notebook()
"""Reads the cells of a notebook; the title is their first heading, else the name."""


def _cells(text: str) -> Iterator[str]:
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable("it is no notebook: its JSON cannot be read") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("it is no notebook of version 4: it has no cells")
    for cell in cells:
        if isinstance(cell, dict) and (source := _source(cell.get("source"))):
            yield f"```\n{source}\n```" if cell.get("cell_type") == "code" else source


def _source(value: Any) -> str:
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str)).strip("\n")
