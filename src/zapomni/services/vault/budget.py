"""The budget of an index: how much of it there may be, and what is said when it is over or nearly so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from zapomni.text.clean import preview
from zapomni.text.index_page import loaded, parse_index
from zapomni.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.settings import IndexSettings

NEAR: Final = 0.8
"""Share of a budget from which it is warned of: Claude Code asks for room at 161 of 200 lines (features F-11)."""
_NAMED: Final = 3
"""Lines that are not loaded and are shown in a warning; their numbers are all told."""
_SHOWN: Final = 60


class Size(NamedTuple):
    """How much there is: lines or files, bytes in UTF-8, and about how many tokens."""

    number: int
    bytes: int
    tokens: int


class Budget(NamedTuple):
    """One limit of the index: what is counted, how much there is and how much there may be."""

    what: str
    used: int
    most: int

    @property
    def share(self) -> float:
        """How much of it is used; above 1 it is over."""
        return self.used / self.most


def size_of(text: str) -> Size:
    """Return how much a page has."""
    return Size(len(parse_index(text).lines), len(text.encode()), estimate_tokens(text))


def budgets_of(size: Size, settings: IndexSettings) -> tuple[Budget, ...]:
    """Return what of each limit an index uses."""
    rows = (
        ("lines", size.number, settings.lines),
        ("bytes", size.bytes, settings.bytes),
        ("tokens", size.tokens, settings.tokens),
    )
    return tuple(Budget(what, used, most) for what, used, most in rows if most)


def budget_warnings(text: str, settings: IndexSettings) -> tuple[str, ...]:
    """Say which lines of an index a harness would not load, and which limit is over or nearly reached."""
    return tuple(_warnings(text, settings))


def _warnings(text: str, settings: IndexSettings) -> Iterator[str]:
    cut = loaded(text, lines=settings.lines, bytes=settings.bytes).cut
    if cut:
        lines = parse_index(text).lines
        told = "; ".join(preview(lines[number - 1].text, _SHOWN) for number in cut[:_NAMED])
        more = f" and {len(cut) - _NAMED} more" if len(cut) > _NAMED else ""
        span = f"line {cut[0]}" if len(cut) == 1 else f"lines {cut[0]} to {cut[-1]}"
        yield f"a harness does not load {span}: {told}{more}; `zapomni index plan` proposes a cut"
    for budget in budgets_of(size_of(text), settings):
        if budget.share >= NEAR:
            yield f"it has {budget.used:,} of {budget.most:,} {budget.what} ({budget.share:.0%})"
