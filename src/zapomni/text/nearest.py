"""Nearest names: what somebody may have meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zapomni.text.fold import name_key

if TYPE_CHECKING:
    from collections.abc import Iterable

_ALIKE: Final = 0.6  # difflib's own cutoff


def nearest(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return the known names most like `name`, best first, at most `limit`, none when nothing is close.

    What stands before the last colon (the kind of a scope) is left out of the comparison, or else every
    `project:` would be like every other.
    """
    from difflib import SequenceMatcher  # ten milliseconds of start that only a slip of the pen needs

    wanted = SequenceMatcher(b=_core(name), autojunk=False)
    scored = []
    for other in known:
        wanted.set_seq1(_core(other))
        if wanted.quick_ratio() >= _ALIKE and (alike := wanted.ratio()) >= _ALIKE:
            scored.append((-alike, other))
    return [other for _, other in sorted(scored)[:limit]]


def _core(name: str) -> str:
    key = name_key(name)
    return key.rpartition(":")[2] or key
