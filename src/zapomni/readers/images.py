"""Images: known by their first bytes, never by their names, for a model looks at them."""

from __future__ import annotations

from typing import BinaryIO, Final

from zapomni.readers.base import Unreadable
from zapomni.readers.decode import MEGABYTE, take
from zapomni.readers.titles import ending

IMAGE_ENDINGS: Final = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
"""The endings of images that models can be shown (features G-8)."""
IMAGE_LIMIT: Final = 20 * MEGABYTE
"""Most bytes of an image (features GO-1)."""


def is_image_name(name: str) -> bool:
    """Tell whether a file of this name is looked at and not read."""
    return ending(name) in IMAGE_ENDINGS


def media_type(data: bytes) -> str | None:
    """Return what sort of image begins with these bytes, None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def read_image(file: BinaryIO) -> tuple[bytes, str]:
    """Return an image with its media type.

    Raises `Unreadable` for more than `IMAGE_LIMIT` bytes and for what is no PNG, JPEG, GIF or WebP.
    """
    data = take(file, IMAGE_LIMIT)
    kind = media_type(data)
    if kind is None:
        raise Unreadable("it is no PNG, JPEG, GIF or WebP image, whatever its name says")
    return data, kind
