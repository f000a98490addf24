"""What setup did to which file, kept in the data folder, so that removing puts back exactly what was there."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field, to_builtins

from zapomni.agents.disk import replace_file, sweep

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER: Final = "setup"
"""The folder in the data folder that holds the ledger and the backups."""
_PRIVATE: Final = 0o600
_DAMAGE: Final = (KeyError, TypeError, AttributeError, ValueError)
"""What a record raises that is none."""


class Record(Struct, frozen=True, kw_only=True):
    """One file that setup wrote.

    `clients` are those that it was written for, `created` tells that it was not there or held what only setup makes,
    `after` is the digest of what was written last (empty when somebody else had changed the file before, or an earlier
    setup whose record was lost, so that no backup fits), `present` the server's part where its entry was there before,
    `blanks` what was empty inside it, `project` the root of a project's file.
    """

    clients: tuple[str, ...]
    created: bool
    after: str
    present: tuple[str, ...] = ()
    blanks: Mapping[str, str | None] = field(default_factory=dict)
    project: str = ""


class Ledger:
    """The records by file, the folders made for them, and the backups; without a record nothing is on disk."""

    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER
        self.records: dict[Path, Record] = {}
        self.folders: list[Path] = []
        with suppress(OSError, RecursionError, *_DAMAGE):  # removing is by the entries then
            known = json.loads((self.folder / "clients.json").read_text(encoding="utf-8"))
            self.folders = [Path(folder) for folder in known["folders"]]
            for file, row in known["files"].items():
                with suppress(*_DAMAGE):
                    self.records[Path(file)] = _record(row)

    def backup(self, file: Path) -> Path:
        """Return where the backup of a file lies."""
        return self.folder / "backups" / hashlib.sha256(str(file).encode()).hexdigest()[:16]

    def keep(self, file: Path, before: bytes | None) -> None:
        """Keep what a file held before it was written for the first time."""
        if before is not None:
            self.backup(file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self.backup(file), before, mode=_PRIVATE)

    def before(self, file: Path) -> bytes | None:
        """Return what a file held then, None where there was none."""
        try:
            return self.backup(file).read_bytes()
        except OSError:
            return None

    def forget(self, file: Path) -> None:
        """Drop a file's record and its backup."""
        self.records.pop(file, None)
        self.backup(file).unlink(missing_ok=True)

    def back_to(self, file: Path, record: Record | None) -> None:
        """Put down again what was known of a file that could not be written after all."""
        if record is None:
            self.forget(file)
        else:
            self.records[file] = record

    def sweep(self) -> None:
        """Remove the folders that were made for files of ours and are empty now."""
        for folder in sorted(self.folders, key=lambda folder: len(folder.parts), reverse=True):
            with suppress(OSError):  # it is not empty, or not there
                folder.rmdir()
        self.folders = [folder for folder in self.folders if folder.is_dir()]

    def save(self) -> None:
        """Write the records, or clear the folder when there are none."""
        if self.records:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            rows = {str(file): to_builtins(record) for file, record in self.records.items()}
            known = {"version": 1, "files": rows, "folders": list(dict.fromkeys(map(str, self.folders)))}
            text = json.dumps(known, ensure_ascii=False, indent=1)
            sweep(self.folder / "clients.json")
            replace_file(self.folder / "clients.json", text.encode(), mode=_PRIVATE)
            return
        sweep(self.folder / "clients.json")
        (self.folder / "clients.json").unlink(missing_ok=True)
        for backup in (self.folder / "backups").glob("*"):
            backup.unlink(missing_ok=True)
        for folder in (self.folder / "backups", self.folder):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def digest(data: bytes) -> str:
    """Return the digest by which a file is known again."""
    return hashlib.sha256(data).hexdigest()


def _record(row: Mapping[str, Any]) -> Record:
    return Record(
        clients=tuple(row["clients"]),
        created=bool(row["created"]),
        after=str(row["after"]),
        present=tuple(row["present"]),
        blanks=dict(row["blanks"]),
        project=str(row["project"]),
    )
