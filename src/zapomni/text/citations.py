"""Citations in an answer: `[memory:ID]` and `[insight:ID]`, kept only where what they name was really read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_CITATION: Final = re.compile(
    r"(?P<before> ?)(?:\[|\(|【)\s*(?P<names>(?:memory|insight)\s*:[^\[\]()【】\n]{1,1000})(?:\]|\)|】)", re.IGNORECASE
)
"""As it is asked for, or in the brackets that models put in its place; several may share one pair."""
_KIND: Final = re.compile(r"(?:memory|insight)\s*:\s*", re.IGNORECASE)
_PARTED: Final = re.compile(r"[\s,;]+")
_AROUND: Final = "`'\"<>."
_LONGEST: Final = 100
_MOST: Final = 50
"""Unknown ids that are told, and characters of each: a model may write anything."""


class Checked(NamedTuple):
    """A text with its valid citations alone, the ids that they name, and the ids that name nothing."""

    text: str
    cited: tuple[str, ...]
    unknown: tuple[str, ...]


def check_citations(text: str, supplied: Mapping[str, str]) -> Checked:
    """Return a text whose citations name what was supplied: ids, each with its kind (`memory` or `insight`).

    A citation of the wrong kind is put right, one that names nothing is taken out.
    """
    cited: dict[str, None] = {}
    unknown: dict[str, None] = {}

    def kept(found: re.Match[str]) -> str:
        names = [name.strip(_AROUND) for name in _PARTED.split(_KIND.sub("", found["names"]))]
        known = [name for name in names if name in supplied]
        cited.update(dict.fromkeys(known))
        unknown.update(dict.fromkeys(name[:_LONGEST] for name in names if name and name not in supplied))
        return found["before"] + "".join(f"[{supplied[name]}:{name}]" for name in known) if known else ""

    checked = _CITATION.sub(kept, text).strip()
    return Checked(checked, tuple(cited), tuple(unknown)[:_MOST])
