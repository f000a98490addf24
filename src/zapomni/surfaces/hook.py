"""`zapomni hook --client NAME`: a client's event on standard input, the answer in its form on standard output.

It never gets in the way: whatever happens, the status is 0 and nothing but the answer is written; an event that
cannot be kept now is left in the spool (`services.sessions.spool`). Nothing is imported that one event does not need,
so that an answer costs a few starts of a bare interpreter.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from msgspec import Struct

from zapomni.config import data_folder, load
from zapomni.errors import ConfigError
from zapomni.forms import default_folder
from zapomni.model.session import Moment
from zapomni.surfaces.dialects import DIALECTS, SHORT, read_event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from zapomni.model.session import Event
    from zapomni.parts import Parts
    from zapomni.settings import Config

INPUT_LIMIT: Final = 64 * 2**20
"""Bytes of an event that are read; a longer one is none that a client sends."""
MARK: Final = "ZAPOMNI_HOOK"
"""The variable by which a process and its children are known as those whom hooks leave alone."""
PATIENCE_MS: Final = 1_000
"""How long a hook waits for a store that another process holds."""
TOLD_LIMIT: Final = 1_000
"""Characters of what is wrong with the settings; a project's file, which is quoted there, may be anybody's."""
DEADLINE_S: Final = 8.0
"""After how many seconds a hook gives up; clients cancel theirs after 3 to 60."""


class Late(Exception):
    """The hook has used up its time; no `TimeoutError`, which is an `OSError` and would be taken for a file's."""


class Call(Struct, frozen=True):
    """How the hook was called; `event` names the event for clients that do not."""

    client: str = ""
    event: str = ""
    home: str | None = None


def main(words: Sequence[str]) -> NoReturn:
    """Answer the event of this process and end it with status 0."""
    gc.disable()  # it is over before collecting could pay
    with suppress(BaseException):
        _limit_time()
        write(reply(read_call(words), read_input(), []))
    os._exit(0)  # as if killed, which costs a store nothing; closing it would bring its log into the file first


def read_call(words: Sequence[str]) -> Call:
    """Read the arguments; what is not understood is passed over."""
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in {"--client", "--event", "--home"}:
            given[name[2:]] = value if equals else next(rest, "")
    return Call(given.get("client", ""), given.get("event", ""), given.get("home") or None)


def answer(call: Call, data: bytes) -> str:
    """Return what is written for an event, as `reply` does, and close what was opened for it."""
    opened: list[Parts] = []
    try:
        return reply(call, data, opened)
    finally:
        for parts in opened:
            parts.close()


def reply(call: Call, data: bytes, opened: list[Parts]) -> str:
    """Return what is written for an event: always a valid answer of the client, with or without context.

    The memory that was opened for it is added to `opened`.
    """
    import json

    client = SHORT.get(call.client.lower(), call.client.lower())
    dialect = DIALECTS.get(client)
    if dialect is None:
        return "{}"
    try:
        payload = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        payload = None
    event = read_event(client, payload, call.event)
    try:
        context = "" if is_off() or event.again else respond(event, call.home, opened)
    except Exception:  # noqa: BLE001 - whatever it was, the client goes on
        context = ""
    return dialect.answer(event, context)


def is_off() -> bool:
    """Tell whether hooks keep still: whoever runs an agent that must not remember itself sets `MARK` to anything."""
    return bool(os.environ.get(MARK, "").strip())  # noqa: TID251 - no setting: it is inherited, never written


def respond(event: Event, home: str | None, opened: list[Parts]) -> str:
    """Do what an event asks for and return the context that it is answered with."""
    dialect = DIALECTS[event.client]
    if event.moment is Moment.OTHER or (event.moment is Moment.PROMPT and not dialect.prompts):
        return ""
    folder = _folder(event.folder)
    try:
        config = load({"home": home, "store.busy_timeout_ms": PATIENCE_MS}, cwd=folder)
    except ConfigError as error:
        return _put_off(event, data_folder(home, cwd=folder), error)
    if event.moment not in {Moment.PROMPT, Moment.START}:
        _capture(config, event, folder, opened)
        return ""
    opened.append(parts := memory(config, event, folder))
    if event.moment is Moment.START:
        drain_spool(config)
        return parts.sessions.start(event).text
    pack = parts.sessions.prompt(event, restarts=dialect.restarts)
    if not dialect.files:
        _capture(config, event, folder, opened)
    return pack.text


def _put_off(event: Event, home: Path, error: ConfigError) -> str:
    """Leave an event to a hook that can read the settings, and return what tells the agent that this one cannot."""
    from zapomni.text.fence import fence

    heard = event.moment in {Moment.PROMPT, Moment.START}
    if not heard or (event.moment is Moment.PROMPT and not DIALECTS[event.client].files):
        with suppress(OSError):  # the agent is told all the same
            _spool(home, event)
    said = " ".join(f"zapomni is off here, and nothing is recalled: {error}".split())
    return fence(said[:TOLD_LIMIT], "zapomni itself") if heard else ""


def _capture(config: Config, event: Event, folder: Path | None, opened: list[Parts]) -> None:
    try:
        if not opened:
            opened.append(memory(config, event, folder))
        opened[0].sessions.capture(event, often=DIALECTS[event.client].often)
        if event.moment is Moment.END and event.transcript and config.llm.model:
            _have_read(config, event)
        drain_spool(config)
    except Exception:  # noqa: BLE001 - the event waits for a process that can keep it
        _spool(config.home, event)


def memory(config: Config, event: Event, folder: Path | None) -> Parts:
    """Open the memory for the hook of one client in the folder that its session works in."""
    from zapomni.model import Actor, Origin
    from zapomni.parts import Parts

    return Parts(config, folder=folder, actor=Actor(name=f"hook:{event.client}", origin=Origin.SESSION))


def _folder(told: str) -> Path | None:
    from pathlib import Path

    try:
        folder = Path(told) if told else Path.cwd()
        return folder if folder.is_absolute() else None
    except (OSError, ValueError):
        return None


def _spool(home: Path, event: Event) -> None:
    from zapomni.ids import random_id
    from zapomni.services.sessions.spool import keep

    _set_time(0)  # this must come to its end
    keep(home, event, random_id)


def _have_read(config: Config, event: Event) -> None:
    """Have the language model read the whole session, in a process that nobody waits for and no hook remembers."""
    import subprocess

    command = [sys.executable, "-m", "zapomni", "--home", str(config.home), "session", "close", "--apply"]
    told = {"transcript": event.transcript, "client": event.client, "session": event.session}
    environ = {**os.environ, MARK: "1"}  # noqa: TID251 - handed on with the mark
    quiet = subprocess.DEVNULL
    subprocess.Popen(  # its end is not waited for
        [*command, *(f"--{name}={value}" for name, value in told.items())],
        cwd=event.folder or None,
        env=environ,
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )


def drain_spool(config: Config) -> None:
    """Work off what earlier hooks could not keep; each event goes where its own session worked."""
    for home in homes_with_spool(config):
        from zapomni.services.sessions.spool import drain

        drain(home, lambda event: _keep_late(config, event))


def homes_with_spool(config: Config) -> list[Path]:
    """Return the data folders in which events wait; the usual case costs one look.

    Where the user's own file names the data folder, hooks that could not read that file left theirs in the usual one.
    """
    homes = [config.home]
    if os.path.isabs(config.origins["home"]):  # noqa: PTH117 - text, which is a path where a file is its origin
        homes.append(default_folder("data", os.environ))  # noqa: TID251 - handed to the module that knows its rule
    return [home for home in homes if os.path.isdir(home / "spool")]  # noqa: PTH112 - never raises


def _keep_late(config: Config, event: Event) -> None:
    folder = _folder(event.folder)
    load({"home": config.home}, cwd=folder)  # as long as its settings cannot be read, the event goes on waiting
    with memory(config, event, folder) as parts:
        parts.sessions.capture(event)


def _limit_time() -> None:
    import signal

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _late)
        _set_time(DEADLINE_S)


def _set_time(seconds: float) -> None:
    import signal

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _late(*_: object) -> None:
    raise Late


def read_input() -> bytes:
    """Return standard input whole; nothing where there is none, or where a person would have to type it."""
    pieces, size = [], 0
    with suppress(OSError, ValueError, Late):
        if os.isatty(0):
            return b""
        while piece := os.read(0, 2**20):
            size += len(piece)
            if size > INPUT_LIMIT:
                return b""
            pieces.append(piece)
    return b"".join(pieces)


def write(text: str) -> None:
    """Write an answer to standard output as UTF-8; where that is closed it goes nowhere."""
    data = text.encode("utf-8", "replace")
    with suppress(OSError):
        while data:
            data = data[os.write(1, data) :]
    sys.stdout = None  # nothing else is ever written
