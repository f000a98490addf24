"""zapomni: one durable memory for all the AI agents you work with.

`open()` gives the memory as a library object; `zapomni.errors` and `zapomni.model` hold what it speaks in.
Importing the package loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zapomni.app import Zapomni
    from zapomni.opening import open_memory as open  # noqa: A004 - `zapomni.open()` is the name people expect

__all__ = ["Zapomni", "__version__", "open"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load the library on first use, so that the command starts fast."""
    if name in {"Zapomni", "open"}:
        from zapomni import app, opening

        return opening.open_memory if name == "open" else app.Zapomni
    raise AttributeError(f"module 'zapomni' has no attribute {name!r}")
