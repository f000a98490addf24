"""Putting our parts into clients and taking them out again; what was done is told part by part.

A part that cannot be put in place is skipped with its reason and costs no other part.
"""

from __future__ import annotations

import subprocess
from collections import defaultdict
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from filelock import FileLock, Timeout
from msgspec import Struct
from msgspec.structs import replace

from zapomni.agents import disk
from zapomni.agents.base import AGENT, Launch, Part, Reach
from zapomni.agents.clients import CLIENTS
from zapomni.agents.desk import Change, Desk
from zapomni.agents.edits import NAME, State
from zapomni.agents.ledger import Ledger
from zapomni.agents.plugin import plugin_of
from zapomni.errors import Refused, Unavailable, ZapomniError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zapomni.agents.base import Aim, Client, Machine
    from zapomni.agents.edits import Edit
    from zapomni.agents.ledger import Record

OWN_COMMAND_S: Final = 60
"""How long a client's own command may take before its file is edited instead."""
LOCK_S: Final = 30
_KEPT: Final = "it was there before setup; run this again to take it out too"


_Aimed = tuple[str, "Aim", "Edit"]  # a client's name, a part of it, and the edit that takes that out


class Outcome(StrEnum):
    """What became of one part."""

    ADDED = "added"
    UPDATED = "updated"
    PRESENT = "present"
    REMOVED = "removed"
    KEPT = "kept"
    SKIPPED = "skipped"
    LEFT = "left"


class Step(Struct, frozen=True, kw_only=True):
    """One part of one client in one file; `why` it was skipped, kept or left, `command` whose own command did it."""

    client: str
    part: Part
    file: Path
    outcome: Outcome
    why: str = ""
    command: tuple[str, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """What one run did, or would do, and what it changes in files.

    `stays` are the projects in whose files ours stay when the user's are cleared.
    """

    steps: tuple[Step, ...]
    changes: tuple[Change, ...]
    stays: tuple[Path, ...] = ()


class Starter(Struct, frozen=True, kw_only=True):
    """How this installation is started: its command's whole path, and the variables that a client must hand over.

    `names_agents` tells that a server is told whose agent it serves, as hooks are; not where the settings say it.
    """

    command: str
    environment: Mapping[str, str]
    names_agents: bool = True

    def launch(self, client: Client, machine: Machine, reach: Reach) -> Launch:
        """Return how a client starts us; a project's files are shared, so they hold no path of this machine."""
        shared = reach is Reach.PROJECT
        named = self.names_agents and not (shared and client.open_servers)
        agent = {AGENT: client.agent or client.name} if named else {}
        return Launch(
            client=client.name,
            command=NAME if shared else self.command,
            environment=agent if shared else {**self.environment, **agent},
            windows=machine.windows,
        )


def wire(
    clients: Sequence[Client], machine: Machine, starter: Starter, *, home: Path, reach: Reach, dry_run: bool
) -> Report:
    """Wire clients; with `dry_run` nothing is written, no program is started, and the report is the same.

    `home` is the data folder, where the ledger and the backups lie. Raises `Unavailable` where another run of setup
    holds the ledger.
    """
    with _ledger(home, dry_run=dry_run) as ledger:
        desk = Desk(ledger)
        steps = [
            step
            for client in clients
            for step in _wired(client, machine, starter.launch(client, machine, reach), reach, desk, dry_run=dry_run)
        ]
        changes = desk.changes()
        return Report(steps=tuple(steps if dry_run else _written(desk, steps)), changes=tuple(changes))


def unwire(clients: Sequence[Client], machine: Machine, *, home: Path, reach: Reach, dry_run: bool) -> Report:
    """Take our parts out of clients: of files that only setup has touched since, to the byte; of others, our entries.

    The user's files or those of this project, which others share: what one reach wrote the other leaves alone. A file
    that several clients share stays until the last of them goes.
    """
    with _ledger(home, dry_run=dry_run) as ledger:
        desk = Desk(ledger)
        order = [client.name for client in clients]
        names = set(order)
        steps: list[Step] = []
        found = _aims(clients, machine, reach, desk)
        wired = _wired_by(found)
        for file, aims in found.items():
            record = ledger.records.get(file)
            others = tuple(name for name in record.clients if name not in names) if record else ()
            if record and others:
                ledger.records[file] = replace(record, clients=others)
            else:
                if _is_shared(record):
                    aims.sort(key=lambda aim: (aim[0] in wired, -order.index(aim[0])))
                taken = _unwired(file, aims, desk, dry_run=dry_run)
                if _is_shared(record) and not dry_run and any(step.outcome is Outcome.REMOVED for step in taken):
                    disk.sweep_folders(file, _kept_folders(machine))
                steps += taken
        stays = _staying(clients, machine, desk) if reach is Reach.USER else ()
        if not dry_run:
            _forget_gone(ledger)
            ledger.sweep()
        steps.sort(key=lambda step: (order.index(step.client), list(Part).index(step.part)))
        return Report(steps=tuple(steps), changes=tuple(desk.changes()), stays=stays)


# --- putting in -----------------------------------------------------------------------------------------
def _wired(
    client: Client, machine: Machine, launch: Launch, reach: Reach, desk: Desk, *, dry_run: bool
) -> Iterator[Step]:
    plugin = plugin_of(client, machine, reach)
    for aim in client.aims:
        file = machine.file(aim, reach)
        if file is None:
            continue
        try:
            if plugin and aim.part is Part.HOOKS:
                yield _left(client, aim, file, launch, plugin, reach)
                continue
            yield _put(client, aim, file, machine, launch, reach, desk, dry_run=dry_run)
        except (Refused, Unavailable) as error:
            yield _skipped(client.name, aim.part, file, error)


def _put(
    client: Client, aim: Aim, file: Path, machine: Machine, launch: Launch, reach: Reach, desk: Desk, *, dry_run: bool
) -> Step:
    edit, known = aim.edit(launch), desk.known(file)
    sheet = desk.sheet(known)
    state = edit.state(sheet.now or "")
    alone = state is State.ABSENT and not file.is_symlink()  # a client's own command may put a file in a link's place
    command = _own_command(client, aim, machine, launch, reach) if alone else ()
    if command and not dry_run:
        _run(command, machine)
        sheet = desk.look_again(known)
        command = command if edit.state(sheet.now or "") is State.WIRED else ()
    written = edit.put(sheet.first.text if command else sheet.now or "")
    sheet.blanks = {**written.blanks, **sheet.blanks}
    if not command:
        sheet.now, sheet.executable = written.text, aim.executable
    sheet.clients = tuple(dict.fromkeys([*sheet.clients, client.name]))
    sheet.project = str(machine.roots["project"]) if reach is Reach.PROJECT else ""
    if edit.state(sheet.first.text) in {State.WIRED, State.CHANGED}:
        sheet.found(aim.part)
    outcome = {State.WIRED: Outcome.PRESENT, State.ABSENT: Outcome.ADDED}.get(state, Outcome.UPDATED)
    return Step(client=client.name, part=aim.part, file=file, outcome=outcome, command=command)


def _left(client: Client, aim: Aim, file: Path, launch: Launch, plugin: str, reach: Reach) -> Step:
    """Leave hooks to the plugin that brings them: each would run twice."""
    why = f"the plugin {plugin} of {client.title} brings them"
    if aim.edit(launch).state(disk.content(file).text) in {State.WIRED, State.CHANGED}:
        why += f", so that those of this file run as well: {run_once(client, reach)}"
    return Step(client=client.name, part=aim.part, file=file, outcome=Outcome.LEFT, why=why)


def run_once(client: Client, reach: Reach) -> str:
    """Say what a person does whose hooks come both by a plugin and by setup."""
    again = f"zapomni setup {client.name}{' --scope project' if reach is Reach.PROJECT else ''}"
    return f"run `{again} --remove`, then `{again}`"


def _own_command(client: Client, aim: Aim, machine: Machine, launch: Launch, reach: Reach) -> tuple[str, ...]:
    """Return the client's own command for adding the server, empty where it has none or is not here."""
    own = client.own
    if own is None or aim.part is not Part.SERVER or reach not in own.reaches:
        return ()
    program = machine.program(own.program)
    return (program, *own.add(launch, reach)) if program else ()


def _run(command: tuple[str, ...], machine: Machine) -> None:
    """Run a client's command; whether it did what it should is seen in its file."""
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command,
            env=dict(machine.environ),
            cwd=machine.roots.get("project", machine.roots["home"]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=OWN_COMMAND_S,
            check=False,
        )


def _written(desk: Desk, steps: Sequence[Step]) -> Iterator[Step]:
    """Write every file, and yield the steps as they came out."""
    troubles: dict[Path, ZapomniError] = {}
    known = dict(desk.ledger.records)
    for file in desk.sheets:
        desk.record(file)
    desk.ledger.save()
    for file in desk.sheets:
        try:
            desk.write(file)
        except Unavailable as error:
            troubles[file] = error
            desk.ledger.back_to(file, known.get(file))
    for step in steps:
        trouble = troubles.get(desk.known(step.file))
        yield step if trouble is None else _skipped(step.client, step.part, step.file, trouble)


# --- taking out -----------------------------------------------------------------------------------------
def _aims(clients: Sequence[Client], machine: Machine, reach: Reach, desk: Desk) -> dict[Path, list[_Aimed]]:
    """Return, by file, the parts that may lie there."""
    found: dict[Path, list[_Aimed]] = defaultdict(list)
    for client in clients:
        for aim in client.aims:
            edit = aim.edit(Launch(client=client.name, command=NAME))
            for path in machine.places(aim, reach):
                found[desk.known(path)].append((client.name, aim, edit))
    return found


def _wired_by(found: Mapping[Path, list[_Aimed]]) -> set[str]:
    """Return the clients that hold ours in a file of their own: of a shared one nothing tells whose it is."""
    alone = [aims for aims in found.items() if len({client for client, _, _ in aims[1]}) == 1]
    return {client for file, aims in alone for client, _, edit in aims if _holds(file, edit)}


def _is_shared(record: Record | None) -> bool:
    """Tell whether a file came with parts of ours in it: another person wired it, or the record of it was lost."""
    return record is None or (record.created and not record.after)


def _kept_folders(machine: Machine) -> set[Path]:
    """Return the folders that tell that a client is here, and those in which all lies."""
    marks = (machine.path(mark) for client in CLIENTS.values() for mark in client.marks)
    return {*machine.roots.values(), *marks}


def _staying(clients: Sequence[Client], machine: Machine, desk: Desk) -> tuple[Path, ...]:
    """Return the projects whose files hold parts of ours: those that the ledger knows of, and this one."""
    ledger = desk.ledger
    names = {client.name for client in clients}
    known = {Path(row.project) for row in ledger.records.values() if row.project and not names.isdisjoint(row.clients)}
    here = machine.roots.get("project")
    if here is not None and any(
        _holds(file, edit)
        for file, aims in _aims(clients, machine, Reach.PROJECT, desk).items()
        if file not in ledger.records
        for _, _, edit in aims
    ):
        known.add(here)
    return tuple(sorted(project for project in known if not disk.is_gone(project)))


def _holds(file: Path, edit: Edit) -> bool:
    with suppress(Refused, Unavailable):  # what cannot be read is for the removal to tell
        return edit.state(disk.content(file).text) in {State.WIRED, State.CHANGED}
    return False


def _forget_gone(ledger: Ledger) -> None:
    """Drop what is known of projects that are no more: nobody can go there to have it taken out."""
    for file, record in list(ledger.records.items()):
        if record.project and disk.is_gone(Path(record.project)):
            ledger.forget(file)


def _unwired(file: Path, aims: list[_Aimed], desk: Desk, *, dry_run: bool) -> list[Step]:
    """Take every part of ours out of one file, the last of them first."""
    record = desk.ledger.records.get(file)
    steps: list[Step] = []
    try:
        sheet = desk.sheet(file)
        text, untouched = sheet.now or "", desk.untouched(file)
        mine = [aim for aim in aims if record is None or aim[0] in record.clients]
        for client, aim, edit in reversed(mine):
            if any(step.part is aim.part for step in steps) or edit.state(text) in {State.ABSENT, State.FOREIGN}:
                continue
            if record and aim.part in record.present:
                steps.append(Step(client=client, part=aim.part, file=file, outcome=Outcome.KEPT, why=_KEPT))
                continue
            if not untouched:
                text = _dropped(edit, text, record)
            steps.append(Step(client=client, part=aim.part, file=file, outcome=Outcome.REMOVED))
        if record is None and not steps:
            return []
        before = desk.before(file, text)
        sheet.now = None if before is None else before.decode("utf-8-sig")
        if not dry_run:
            desk.put_back(file, before)
    except (Refused, Unavailable) as error:
        return [_skipped(client, aim.part, file, error) for client, aim, _ in aims[:1] if file.exists()]
    return steps[::-1]


def _dropped(edit: Edit, text: str, record: Record | None) -> str:
    """Return a text without our entry; what was empty around it is as recorded, or else counts as made for it."""
    if record is not None and not record.created:
        return edit.drop(text, record.blanks)
    known = record.blanks if record else {}
    made = {where: was for where, was in edit.put("").blanks.items() if was is None}
    text = edit.drop(text, {**made, **known})
    return "" if "".join(text.split()) == "{}" else text


def _skipped(client: str, part: Part, file: Path, error: ZapomniError) -> Step:
    why = ". ".join(filter(None, [error.message, error.remedy]))
    return Step(client=client, part=part, file=file, outcome=Outcome.SKIPPED, why=why)


@contextmanager
def _ledger(home: Path, *, dry_run: bool) -> Iterator[Ledger]:
    """Read the ledger, and write it at the end; one run of setup at a time."""
    if dry_run:
        yield Ledger(home)
        return
    home.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(home / "setup.lock", timeout=LOCK_S):
            ledger = Ledger(home)
            try:
                yield ledger
            finally:
                ledger.save()
    except Timeout:
        raise Unavailable("another run of setup is at work", remedy="Wait for it, then run the command again") from None
