"""What a run changes in a file, as people read it."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING, Final

from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from zapomni.agents.desk import Change

AROUND: Final = 1
"""Lines around a change that are shown: enough to see where it lies, and little of what may be a key."""


def lines(change: Change) -> list[str]:
    """Return a unified diff without its two headers, shapes of secrets cut out; a line keeps no line end."""
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    return redact("\n".join(list(unified_diff(before, after, lineterm="", n=AROUND))[2:]))[0].split("\n")
