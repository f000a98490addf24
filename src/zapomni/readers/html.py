"""HTML: the words of a page as Markdown, without its scripts and its navigation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from zapomni.readers.base import Extract, Layout, Unreadable
from zapomni.readers.decode import MEGABYTE, decode, take
from zapomni.readers.titles import first_heading, shown, stem
from zapomni.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Collection

    from zapomni.readers.base import Reader

MISSING: Final = "needs `pip install zapomni[docs]`"
_DROPPED: Final = ("title", "nav", "template", "noscript", "svg", "iframe")
_CHARSET: Final = re.compile(rb"""<meta\s[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?([\w-]{1,40})""", re.IGNORECASE)
_CHARSET_WITHIN: Final = 2_048
"""Bytes in which a page names its encoding; the standard asks for 1,024."""


TAGS_LIMIT: Final = 200_000
"""Most tags of a page; each takes a kilobyte of memory and twenty microseconds."""
ENTITIES_LIMIT: Final = 1_000_000
"""Most entities such as `&lt;`; each takes four microseconds."""
_NO_WORDS: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b[^<>]*>.*?(?:</\1\s{0,9}>|\Z)|<[!?][^<>]*>?", re.DOTALL | re.IGNORECASE
)
_NO_TAG: Final = re.compile(r"<(?!/?[a-z][^<>]*>)", re.IGNORECASE)
_PARAGRAPH: Final = re.compile(r"<p(?=[\s>])", re.IGNORECASE)
"""Many pages leave paragraphs open, which Python's parser would put into each other."""


class Page(NamedTuple):
    """A page as Markdown, and its title."""

    text: str
    title: str


class _Html:
    name = "html"
    version = 1
    endings: Collection[str] = (".html", ".htm", ".xhtml")
    limit = 10 * MEGABYTE

    def read(self, file: BinaryIO, name: str) -> Extract:
        data = take(file, self.limit)
        declared = _CHARSET.search(data[:_CHARSET_WITHIN])
        decoded = decode(data, declared[1].decode("ascii", "replace") if declared else "")
        page = to_markdown(decoded.text)
        return Extract(
            text=page.text,
            format=self.name,
            layout=Layout.MARKDOWN,
            title=page.title or first_heading(page.text) or shown(stem(name)),
            encoding=decoded.encoding,
            lined=False,
            notes=decoded.notes,
        )


HTML: Final[Reader] = _Html()
"""Reads the words of a page; the title is that of its head, else its first heading, else the name."""


def to_markdown(html: str) -> Page:
    """Return a page as Markdown; links and images leave their words alone.

    Raises `Unreadable` where the extra `docs` is not installed and for what its parser refuses.
    """
    try:
        from bs4 import BeautifulSoup
        from markdownify import MarkdownConverter
    except ImportError:
        raise Unreadable(f"reading .html {MISSING}") from None
    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", strip=["a", "img"], escape_asterisks=False, escape_underscores=False
    )
    tamed = _tamed(html)
    try:
        soup = BeautifulSoup(tamed, "html.parser")
        title = _title(soup)
        for tag in soup.find_all(_DROPPED):
            tag.decompose()
        text = converter.convert_soup(soup)
    except RecursionError:
        raise Unreadable("its elements are nested too deep") from None
    except Exception as error:  # noqa: BLE001 - the parsers document no errors of theirs
        raise Unreadable(f"it is no HTML that can be read: {error}") from None
    return Page(clean(text.strip())[0], title)


def _tamed(html: str) -> str:
    """Take out what makes Python's parser slow: it needs a minute for 60 KB of tags that never close.

    The first tag keeps it from warning of what looks like a path, an address or XML.
    """
    tamed = _PARAGRAPH.sub("</p><p", _NO_TAG.sub("&lt;", _NO_WORDS.sub("", html)))
    if tamed.count("<") > TAGS_LIMIT:
        raise Unreadable(f"it has more than {TAGS_LIMIT:,} tags")
    if tamed.count("&") > ENTITIES_LIMIT:
        raise Unreadable(f"it has more than {ENTITIES_LIMIT:,} entities or signs that open no tag")
    return f"<html>{tamed}"


def _title(soup: Any) -> str:
    return shown(soup.title.get_text()) if soup.title else ""
