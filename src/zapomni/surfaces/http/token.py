"""The token of an HTTP server whose settings name none: made once, kept beside the store for its owner alone."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Final

from zapomni.errors import ConfigError, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "http.token"
BYTES: Final = 32
"""Of randomness; 43 letters."""


def token_file(home: Path) -> Path:
    """Return where the token lies in a data folder."""
    return home / FILE


def kept_token(home: Path) -> str:
    """Return the token of a data folder, made on the first call; servers that start at once share one.

    Raises `ConfigError` for a file that others can read or that holds no token, `Unavailable` for one that
    cannot be read or written.
    """
    path = token_file(home)
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _make(path)
        if os.name == "posix" and path.stat().st_mode & 0o077:
            remedy = f"Remove it and start again for a new one, or run chmod 600 {path}"
            raise ConfigError(f"{path} can be read by others", remedy=remedy)
        text = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise Unavailable(f"the token {path} cannot be read: {why}", remedy="Set ZAPOMNI_HTTP_TOKEN") from None
    if not text or not text.isprintable() or " " in text:
        raise ConfigError(f"{path} holds no token", remedy="Remove it and start again for a new one")
    return text


def _make(path: Path) -> None:
    """Write a new token, whole or not at all; of servers that start at once the first writes it."""
    from filelock import FileLock

    with FileLock(f"{path}.lock", mode=0o600):
        if path.exists():
            return
        part = path.with_name(f"{path.name}.part")
        with os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w", encoding="ascii") as stream:
            stream.write(secrets.token_urlsafe(BYTES) + "\n")
        part.replace(path)
