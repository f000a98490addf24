"""Where the command starts: a hook goes its own short way, everything else to the command line."""

from __future__ import annotations

import sys
from typing import Any, NoReturn


def main() -> NoReturn:
    """Run what the arguments of this process ask for."""
    _import_msgspec()
    words = sys.argv[1:]
    at = 2 if words[:1] == ["--home"] else 0
    if words[at : at + 1] == ["hook"] and not {"-h", "--help"} & set(words):
        from zapomni.surfaces.hook import main as hook

        hook([*words[:at], *words[at + 1 :]])
    from zapomni.surfaces.cli.main import main as command

    command()


def _import_msgspec() -> None:
    """Import `msgspec` without `typing_extensions`, which it can do without and which costs half a bare start."""
    modules: dict[str, Any] = sys.modules
    modules["typing_extensions"] = None
    import msgspec  # noqa: F401 - for those who need it

    del modules["typing_extensions"]
