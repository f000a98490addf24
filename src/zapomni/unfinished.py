"""Files that appear only when complete: what they are called until then, and what a killed process left of them."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from glob import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_OURS: Final = r"(?P<process>[0-9]+)-[0-9a-f]{8}\.[a-z]"
"""What comes in such a name behind that of its target, up to the first letter of its end; seldom asked for."""


def part_of(target: Path, end: str) -> Path:
    """Return a name beside a file for what will become it, one that no other process or thread takes."""
    return target.with_name(f".{target.name}.{os.getpid()}-{os.urandom(4).hex()}.{end}")


def clear(part: Path) -> None:
    """Remove a name that `part_of` gave with all that was made beside it: logs, a lock, a copy from before a change."""
    for file in part.parent.glob(f"{escape(part.name)}*"):
        file.unlink(missing_ok=True)


def clear_abandoned(target: Path) -> None:
    """Remove what was to become the same target and was left behind when its process was killed.

    What a living process writes stays, and so does what cannot be removed.
    """
    start = f".{target.name}."
    for part in target.parent.glob(f"{escape(start)}[0-9]*"):
        ours = re.match(_OURS, part.name.removeprefix(start))
        if ours is not None and not _runs(int(ours["process"])):
            with suppress(OSError):
                part.unlink()


def _runs(process: int) -> bool:
    if os.name != "posix":
        return True  # asking is not harmless elsewhere
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
