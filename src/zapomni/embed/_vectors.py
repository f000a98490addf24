"""The one gate that every vector passes: unit length, the right width, no NaN and no zero."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zapomni.embed.base import Vector


def unit(values: Iterable[float], width: int | None = None) -> Vector:
    """Return the values as a vector of length one.

    Raises `ValueError` with the reason when there is no value, another width than asked for, a NaN, an
    infinity or nothing but zeros, and `TypeError` when something is not a number.
    """
    vector = array("f", values)
    if not vector or (width is not None and len(vector) != width):
        raise ValueError(f"the vector has {len(vector)} numbers" + (f" instead of {width}" if width else ""))
    length = math.hypot(*vector)
    if not math.isfinite(length):
        raise ValueError("the vector holds a number that is not finite")
    if length == 0:
        raise ValueError("the vector is all zeros")
    return array("f", [value / length for value in vector])
