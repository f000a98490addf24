"""The resources: one memory whole by its id, and the recent ones, as fenced text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from zapomni.errors import InvalidInput, NotFound
from zapomni.surfaces.mcp.answers import compact, fitted, quote, slim
from zapomni.surfaces.shapes import page_shape, shown_shape

if TYPE_CHECKING:
    from zapomni.app import Zapomni

SCHEME: Final = "memory://"
RECENT: Final = "memory://recent"
ONE: Final = "memory://{id}"
MIME: Final = "text/plain"
"""Lines of JSON and fences: neither JSON nor Markdown as a whole."""
_RECENT_COUNT: Final = 20


def read(app: Zapomni, uri: str) -> str:
    """Return the text of a resource. Raises `NotFound` for anything else, a foreign memory included."""
    if not uri.startswith(SCHEME):
        raise NotFound(f"there is no resource {uri!r}", remedy=f"There are {RECENT} and {ONE}")
    if uri == RECENT:
        page = app.list(limit=_RECENT_COUNT)
        return fitted(lambda preview: page_shape(page, app.scopes(), preview=preview)).text
    try:
        memory, links = app.show(unquote(uri.removeprefix(SCHEME)))
    except InvalidInput as error:  # a blank id: no memory is called so
        raise NotFound(error.message) from error
    shape = shown_shape(memory, links)
    about = slim({name: value for name, value in shape.items() if name != "content"})
    return f"{compact(about)}\n{quote(shape)}"
