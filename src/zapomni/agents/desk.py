"""The files of one run: each is read once, edited any number of times, and written once or only shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct, field

from zapomni.agents import disk
from zapomni.agents.base import Part
from zapomni.agents.ledger import Record, digest

if TYPE_CHECKING:
    from pathlib import Path

    from zapomni.agents.disk import Content
    from zapomni.agents.ledger import Ledger


class Change(Struct, frozen=True, kw_only=True):
    """One file as it was and as it is to be; None is no file."""

    file: Path
    before: str | None
    after: str | None

    @property
    def kind(self) -> str:
        """What happens to the file: it is created, changed or deleted."""
        return "created" if self.before is None else "deleted" if self.after is None else "changed"


class Sheet(Struct, kw_only=True):
    """One file on the desk: as it was first seen, as it was last seen on disk, and as it is to be.

    `present` is the server's part where its entry was there already, and a person may have made it; `ours` tells that
    it held other parts, which nobody makes but setup.
    """

    first: Content
    seen: Content
    now: str | None
    clients: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    ours: bool = False
    blanks: dict[str, str | None] = field(default_factory=dict)
    executable: bool = False
    project: str = ""

    def found(self, part: Part) -> None:
        """Take note that a part was there already."""
        if part is Part.SERVER:
            self.present = (part,)
        else:
            self.ours = True

    @property
    def data(self) -> bytes | None:
        """What the file is to hold; a file that was not there and is to hold nothing is not made."""
        if self.now is None or (self.now == "" and self.seen.data is None):
            return None
        return self.seen.data if self.now == self.seen.text else (self.seen.mark + self.now).encode()


class Desk:
    """The sheets of one run by file."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.sheets: dict[Path, Sheet] = {}
        self._names = {os.path.realpath(file): file for file in ledger.records}

    def known(self, file: Path) -> Path:
        """Return the path by which a file is dealt with: the first, where links make it the file of several clients."""
        return file if file in self.ledger.records else self._names.setdefault(os.path.realpath(file), file)

    def sheet(self, file: Path) -> Sheet:
        """Return a file's sheet; raises `Refused` or `Unavailable` for one that cannot be read."""
        if file not in self.sheets:
            found = disk.content(file)
            self.sheets[file] = Sheet(first=found, seen=found, now=None if found.data is None else found.text)
        return self.sheets[file]

    def look_again(self, file: Path) -> Sheet:
        """Read a file anew after another program was asked to change it."""
        sheet = self.sheet(file)
        sheet.seen = disk.content(file)
        sheet.now = None if sheet.seen.data is None else sheet.seen.text
        return sheet

    def changes(self) -> list[Change]:
        """Return what this run changes, in the order in which it came to it."""
        return [
            Change(
                file=file,
                before=None if sheet.first.data is None else sheet.first.text,
                after=None if sheet.data is None else sheet.now,
            )
            for file, sheet in self.sheets.items()
            if sheet.data != sheet.first.data
        ]

    def record(self, file: Path) -> None:
        """Put down what will be done to a file, before it is: whoever is killed in the midst can be taken back."""
        sheet, record = self.sheets[file], self.ledger.records.get(file)
        data = sheet.data
        if data is None or (record is None and data == sheet.first.data and not sheet.present and not sheet.ours):
            return
        if record is not None and sheet.first.data is None:  # somebody deleted it since: it is new again
            self.ledger.forget(file)
            record = None
        if record is None and not sheet.ours:
            self.ledger.keep(file, sheet.first.data)
        self.ledger.folders += disk.missing_folders(file)
        self.ledger.records[file] = _recorded(record, sheet, digest(data))

    def write(self, file: Path) -> None:
        """Write one file; raises `Unavailable` where the system or another program is in the way."""
        sheet = self.sheets[file]
        disk.sweep(file)
        if sheet.data is not None and sheet.data != sheet.seen.data:
            disk.write(file, sheet.data, seen=sheet.seen.data, executable=sheet.executable)

    def untouched(self, file: Path) -> bool:
        """Tell whether a file holds what we wrote last, and what it held before us is known."""
        sheet, record = self.sheet(file), self.ledger.records.get(file)
        if record is None or sheet.seen.data is None or digest(sheet.seen.data) != record.after:
            return False
        return record.created or self.ledger.before(file) is not None

    def before(self, file: Path, rest: str) -> bytes | None:
        """Return what a file is to hold without us, None where it is to go.

        That is what it held before us, if it is untouched since, or else `rest`: its text without our parts.
        """
        sheet, record = self.sheet(file), self.ledger.records.get(file)
        if record and self.untouched(file):
            return None if record.created else self.ledger.before(file)
        if not rest.strip() and (record is None or record.created):
            return None
        return sheet.seen.data if rest == sheet.seen.text else (sheet.seen.mark + rest).encode()

    def put_back(self, file: Path, data: bytes | None) -> None:
        """Write what a file held before us, or delete it, and drop its record."""
        sheet = self.sheets[file]
        disk.sweep(file)
        if data is None:
            disk.delete(file)
        elif data != sheet.seen.data:
            disk.write(file, data, seen=sheet.seen.data)
        self.ledger.forget(file)


def _recorded(record: Record | None, sheet: Sheet, after: str) -> Record:
    if record is None:
        return Record(
            clients=sheet.clients,
            created=sheet.first.data is None or sheet.ours,
            after="" if sheet.ours else after,
            present=sheet.present,
            blanks=sheet.blanks,
            project=sheet.project,
        )
    changed_by_us = sheet.first.data is None or digest(sheet.first.data) != after
    known = sheet.first.data is not None and digest(sheet.first.data) == record.after
    return Record(
        clients=tuple(dict.fromkeys([*record.clients, *sheet.clients])),
        created=record.created,
        after=record.after if not changed_by_us else after if known else "",
        present=record.present,
        blanks={**sheet.blanks, **record.blanks},
        project=record.project,
    )
