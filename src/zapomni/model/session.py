"""What a client's hook tells: one event of one session, in one form for all clients."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Moment(StrEnum):
    """When in a session an event comes."""

    START = "start"
    PROMPT = "prompt"
    COMPACT = "compact"
    STOP = "stop"
    END = "end"
    OTHER = "other"


class Turn(Struct, frozen=True):
    """One thing that was said: by whom (`user` or `assistant`), its text, its id, when, and its line from 1.

    `at` is the text of the time as the client wrote it, empty where it wrote none.
    """

    role: str
    text: str
    uuid: str = ""
    at: str = ""
    line: int = 0


class Event(Struct, frozen=True):
    """One event; texts are empty where the client told nothing.

    `name` is the event as the client calls it. `source` says how a session began. `transcript` is the path of its
    file, `said` the assistant's last message, `turns` what was said where the client hands it over itself. `again`
    marks an event that a hook's own answer brought about.
    """

    client: str
    moment: Moment
    name: str = ""
    session: str = ""
    folder: str = ""
    prompt: str = ""
    source: str = ""
    transcript: str = ""
    said: str = ""
    again: bool = False
    turns: tuple[Turn, ...] = ()
