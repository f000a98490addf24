"""What changed between two texts, line by line."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AROUND: Final = 3
"""Unchanged lines shown before and behind a change, as in every unified diff."""
PAIRS: Final = 4_000_000
"""Most pairs of lines that are compared one with another; a larger middle counts as replaced as a whole."""


class Step(NamedTuple):
    """One stretch of the way from one text to another: lines `[a, a_end)` became `[b, b_end)`."""

    equal: bool
    a: int
    a_end: int
    b: int
    b_end: int


def steps(before: Sequence[str], after: Sequence[str]) -> list[Step]:
    """Return the stretches, in order and without gaps, in which `before` stayed or became `after`."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    a_end, b_end = len(before) - tail, len(after) - tail
    found = [Step(equal=True, a=0, a_end=head, b=0, b_end=head)]
    found += _middle(before, after, head, a_end, b_end)
    found.append(Step(equal=True, a=a_end, a_end=len(before), b=b_end, b_end=len(after)))
    return [step for step in found if step.a < step.a_end or step.b < step.b_end]


def unified(before: str | None, after: str | None) -> tuple[str, ...]:
    """Return the hunks of a unified diff without file names; none for equal texts. None is no text at all."""
    old, new = _lines(before), _lines(after)
    return tuple(line for hunk in _hunks(steps(old, new)) for line in _written(hunk, old, new))


def _lines(text: str | None) -> list[str]:
    return [] if text is None else text.split("\n")


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _middle(before: Sequence[str], after: Sequence[str], head: int, a_end: int, b_end: int) -> Iterator[Step]:
    a, b = before[head:a_end], after[head:b_end]
    if len(a) * len(b) > PAIRS:
        yield Step(equal=False, a=head, a_end=a_end, b=head, b_end=b_end)
        return
    for tag, i, j, k, m in SequenceMatcher(None, a, b).get_opcodes():
        yield Step(equal=tag == "equal", a=head + i, a_end=head + j, b=head + k, b_end=head + m)


def _hunks(way: Sequence[Step]) -> Iterator[list[Step]]:
    """Group the changes with what stands around them; two changes close together share a hunk."""
    hunk: list[Step] = []
    for step in way:
        if not step.equal:
            hunk.append(step)
            continue
        far = step.a_end - step.a > 2 * AROUND
        if hunk and (far or step is way[-1]):
            yield [*hunk, _start(step)]
            hunk = []
        hunk.append(step if hunk else _end(step))
    if any(not step.equal for step in hunk):
        yield hunk


def _start(step: Step) -> Step:
    kept = min(AROUND, step.a_end - step.a)
    return step._replace(a_end=step.a + kept, b_end=step.b + kept)


def _end(step: Step) -> Step:
    kept = min(AROUND, step.a_end - step.a)
    return step._replace(a=step.a_end - kept, b=step.b_end - kept)


def _written(hunk: Sequence[Step], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    first, last = hunk[0], hunk[-1]
    yield f"@@ -{_span(first.a, last.a_end)} +{_span(first.b, last.b_end)} @@"
    for step in hunk:
        if step.equal:
            yield from (f" {line}" for line in old[step.a : step.a_end])
        else:
            yield from (f"-{line}" for line in old[step.a : step.a_end])
            yield from (f"+{line}" for line in new[step.b : step.b_end])


def _span(start: int, end: int) -> str:
    """Write lines as unified diffs do: counted from 1, and the line before where there are none."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + (1 if count else 0)},{count}"
