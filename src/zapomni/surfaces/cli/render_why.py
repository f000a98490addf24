"""What people read of an answer that is empty: how it was looked for and what stood in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from zapomni.store.found import VISIBLE_MOST
from zapomni.surfaces.cli.lines import INDENT, explained, listed, many, one_line, table, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.model.explanation import Explanation, Near

_LIFTED: Final = {
    "scope": "in every scope",
    "time": "of any time, expired ones too",
    "trust": "of any trust",
    "other": "without the other filters",
    "every": "without any filter",
}
"""What the parts of a filter are called when they are lifted."""


def why_nothing(explanations: Sequence[Explanation]) -> Iterator[str]:
    """Show for memories, and for documents beside them, what was looked for, what there was and what came nearest."""
    for why in explanations:
        yield click.style(why.of, bold=True)
        yield from (f"{INDENT}{line}" for line in table(_rows(why)))
        if why.nearest is not None:
            yield from wrapped(why.nearest.text)
            yield from explained(why.nearest.parts)


def _rows(why: Explanation) -> list[tuple[str, str]]:
    legs = listed({"by words": why.by_words, "by meaning": why.by_meaning})
    near = [f"{one_line(other)} for {one_line(word)}" for word, other in why.near.items()]
    rows = [
        ("looked for", _names(why.words) or "no word"),
        ("standing in", ", ".join(near)),
        ("passed over", _names(why.passed_over)),
        ("searched", f"{why.seen:,}{' or more' if why.seen >= VISIBLE_MOST else ''}"),
        ("candidates", f"{legs}; {_judged(why.judged)}" if why.by_words or why.by_meaning else "none"),
        ("hidden", "; ".join(f"{many(count, 'answer')} {_LIFTED[name]}" for name, count in why.without.items())),
        ("nearest", _nearest(why.nearest) if why.nearest is not None else ""),
    ]
    return [(name, value) for name, value in rows if value]


def _judged(count: int) -> str:
    return f"of the best {count:,} none reached the floor" if count else "nothing speaks for any"


def _nearest(near: Near) -> str:
    return f"{one_line(near.handle)}  {near.score:.2f}, {near.share:.0%} of what the floor asks"


def _names(words: Sequence[str]) -> str:
    return ", ".join(one_line(word) for word in words)
