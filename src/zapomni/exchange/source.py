"""Opening what is imported: a file or a pipe, its format, and its JSON objects with the lines they stand on."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from contextlib import contextmanager
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from zapomni.errors import InvalidInput, NotFound, Unavailable
from zapomni.exchange.entries import Format, Line, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.exchange.entries import Lines

LINE_LIMIT: Final = 16 * 2**20
"""Most bytes of one line; the largest memory with all its fields takes less than one of them."""
_IN_MEMORY: Final = 8 * 2**20
_BOM: Final = b"\xef\xbb\xbf"
_SQLITE: Final = b"SQLite format 3\0"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_SNIFFED: Final = 100  # a file whose first hundred lines are all broken is no file of ours


class Source:
    """The bytes of one import, read as often as needed; the mark at their start is passed over."""

    def __init__(self, name: str, stream: BinaryIO, path: Path | None = None) -> None:
        self.name = name
        self._told = str(path or name)
        self._stream = stream
        with self._reading("cannot be read"):
            head = stream.read(len(_SQLITE))
        if head == _SQLITE:
            remedy = "`zapomni restore` reads backups; import reads exports"
            raise InvalidInput("file", f"{self._told} is a database", remedy=remedy)
        head = head[: len(_BOM)]
        if head.startswith(_UTF16):
            raise InvalidInput("file", f"{self._told} is written in UTF-16", remedy="Save it as UTF-8")
        self._start = len(_BOM) if head == _BOM else 0

    def digest(self) -> str:
        """Return the hash by which the same file is known again."""
        self._stream.seek(0)
        with self._reading("cannot be read"):
            return hashlib.file_digest(self._stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()  # type: ignore[arg-type] # typeshed asks for a name

    def format(self) -> Format:
        """Tell the format by the first object: a header of ours, an array, an entity or relation, else plain.

        Raises `InvalidInput` for a file that holds nothing.
        """
        if self._is_array():
            return Format.AGENT_MEMORY_MCP
        seen = 0
        for line in self.lines():
            seen += 1
            if isinstance(line, Line):
                return _format_of(line.value)
            if seen == _SNIFFED:
                break
        if not seen:
            remedy = "Name a file that holds memories: an export, or one JSON object a line"
            raise InvalidInput("file", f"{self._told} is empty", remedy=remedy)
        return Format.PLAIN

    def lines(self) -> Lines:
        """Yield the object of each line that is not blank, and a problem for each line that holds none."""
        self._stream.seek(self._start)
        no = 0
        while raw := self._line(no):
            no += 1
            if len(raw) == LINE_LIMIT and not raw.endswith(b"\n"):
                self._skip_line(no)
                yield Problem(line=no, reason=f"it is longer than {LINE_LIMIT:,} bytes")
            elif raw.strip():
                yield _read_object(no, raw)

    def items(self) -> Lines:
        """Yield the objects of a JSON array; after a break in it nothing more can be read, which is a problem."""
        self._stream.seek(self._start)
        try:
            with self._reading("cannot be read"):
                text = self._stream.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput("file", f"{self._told} is not UTF-8 at byte {error.start:,}") from None
        return _array_items(text)

    def _is_array(self) -> bool:
        self._stream.seek(self._start)
        while raw := self._line(0):
            if text := raw.lstrip():
                return text.startswith(b"[")
        return False

    def _skip_line(self, no: int) -> None:
        while (raw := self._line(no)) and not raw.endswith(b"\n"):
            pass

    def _line(self, before: int) -> bytes:
        with self._reading(f"cannot be read after line {before:,}"):
            return self._stream.readline(LINE_LIMIT)

    @contextmanager
    def _reading(self, problem: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = f"{self._told} {problem} ({error.strerror or error})"
            raise Unavailable(why, remedy="See to the disk that it lies on, and import it again") from None


@contextmanager
def open_source(source: str | Path | BinaryIO) -> Iterator[Source]:
    """Open a file, or keep what comes through a pipe in a private temporary file, for it is read twice.

    Raises `NotFound` for a path that is no file.
    """
    if not isinstance(source, str | Path):
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as kept:
            shutil.copyfileobj(source, kept)
            kept.seek(0)
            yield Source("standard input", kept)  # type: ignore[arg-type] # it has every method of BinaryIO
        return
    path = Path(source)
    try:
        stream = path.open("rb")
    except OSError as error:
        raise NotFound(f"{path} cannot be read ({error.strerror})", remedy="Name a file, or - for input") from None
    with stream:
        yield Source(path.name, stream, path)


def _format_of(value: dict[str, object]) -> Format:
    if value.get("format") == Format.ZAPOMNI.value:
        return Format.ZAPOMNI
    sort = value.get("type")
    return Format.SERVER_MEMORY if sort == "entity" or sort == "relation" else Format.PLAIN  # noqa: PLR1714 - it may be a list


def _read_object(no: int, raw: bytes) -> Line | Problem:
    try:
        value = json.loads(raw.strip())
    except UnicodeDecodeError as error:
        return Problem(line=no, reason=f"it is not UTF-8 at byte {error.start:,}")
    except JSONDecodeError as error:
        return Problem(
            line=no, reason=f"it is not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1:,}"
        )
    except (ValueError, RecursionError):
        return Problem(line=no, reason="it is not JSON that can be read: a number or its nesting is too long")
    if not isinstance(value, dict):
        return Problem(line=no, reason=f"it is no JSON object but {_kind(value)}")
    return Line(no=no, value=value)


def _array_items(text: str) -> Lines:
    decoder, at, no, counted = JSONDecoder(), text.index("[") + 1, 1, 0
    item, joint = 0, ""
    while True:
        at = _skip_space(text, at)
        if text.startswith("]", at) and joint != ",":
            break
        no, counted, item = no + text.count("\n", counted, at), at, item + 1
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield Problem(line=no, reason=f"item {item} is not JSON; nothing after it can be read")
            return
        if isinstance(value, dict):
            yield Line(no=no, value=value)
        else:
            yield Problem(line=no, reason=f"item {item} is no JSON object but {_kind(value)}")
        at = _skip_space(text, at)
        joint = text[at : at + 1]
        if joint == "]":
            break
        if joint != ",":
            yield Problem(line=no, reason=f"after item {item} the array is cut; nothing after it can be read")
            return
        at += 1
    rest = _skip_space(text, at + 1)
    if rest < len(text):
        yield Problem(line=no + text.count("\n", counted, rest), reason="something stands behind the array")


def _skip_space(text: str, at: int) -> int:
    while text[at : at + 1] in {" ", "\t", "\n", "\r"}:
        at += 1
    return at


def _kind(value: object) -> str:
    names = {"NoneType": "null", "str": "a text", "list": "an array", "bool": "true or false"}
    return names.get(type(value).__name__, "a number")
