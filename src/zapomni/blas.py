"""How many threads numpy's own BLAS takes, changed for one call and put back."""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX, SUFFIX = "scipy_openblas_", "64_"
"""How numpy's wheels name OpenBLAS's functions since 2.0."""


@contextmanager
def one_blas_thread() -> Iterator[bool]:
    """Hold OpenBLAS at one thread a call; yields False where numpy brings another BLAS, which is left alone."""
    library = _openblas()
    if library is None:
        yield False
        return
    before = library[f"{PREFIX}get_num_threads{SUFFIX}"]()
    limit = library[f"{PREFIX}set_num_threads{SUFFIX}"]
    limit(1)
    try:
        yield True
    finally:
        limit(before)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _openblas() -> ctypes.CDLL | None:
    """Return the library that numpy has loaded already."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            try:
                library = ctypes.CDLL(str(path))
            except OSError:
                continue
            if hasattr(library, f"{PREFIX}set_num_threads{SUFFIX}"):
                return library
    return None
