"""`zapomni.open()`: a memory for a Python program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.model import Actor, Origin


def open_memory(
    home: str | Path | None = None, *, folder: str | Path | None = None, actor: str = "library", **settings: Any
) -> Zapomni:
    """Open the memory that the settings name; exported as `zapomni.open`.

    `home` overrides the data folder; `folder` is the working folder whose repository is the default scope
    (None: no project, scope `user`); `settings` override others by name. Raises `ConfigError`.
    """
    place = Path(folder) if folder is not None else None
    config = load({"home": home, **settings} if home is not None else settings, folder=place)
    return Zapomni(config, folder=place, actor=Actor(name=actor, origin=Origin.AGENT))
