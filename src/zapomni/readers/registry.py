"""From a file's name to its reader: ours by ending, those of other packages before them."""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from zapomni.readers.titles import ending

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zapomni.readers.base import Reader

GROUP: Final = "zapomni.readers"
BUILT_IN: Final = (
    "zapomni.readers.plain:TEXT",
    "zapomni.readers.plain:DATA",
    "zapomni.readers.markdown:MARKDOWN",
    "zapomni.readers.notebook:NOTEBOOK",
    "zapomni.readers.html:HTML",
    "zapomni.readers.docx:DOCX",
    "zapomni.readers.pdf:PDF",
)
"""Found without the metadata of installed packages, which an unpacked source tree does not have."""
_PDF: Final = b"%PDF-"
_LOG = logging.getLogger(__name__)


def reader_for(name: str, head: bytes) -> Reader:
    """Return the reader of a file by the ending of its name; `head` are its first bytes.

    A name without a known ending is a PDF where it begins as one, else text, whose reader says what it is if
    it is none. What an ending promises and a file does not hold, its reader refuses. A reader of another
    package that fails to load is named in a warning and passed over.
    """
    readers = by_ending()
    return readers.get(ending(name)) or readers[".pdf" if head.startswith(_PDF) else ".txt"]


def limit_of(name: str) -> int:
    """Return the most bytes that a file of this name may have to be read."""
    readers = by_ending()
    return (readers.get(ending(name)) or readers[".txt"]).limit


def version_of(format_name: str) -> int:
    """Return the version of the reader of this name, 0 when there is none any more."""
    return next((reader.version for reader in by_ending().values() if reader.name == format_name), 0)


@cache
def by_ending() -> Mapping[str, Reader]:
    """Return the reader of each known ending; loads the readers once, but no library behind them."""
    return {ending: reader for reader in (*_built_in(), *_of_others()) for ending in reader.endings}


def _built_in() -> Iterator[Reader]:
    for place in BUILT_IN:
        module, _, name = place.partition(":")
        yield cast("Reader", getattr(import_module(module), name))


def _of_others() -> Iterator[Reader]:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        if point.value in BUILT_IN:
            continue
        try:
            reader = point.load()
            named = (reader.name, reader.version, reader.endings, reader.limit, reader.read)
        except Exception as error:  # noqa: BLE001 - another package may fail in any way
            _LOG.warning("the reader %r (%s) is passed over, it cannot be loaded: %s", point.name, point.value, error)
            continue
        assert named
        yield reader
