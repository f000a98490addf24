"""Where the command starts: a hook goes its own short way, everything else to the command line."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn


def main() -> NoReturn:
    """Run what the arguments of this process ask for."""
    if sys.getfilesystemencoding() != "utf-8":
        _begin_in_utf8()
    _import_msgspec()
    words = sys.argv[1:]
    at = 2 if words[:1] == ["--home"] else 0
    if words[at : at + 1] == ["hook"] and not {"-h", "--help"} & set(words):
        from zapomni.surfaces.hook import main as hook

        hook([*words[:at], *words[at + 1 :]])
    from zapomni.surfaces.cli.main import main as command

    command()


def _begin_in_utf8() -> None:
    """Start this process over with arguments, names and paths in UTF-8, whatever the locale would have Python read.

    Arguments that are no UTF-8 are spelled as the locale says and stay with it.
    """
    try:
        for word in sys.argv:
            os.fsencode(word).decode()
    except UnicodeDecodeError:
        return
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606 - no shell is wanted


def _import_msgspec() -> None:
    """Import `msgspec` without `typing_extensions`, which it can do without and which costs half a bare start."""
    modules: dict[str, Any] = sys.modules
    if "typing_extensions" in modules:
        return
    modules["typing_extensions"] = None
    try:
        import msgspec  # noqa: F401 - for those who need it
    finally:
        del modules["typing_extensions"]
