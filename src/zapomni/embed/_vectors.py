"""What every text passes on its way to a model and every vector on its way back."""

from __future__ import annotations

import math
import re
from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zapomni.model import Vector


UNUSABLE: Final = re.compile("[\0\ud800-\udfff]")
"""NUL ends a C string early, and lone surrogates have no UTF-8 form."""


def clean(text: str) -> str:
    """Return the text with a space for everything that no provider can take."""
    return UNUSABLE.sub(" ", text)


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
