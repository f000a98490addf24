"""PDF: the text of its pages, through PDFium in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, Final

from zapomni.readers.base import Extract, Layout, Unreadable
from zapomni.readers.decode import MEGABYTE, take
from zapomni.readers.titles import shown, stem
from zapomni.text.clean import clean, is_blank

if TYPE_CHECKING:
    from collections.abc import Collection

    from zapomni.readers.base import Reader

TEXT_LIMIT: Final = 50 * MEGABYTE
"""Most characters of all pages: a small file can repeat one page without end."""
PAGE_LIMIT: Final = 20_000
"""Most pages of a file; the longest manuals have a few thousand."""
MEMORY_LIMIT: Final = 1024 * MEGABYTE
"""Most bytes that the process may take, ten times the largest file; 62 KB can unpack to gigabytes. POSIX alone."""
SECONDS: Final = 60
"""Most seconds for one file; a manual of 300 pages takes less than one."""
_BETWEEN: Final = "\n\n"
_CHILD: Final = Path(__file__).with_name("_pdf_child.py")
_ONE: Final = Lock()
"""One process at a time, whatever the number of threads: each may take all that `MEMORY_LIMIT` allows."""


class _Pdf:
    name = "pdf"
    version = 1
    endings: Collection[str] = (".pdf",)
    limit = 100 * MEGABYTE

    def read(self, file: BinaryIO, name: str) -> Extract:
        data = take(file, self.limit)
        with _ONE:
            lines = _asked(data)
        title, *raw = map(_value, lines)
        pages = [_tidy(page) for page in raw]
        if all(is_blank(page) for page in pages):
            raise Unreadable("it has no text, only images (scanned?): its words cannot be searched")
        starts, at = [], 0
        for page in pages:
            starts.append(at)
            at += len(page) + len(_BETWEEN)
        first_line = next(page for page in pages if not is_blank(page)).strip().partition("\n")[0]
        return Extract(
            text=_BETWEEN.join(pages),
            format=self.name,
            layout=Layout.PROSE,
            title=shown(title) or shown(first_line) or shown(stem(name)),
            lined=False,
            pages=tuple(starts),
        )


PDF: Final[Reader] = _Pdf()
"""Reads the text of each page; the title is that of the file's properties, else the first line, else the name."""


def _asked(data: bytes) -> list[bytes]:
    """Have a process read the document and return its lines; `-P`, for the modules beside the script are no library."""
    limits = map(str, (MEMORY_LIMIT, SECONDS, PAGE_LIMIT, TEXT_LIMIT))
    command = [sys.executable, "-P", str(_CHILD), *limits]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    try:
        done = subprocess.run(command, input=data, stdout=pipe, stderr=quiet, timeout=SECONDS, check=True)
    except subprocess.SubprocessError:
        raise Unreadable("it takes more memory or time than a document may") from None
    except OSError as error:
        raise Unreadable(f"the process that reads PDF documents cannot be started: {error}") from error
    return done.stdout.splitlines()


def _value(line: bytes) -> str:
    value = json.loads(line)
    if isinstance(value, dict):
        raise Unreadable(value["refused"])
    assert isinstance(value, str)
    return value


def _tidy(text: str) -> str:
    r"""Return the lines of a page; PDFium ends them with CR LF and writes U+FFFE for a hyphen at a line's end."""
    return clean(text.replace("\r\n", "\n").replace("\ufffe\n", "").replace("\ufffe", "").replace("\f", "\n"))[0]
