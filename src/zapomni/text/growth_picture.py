"""A picture of a memory's growth and budget as SVG: the same numbers give the same bytes, legible on light and dark."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.sax.saxutils import escape

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zapomni.text.growth import Count, Growth

WIDTH: Final = 840
_LEFT, _RIGHT, _TOP, _PLOT = 64, 24, 64, 280
_BAR, _GAP = 16, 34
_TICKS: Final = 5
_STYLE: Final = (
    "text{font:13px system-ui,sans-serif;fill:#1f2328}.card{fill:#fff;stroke:#d1d9e0}.axis{stroke:#d1d9e0}"
    ".faint{fill:#59636e}.title{font-size:16px;font-weight:600}.line{fill:none;stroke:#0969da;stroke-width:2.5}"
    ".dot{fill:#0969da}.ahead{fill:none;stroke:#0969da;stroke-width:2;stroke-dasharray:5 5}.band{fill:#0969da;"
    "fill-opacity:.14}.limit{stroke:#bc4c00;stroke-dasharray:2 4}.mark{fill:#bc4c00;stroke:#fff;stroke-width:4px;"
    "paint-order:stroke}.rail{fill:#eff2f5}"
    ".ok{fill:#1a7f37}.near{fill:#bf8700}.over{fill:#cf222e}"
    "@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.card{fill:#0d1117;stroke:#3d444d}.axis{stroke:#3d444d}"
    ".faint{fill:#9198a1}.line,.ahead{stroke:#4493f8}.dot,.band{fill:#4493f8}.limit{stroke:#f0883e}.mark{fill:#f0883e;"
    "stroke:#0d1117}"
    ".rail{fill:#212830}.ok{fill:#3fb950}.near{fill:#d29922}.over{fill:#f85149}}"
)


class Bar(NamedTuple):
    """One budget: what is counted, how much there is and how much there may be."""

    label: str
    used: int
    most: int


class Arrival(NamedTuple):
    """A number of records with the day on which it will be there, and the two between which that day lies."""

    number: int
    day: date
    earliest: date
    latest: date | None


class Picture(Struct, frozen=True, kw_only=True):
    """What is drawn: counts of records, the growth they show, when numbers will be reached, and budgets."""

    title: str
    counts: Sequence[Count]
    lately: Growth | None
    arrivals: Sequence[Arrival]
    limits: Sequence[int]
    bars: Sequence[Bar]


class _Scale(Struct, frozen=True):
    first: date
    days: int
    top: int

    def x(self, day: date) -> float:
        span = WIDTH - _LEFT - _RIGHT
        return round(_LEFT + span * min(1.0, max(0.0, (day - self.first).days / self.days)), 1)

    def y(self, records: float) -> float:
        return round(_TOP + _PLOT * (1 - min(1.0, records / self.top)), 1)


def growth_svg(picture: Picture, *, near: float) -> str:
    """Return the picture; a bar is drawn as nearly full from the share `near` on."""
    height = _TOP + _PLOT + 56 + _GAP * len(picture.bars) + 16
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img"><title>{escape(picture.title)}</title><style>{_STYLE}</style>'
        f'<rect class="card" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>'
    )
    parts = [head, _text(_LEFT, 32, picture.title, "title"), *_plot(picture), *_bars(picture.bars, near), "</svg>"]
    return "\n".join(parts) + "\n"


# --- the curve --------------------------------------------------------------------------------------------
def _plot(picture: Picture) -> Iterator[str]:
    if not picture.counts:
        yield _text(_LEFT, _TOP + 40, "No record has a date yet", "faint")
        return
    scale = _scale(picture)
    yield from _axes(scale)
    yield from _ahead(picture, scale)
    yield from _limits(picture, scale)
    points = " ".join(f"{scale.x(count.day)},{scale.y(count.records)}" for count in picture.counts)
    yield f'<polyline class="line" points="{points}"/>'
    last = picture.counts[-1]
    yield f'<circle class="dot" cx="{scale.x(last.day)}" cy="{scale.y(last.records)}" r="4"/>'
    yield _text(scale.x(last.day) + 8, scale.y(last.records) + 18, f"{last.records} on {last.day}")


def _scale(picture: Picture) -> _Scale:
    first, last = picture.counts[0].day, picture.counts[-1].day
    furthest = max([last, *(one.latest or one.day for one in picture.arrivals)])
    known = (last - first).days
    last = min(furthest, last + timedelta(days=max(60, 6 * known)))
    top = max([*(count.records for count in picture.counts), *picture.limits, 1])
    return _Scale(first, max(1, (last - first).days), top + max(1, top // 10))


def _axes(scale: _Scale) -> Iterator[str]:
    for step in range(_TICKS + 1):
        records = scale.top * step // _TICKS
        y = scale.y(records)
        yield f'<line class="axis" x1="{_LEFT}" y1="{y}" x2="{WIDTH - _RIGHT}" y2="{y}"/>'
        yield _text(_LEFT - 8, y + 4, str(records), "faint", "end")
    for step in range(_TICKS):
        day = scale.first + timedelta(days=round(scale.days * step / (_TICKS - 1)))
        anchor = "start" if step == 0 else "end" if step == _TICKS - 1 else "middle"
        yield _text(scale.x(day), _TOP + _PLOT + 20, day.isoformat(), "faint", anchor)


def _limits(picture: Picture, scale: _Scale) -> Iterator[str]:
    for number in picture.limits:
        y = scale.y(number)
        yield f'<line class="limit" x1="{_LEFT}" y1="{y}" x2="{WIDTH - _RIGHT}" y2="{y}"/>'
        come = next((one for one in picture.arrivals if one.number == number), None)
        span = f", {come.earliest} to {come.latest or 'much later'}" if come else ""
        told = f"{number} records: {come.day}{span}" if come else f"{number} records"
        yield _text(_LEFT + 8, y - 6, told, "mark")


def _ahead(picture: Picture, scale: _Scale) -> Iterator[str]:
    """Draw the way to the numbers to come: the line of the days, and the band of those between which they lie."""
    if picture.lately is None or not picture.arrivals:
        return
    start = f"{scale.x(picture.lately.until.day)},{scale.y(picture.lately.until.records)}"
    ways = sorted(picture.arrivals)
    soon = [f"{scale.x(one.earliest)},{scale.y(one.number)}" for one in ways]
    late = [f"{scale.x(one.latest or date.max)},{scale.y(one.number)}" for one in ways]
    yield f'<polygon class="band" points="{" ".join([start, *soon, *reversed(late)])}"/>'
    days = " ".join(f"{scale.x(one.day)},{scale.y(one.number)}" for one in ways)
    yield f'<polyline class="ahead" points="{start} {days}"/>'


# --- the budgets ------------------------------------------------------------------------------------------
def _bars(bars: Sequence[Bar], near: float) -> Iterator[str]:
    width = WIDTH - _LEFT - _RIGHT
    for number, bar in enumerate(bars):
        y = _TOP + _PLOT + 56 + _GAP * number
        share = bar.used / bar.most
        state = "over" if share > 1 else "near" if share >= near else "ok"
        yield _text(_LEFT, y - 4, f"index: {bar.used:,} of {bar.most:,} {bar.label} ({share:.0%})")
        yield f'<rect class="rail" x="{_LEFT}" y="{y}" width="{width}" height="{_BAR // 2}" rx="4"/>'
        filled = round(width * min(1.0, share), 1)
        yield f'<rect class="{state}" x="{_LEFT}" y="{y}" width="{filled}" height="{_BAR // 2}" rx="4"/>'


def _text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{kind}>{escape(words)}</text>'
