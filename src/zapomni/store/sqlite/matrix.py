"""Mean-centred unit vectors in blocks of memory that only ever grow, and their product with one vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BLOCK: Final = 4_096
"""Rows of a block: 6 MB of 384 numbers. Growing by blocks copies nothing, and what is not filled costs nothing."""
_STRIP: Final = 512
"""Rounded rows that are made numbers again at a time: few enough to stay in the core's own cache."""
_STEPS: Final = 127


class Matrix:
    """Centred unit vectors, as 32-bit floats or rounded to bytes (`quantised`)."""

    def __init__(self, dimension: int, mean: bytes | None, *, quantised: bool) -> None:
        self.count = 0
        self.quantised = quantised
        self._dimension = dimension
        self._mean = np.frombuffer(mean, np.float32) if mean else None
        self._blocks: list[NDArray[Any]] = []
        self._scales: list[NDArray[np.float32]] = []

    def add(self, vectors: Sequence[bytes]) -> None:
        """Append vectors as they stand in the file."""
        raw = np.frombuffer(b"".join(vectors), np.float32).reshape(len(vectors), self._dimension)
        done = 0
        while done < len(raw):
            start = self.count % BLOCK
            if start == 0:
                self._blocks.append(np.empty((BLOCK, self._dimension), np.int8 if self.quantised else np.float32))
                self._scales.append(np.empty(BLOCK if self.quantised else 0, np.float32))
            part = raw[done : done + BLOCK - start]
            self._fill(start, part)
            done += len(part)
            self.count += len(part)

    def product(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the product of every row with a vector.

        Row by row and on one thread: beside other busy processes a second one is waited for four times as long as
        it saves, and a product of the whole block reads it thrice as slowly.
        """
        scores = np.empty(self.count, np.float32)
        for at, block in enumerate(self._blocks):
            part = scores[at * BLOCK : (at + 1) * BLOCK]
            filled = block[: len(part)]
            if not self.quantised:
                np.vecdot(filled, query, out=part)
                continue
            for start in range(0, len(part), _STRIP):
                strip = filled[start : start + _STRIP].astype(np.float32)
                np.vecdot(strip, query, out=part[start : start + _STRIP])
            part *= self._scales[at][: len(part)]
        return scores

    def centred(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return one vector centred."""
        row = vector.reshape(1, -1).copy()
        self.centre(row)
        centred: NDArray[np.float32] = row[0]
        return centred

    def centre(self, rows: NDArray[np.float32]) -> None:
        """Turn vectors in place into the unit vectors that point to them from the mean; the mean itself is zero."""
        if self._mean is not None:
            rows -= self._mean
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        lengths[lengths == 0] = 1
        rows /= lengths[:, None]

    def _fill(self, start: int, part: NDArray[np.float32]) -> None:
        end = start + len(part)
        if not self.quantised:
            target = self._blocks[-1][start:end]
            target[:] = part
            self.centre(target)
            return
        rows = part.copy()
        self.centre(rows)
        scale = np.abs(rows).max(axis=1) / _STEPS
        scale[scale == 0] = 1
        self._blocks[-1][start:end] = np.rint(rows / scale[:, None])
        self._scales[-1][start:end] = scale
