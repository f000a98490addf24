"""Cleaning: what of a text is stored, how it is shown on a terminal, and how it is cut short."""

from __future__ import annotations

import re
from typing import Final

from zapomni.text.clusters import edge_before

ELLIPSIS: Final = "…"
REPLACEMENT: Final = "\ufffd"

_UNSEEN: Final = (
    r"\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffd\U000e0000-\U000e0fff"
)
_BLANK: Final = re.compile(f"[{_UNSEEN}]*")
_HARMFUL: Final = re.compile(r"\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls of the terminal (C0, DEL, C1) and of the direction of writing, which hides what a line says."""


def clean(text: str) -> tuple[str, list[str]]:
    """Return the text as it can be stored, and a note for each kind of change.

    NUL and half surrogate pairs become U+FFFD, for no store and no JSON can carry them; the text behind them
    is kept. Two halves that belong together are joined. Everything else stays, control characters too: content
    is verbatim, and `printable` guards the terminal.
    """
    if _is_storable(text):
        return text, []
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    halves = joined.count(REPLACEMENT) - text.count(REPLACEMENT)
    nuls = joined.count("\x00")
    notes = []
    if nuls:
        notes.append(f"NUL characters replaced by U+FFFD: {nuls}")
    if halves:
        notes.append(f"half surrogate pairs replaced by U+FFFD: {halves}")
    return joined.replace("\x00", REPLACEMENT), notes


def _is_storable(text: str) -> bool:
    try:
        text.encode("utf-16")  # finds half surrogate pairs, in a tenth of the time of looking for them
    except UnicodeEncodeError:
        return False
    return "\x00" not in text


def printable(text: str) -> str:
    r"""Return text that a terminal shows and does not obey: an escape becomes `\x1b`.

    Line ends and tabs stay (CR LF becomes LF); direction overrides become `\u202e`.
    """
    return _HARMFUL.sub(lambda found: _shown(found[0]), text)


def is_blank(text: str) -> bool:
    """Tell whether a text shows nothing: only white space, controls, invisible and replacement characters."""
    return _BLANK.fullmatch(text) is not None


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text, `…` included where something is missing.

    Cuts at a word edge in the last third if there is one, and never inside a cluster (`clusters.is_edge`).
    """
    if len(text) <= limit:
        return text
    room = limit - len(ELLIPSIS)
    if room < 0:
        return ""
    end = edge_before(text, room)
    if not text[end].isspace():
        words = [at for at in range(room - room // 3, end) if text[at].isspace()]
        end = words[-1] if words else end
    return text[:end].rstrip() + ELLIPSIS


def preview(text: str, limit: int) -> str:
    """Return a text as one line of at most `limit` characters; white space becomes single spaces."""
    return cut(" ".join(text.split()), limit)


def _shown(found: str) -> str:
    if found == "\r\n":
        return "\n"
    return f"\\x{ord(found):02x}" if found <= "\xff" else f"\\u{ord(found):04x}"
