"""The process that reads one PDF document, for a small one can ask for more memory and time than there is.

A script: `pdf.PDF` starts it with four numbers (bytes of memory, seconds, pages, characters) and it imports nothing of
ours. It takes the document as its input and writes JSON values, one a line: the title, then the text of each page, or
at any place an object with the reason why the document is refused.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> None:
    """Read the document that is the input; the process ends early, without a reason, at its limits."""
    memory, seconds, pages, characters = map(int, sys.argv[1:])
    _limit(memory, seconds)
    for value in _read(sys.stdin.buffer.read(), pages, characters):
        sys.stdout.buffer.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")


def _limit(memory: int, seconds: int) -> None:
    """Bound what this process takes, where the system can; the time too, for its parent may be gone by then."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(kind, (most, most))
        except (OSError, ValueError):  # the limit is lower already, or the system knows none
            continue


def _read(data: bytes, pages: int, characters: int) -> Iterator[str | dict[str, str]]:
    import pypdfium2  # type: ignore[import-untyped] # it has no stubs

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        is_locked = error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD
        damaged = "it is no whole PDF document: it is cut, damaged or something else"
        yield _refusal("it is locked with a password" if is_locked else damaged)
        return
    if len(document) > pages:
        yield _refusal(f"it has more than {pages:,} pages")
        return
    try:
        yield _title(document)
        yield from _texts(document, characters)
    except pypdfium2.PdfiumError as error:
        yield _refusal(f"its pages cannot be read: {error}")


def _refusal(reason: str) -> dict[str, str]:
    return {"refused": reason}


def _title(document: Any) -> str:
    try:
        title = document.get_metadata_value("Title")
    except UnicodeDecodeError:
        return ""
    assert isinstance(title, str)
    return title


def _texts(document: Any, characters: int) -> Iterator[str | dict[str, str]]:
    size = 0
    for number in range(len(document)):
        text = _text_of(document[number])
        size += len(text)
        if size > characters:
            yield _refusal(f"it has more than {characters:,} characters")
            return
        yield text


def _text_of(page: Any) -> str:
    try:
        words = page.get_textpage()
        try:
            text = words.get_text_bounded()
            assert isinstance(text, str)
            return text
        finally:
            words.close()
    finally:
        page.close()


if __name__ == "__main__":
    main()
