"""What people read of an answer that is empty: how it was looked for and what stood in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zapomni.surfaces.cli.lines import INDENT, explained, table, wrapped
from zapomni.surfaces.cli.options import spelled
from zapomni.surfaces.why import barred_line, why_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zapomni.model.explanation import Barred, Explanation


def why_nothing(explanations: Sequence[Explanation], asked: Mapping[str, Any]) -> Iterator[str]:
    """Show for memories, and for documents beside them, what was looked for, what there was and what came nearest.

    `asked` are the options of the filter that were given.
    """
    for why in explanations:
        yield click.style(why.of, bold=True)
        yield from (f"{INDENT}{line}" for line in table(why_rows(why, asked, spelled)))
        if why.nearest is not None:
            yield from wrapped(why.nearest.text)
            yield from explained(why.nearest.parts)


def nothing_passes(barred: Barred, items: tuple[str, str], asked: Mapping[str, Any]) -> str:
    """Tell which of the options let nothing through."""
    return barred_line(barred, *items, asked, spelled)
