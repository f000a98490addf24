"""Bytes to text: the encoding that a file is really in, or the reason why it is no text."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from zapomni.readers.base import Unreadable
from zapomni.readers.encoding import WESTERN, tell
from zapomni.text.clean import REPLACEMENT, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

MEGABYTE: Final = 2**20
STRAY_SHARE: Final = 0.01
"""Most of a text that may be broken for it to be read with U+FFFD in those places; one place always may."""
CONTROL_SHARE: Final = 0.1
"""Most of a text that may be control characters; logs with colours and lists parted by NUL have 0.05."""

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""The mark of UTF-32 begins with that of UTF-16, so it stands before it."""
_NEVER_TEXT: Final = (
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\x7fELF", "a program (ELF)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document (OLE)"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xca\xfe\xba\xbe", "a Java class or a program (Mach-O)"),
    (b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
    (b"\0asm", "a WebAssembly module"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
)
_ALSO_WORDS: Final = (
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a sound, film or WebP image (RIFF)"),
    (b"OggS", "an Ogg sound"),
    (b"ID3", "an MP3 sound"),
    (b"BZh", "a bzip2 archive"),
    (b"MZ", "a program (Windows)"),
    (b"BM", "a bitmap image"),
)
"""Beginnings that a text may have too; they name what is binary by its control characters."""
_CONTROLS: Final = bytes([*range(8), 11, *range(14, 27), *range(28, 32), 127])
"""C0 and DEL without backspace, tab, line ends, form feed and escape."""
_DECLARABLE: Final = ("windows-", "cp", "iso-8859-", "koi8-", "gb", "big5", "shift-jis", "euc-", "mac")
"""Beginnings of the encodings of text that a file may name; Python knows others, some of them slow."""
_UNTOLD: Final = "its encoding cannot be told: save it as UTF-8"
_STRAY: Final = re.compile("[\udc80-\udcff]")
_CONTROL: Final = re.compile(f"[{re.escape(_CONTROLS.decode('ascii'))}]")


class Decoded(NamedTuple):
    """A text without its byte-order mark, its line ends as they are, and what was odd about it."""

    text: str
    encoding: str
    notes: tuple[str, ...]


def take(file: BinaryIO, limit: int) -> bytes:
    """Return all bytes of a file; raises `Unreadable` for more than `limit` of them and when it cannot be read."""
    try:
        data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(f"it cannot be read: {error}") from None
    if len(data) > limit:
        raise Unreadable(f"it is larger than {limit // MEGABYTE} MB")
    return data


def decode(data: bytes, declared: str = "") -> Decoded:
    """Return the text of a file's bytes; `declared` is the encoding that the file itself names, if it does.

    A byte-order mark is believed; then come UTF-8, UTF-16 without a mark where it is unmistakable, what is
    declared if all bytes fit it, and the single-byte encodings that `encoding.tell` knows. A few stray bytes
    and NULs become U+FFFD, one for one, and are noted. Raises `Unreadable` for what is binary and for an
    encoding that cannot be told.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _decode_marked(data[len(mark) :], name)
    _refuse_binary(data, _NEVER_TEXT)
    if wide := _wide_without_mark(data):
        return _decode_marked(data, wide)
    if _control_share(data) > CONTROL_SHARE:
        _refuse_binary(data, _ALSO_WORDS)
        raise Unreadable("it is binary data, not text")
    return _decode_bytes(data, declared)


def line_of(text: str, position: int) -> int:
    """Return the line, from 1, on which a character stands."""
    return text.count("\n", 0, position) + 1


def _refuse_binary(data: bytes, kinds: Sequence[tuple[bytes, str]]) -> None:
    for magic, kind in kinds:
        if data.startswith(magic):
            raise Unreadable(f"it is {kind}, not text")


def _control_share(data: bytes) -> float:
    return (len(data) - len(data.translate(None, _CONTROLS))) / len(data) if data else 0.0


def _wide_without_mark(data: bytes) -> str | None:
    """Latin and Cyrillic letters have 0 or 4 as the upper byte, which no other text holds at every second place."""
    if len(data) < 4 or len(data) % 2:  # noqa: PLR2004 - two letters
        return None
    head = data[: 64 * 1024]
    for name, upper, lower in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        spread = len(lower.translate(None, b"\0\4")) / len(lower)
        if len(upper.translate(None, b"\0\4\x20")) <= STRAY_SHARE * len(upper) and spread > 1 - CONTROL_SHARE:
            return name if upper.count(b"\x20") < len(upper) // 2 else None
    return None


def _decode_marked(data: bytes, name: str) -> Decoded:
    if name == "utf-8":
        if _control_share(data) > CONTROL_SHARE:
            raise Unreadable("it is binary data, not text")
        return _decode_bytes(data)
    text = data.decode(name, "replace")
    lost = text.count(REPLACEMENT) - data.decode(name, "ignore").count(REPLACEMENT)
    if lost > max(1, STRAY_SHARE * len(text)) or len(_CONTROL.findall(text)) > CONTROL_SHARE * len(text):
        raise Unreadable(f"it is not whole {name.upper()} text, though it begins as such")
    notes = [f"places that are not {name.upper()}, now U+FFFD: {lost}"] if lost else []
    return _stored(text, name, notes)


def _decode_bytes(data: bytes, declared: str = "") -> Decoded:
    try:
        return _stored(data.decode("utf-8"), "utf-8", [])
    except UnicodeDecodeError:
        return _decode_declared(data, declared) or _decode_broken(data)


def _decode_declared(data: bytes, declared: str) -> Decoded | None:
    name = declared.lower().replace("_", "-")
    name = WESTERN if name in {"iso-8859-1", "latin1", "us-ascii"} else name
    if not name.startswith(_DECLARABLE):
        return None
    try:
        return _stored(data.decode(name), name, [])
    except (LookupError, UnicodeDecodeError):
        return None


def _decode_broken(data: bytes) -> Decoded:
    text = data.decode("utf-8", "surrogateescape")
    stray = len(data) - len(data.decode("utf-8", "ignore").encode())
    few = stray <= max(1, STRAY_SHARE * len(text))
    whole = len(data) - stray - len(data.translate(None, bytes(range(128, 256))))
    if not (few and whole > stray) and (name := tell(data)):
        return _decode_single(data, name)
    if not few:
        raise Unreadable(_UNTOLD)
    first = _STRAY.search(text)
    assert first is not None
    where = f"the first on line {line_of(text, first.start())}"
    return _stored(_STRAY.sub(REPLACEMENT, text), "utf-8", [f"bytes that are not UTF-8, now U+FFFD: {stray}, {where}"])


def _decode_single(data: bytes, name: str) -> Decoded:
    text = data.decode(name, "replace")
    lost = text.count(REPLACEMENT)
    if lost > STRAY_SHARE * len(text):
        raise Unreadable(_UNTOLD)
    return _stored(text, name, [f"bytes that are not {name}, now U+FFFD: {lost}"] if lost else [])


def _stored(text: str, name: str, notes: list[str]) -> Decoded:
    cleaned, changes = clean(text)
    return Decoded(cleaned, name, (*notes, *changes))
