"""What a client reads of an empty answer in words: which arguments let nothing through, and why nothing was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from zapomni.model import Recollection
from zapomni.surfaces.mcp.answers import Answer, with_notes
from zapomni.surfaces.why import MEMORIES, PLACES, barred_line, why_rows
from zapomni.text.clean import cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zapomni.model.document import Findings

_LONGEST: Final = 1_000
"""Characters of one line: a question may have thousands of words that were passed over."""


def with_why(answer: Answer, found: Recollection | Findings, asked: Mapping[str, Any]) -> Answer:
    """Return an answer with why it is empty, as notes; `asked` are the arguments of the filter that were given."""
    lines = []
    if found.barred is not None:
        lines.append(
            barred_line(found.barred, *(MEMORIES if isinstance(found, Recollection) else PLACES), asked, _spelled)
        )
    for why in found.explanations:
        told = ". ".join(f"{name}: {value}" for name, value in why_rows(why, asked, _spelled))
        lines.append(f"why no {why.of}: {told}")
    return with_notes(answer, [cut(line, _LONGEST) for line in lines], [])


def _spelled(name: str, value: Any) -> str:
    """Return an argument as a call gives it."""
    return f"{name}={', '.join(map(str, value)) if isinstance(value, list) else value}"
