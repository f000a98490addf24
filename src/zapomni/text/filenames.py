"""Names of files and folders that every system can keep, made of what people write."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LONGEST: Final = 120
"""Most bytes of a name in UTF-8: half of what file systems allow, so that an ending and a mark have room."""
NAMELESS: Final = "untitled"

_UNSAFE: Final = re.compile(r'[<>:"/\\|?*~\s]+')
"""What Windows forbids, the separators, and the tilde, by which it writes short names such as GIT~1."""
_INVISIBLE: Final = ("C", "Zl", "Zp")
"""Categories of letters that nobody sees and that some systems pass over when they compare names."""
_DEVICE: Final = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


def file_name(text: str) -> str:
    """Return a text as one name: in NFC, dashes for what is forbidden, no dot or dash at its ends, never empty.

    It is no device of Windows, not hidden, and at most `LONGEST` bytes. Names that differ by letter case alone are
    the same file to some systems: telling those apart is left to the caller.
    """
    seen = "".join(c for c in unicodedata.normalize("NFC", text) if c.isspace() or not _is_invisible(c))
    name = _trimmed(_UNSAFE.sub("-", seen))
    name = _trimmed(name.encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore"))
    return f"{name}_" if _DEVICE.fullmatch(name) else name or NAMELESS


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char).startswith(_INVISIBLE)


def _trimmed(name: str) -> str:
    return re.sub(r"-{2,}", "-", name).strip(" .-")
