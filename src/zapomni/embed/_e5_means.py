"""The mean vectors of ordinary text, one for each language and task, which every vector is centred on.

All vectors of this model lie within a narrow cone, Russian and English in two parts of it, questions and passages
again. Centred, unrelated texts have a cosine near zero in and across both languages, even in a store of one memory.
The means are those of the parallel texts in e5_seed.jsonl, written for this and of no benchmark; the recipe is
`work_out` in tests/embed/test_means.py, which also checks that the file is still theirs.
"""

from __future__ import annotations

import sys
from array import array
from functools import cache
from operator import sub
from pathlib import Path
from typing import TYPE_CHECKING

from zapomni.embed._e5_weights import WIDTH
from zapomni.embed._vectors import unit
from zapomni.text.language import is_russian

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zapomni.embed.base import Task
    from zapomni.model import Vector


def centred(vector: Sequence[float], text: str, task: Task) -> Vector:
    """Return the vector without the mean of its task and language, as a unit vector.

    Raises `ValueError` for a vector of another width, a NaN or nothing but zeros.
    """
    return unit(map(sub, unit(vector, WIDTH), _means()[task, is_russian(text)]))


@cache
def _means() -> dict[tuple[str, bool], Vector]:
    """Read the means: passages in English, in Russian, questions in English, in Russian."""
    numbers = array("f", Path(__file__).with_name("e5_means.f32").read_bytes())
    if sys.byteorder == "big":
        numbers.byteswap()
    rows = [numbers[start : start + WIDTH] for start in range(0, len(numbers), WIDTH)]
    names = (("passage", False), ("passage", True), ("query", False), ("query", True))
    return dict(zip(names, rows, strict=True))
