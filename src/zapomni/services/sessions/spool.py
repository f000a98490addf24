"""The spool: events whose store could not be written, kept beside it until a later process can.

One file an event, made whole under its name at once, mode 0600. Working an entry off twice does no harm, for capture
knows what it stored; so no entry is locked.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec import convert, to_builtins
from msgspec.structs import replace

from zapomni.errors import ConfigError, StoreDamaged, Unavailable, ZapomniError
from zapomni.model.session import Event, Turn
from zapomni.text.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from zapomni.ids import IdFactory

FOLDER: Final = "spool"
DEAD: Final = "dead"
"""Where entries go that no later process could read either."""
MOST: Final = 100
"""Entries worked off in one go: a hook's client waits for it."""


def keep(home: Path, event: Event, new_id: IdFactory) -> None:
    """Keep an event for later, without its secrets; raises `OSError` where nothing can be written."""
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = new_id()
    part = folder / f".{name}.part"
    bare = replace(
        event,
        prompt=redact(event.prompt)[0],
        said=redact(event.said)[0],
        turns=tuple(replace(turn, text=redact(turn.text)[0]) for turn in event.turns),
    )
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        json.dump(to_builtins(bare), file)
    part.replace(folder / f"{name}.json")


def waiting(home: Path) -> list[Path]:
    """Return the entries that wait."""
    try:
        return sorted(entry for entry in (home / FOLDER).glob("*.json") if entry.is_file())
    except OSError:
        return []


def drain(home: Path, take: Callable[[Event], object]) -> int:
    """Work entries off and return how many; one that can never be read is put aside.

    Ends quietly where nothing can be written yet. An entry of a project whose settings cannot be read goes on waiting
    and costs no other one. Whatever else `take` raises leaves the entry where it is.
    """
    done = tried = 0
    for entry in waiting(home):
        if tried == MOST:
            break
        tried += 1
        try:
            take(_read(entry))
        except ConfigError:
            tried -= 1
            continue
        except FileNotFoundError:  # another process has just taken it
            continue
        except (Unavailable, StoreDamaged, OSError):
            break
        except (ZapomniError, ValueError, TypeError, RecursionError):
            _put_aside(entry)
            continue
        done += 1
        with suppress(OSError):
            entry.unlink()
    return done


def _put_aside(entry: Path) -> None:
    with suppress(OSError):
        (entry.parent / DEAD).mkdir(exist_ok=True, mode=0o700)
        entry.replace(entry.parent / DEAD / entry.name)


def _read(entry: Path) -> Event:
    found = json.loads(entry.read_text(encoding="utf-8"))
    if isinstance(found, list):  # the first releases wrote fields without their names
        found = dict(zip(Event.__struct_fields__, found, strict=True))
        found["turns"] = [dict(zip(Turn.__struct_fields__, turn, strict=True)) for turn in found["turns"]]
    return convert(found, Event)
