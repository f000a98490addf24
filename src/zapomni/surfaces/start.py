"""Where the command starts: a hook goes its own short way, everything else to the command line."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run what the arguments of this process ask for."""
    words = sys.argv[1:]
    at = 2 if words[:1] == ["--home"] else 0
    if words[at : at + 1] == ["hook"] and not {"-h", "--help"} & set(words):
        from zapomni.surfaces.hook import main as hook

        hook([*words[:at], *words[at + 1 :]])
    from zapomni.surfaces.cli.main import main as command

    command()
