"""What the tests of mirrored folders share: a memory, a folder beside it, and both sides of every step."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from zapomni.app import Zapomni
from zapomni.config import load
from zapomni.model import Filter, Trust
from zapomni.services.mirror import give as mirror_give
from zapomni.services.mirror.plan import path_key
from zapomni.services.mirror.says import said
from zapomni.services.mirror.state import Reconcile
from zapomni.services.vault import pages as vault_pages
from zapomni.text.index_page import parse_index, target_key

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from zapomni.model import Memory
    from zapomni.model.document import Scanned

SCOPE = "agent:lion"
START = datetime(2031, 1, 1, tzinfo=UTC)
EVERYTHING = Filter(expired=True, deleted=True, trusts=tuple(Trust))


class Crash(BaseException):
    """The end of a process, as seen from inside."""


class Vault:
    """A folder and the memories of one agent; time is passed in, and files get times of their own."""

    def __init__(self, home: Path, root: Path, scope: str = SCOPE) -> None:
        self.root = root
        self.scope = scope
        self.ticks = self.ids = 0
        self.fuse: int | None = None
        self.app = Zapomni(
            load({"home": home, "embedder.provider": "none"}, environ={}), clock=self.clock, new_id=self.new_id
        )

    def clock(self) -> datetime:
        self.ticks += 1
        return START + timedelta(seconds=self.ticks)

    def new_id(self) -> str:
        self.ids += 1
        return f"m{self.ids:015}"

    # --- the folder -------------------------------------------------------------------------------------
    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        self.ticks += 1
        os.utime(path, ns=(self.ticks * 10**9, self.ticks * 10**9))
        return path

    def read(self, name: str) -> str:
        return (self.root / name).read_bytes().decode()

    def files(self) -> dict[str, bytes]:
        """Every file but the index, which names notes and is none."""
        found = (path for path in self.root.rglob("*") if path.is_file() and not path.name.endswith(".tmp"))
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found if path.name != "MEMORY.md"}

    def index(self) -> bytes:
        path = self.root / "MEMORY.md"
        return path.read_bytes() if path.exists() else b""

    # --- the memory -------------------------------------------------------------------------------------
    def memories(self, *, deleted: bool = False) -> dict[str, Memory]:
        found = self.app.store.page(EVERYTHING, 100_000).memories
        mine = [one for one in found if str(one.scope) == self.scope and (deleted or one.deleted_at is None)]
        return {memory.id: memory for memory in mine}

    def one(self, text: str) -> Memory:
        """The memory that holds these words."""
        (found,) = [memory for memory in self.memories().values() if text in memory.content]
        return found

    def update(self, memory_id: str, **fields: Any) -> None:
        self.app.update(memory_id, scopes=[self.scope], **fields)

    def remember(self, content: str, **fields: Any) -> str:
        return self.app.remember(content, scope=self.scope, **fields).id

    # --- both -------------------------------------------------------------------------------------------
    def attach(self, **options: Any) -> Scanned:
        self.app.documents.add(self.root, mode="mirror", scope=self.scope, **options)
        return self.scan()

    def scan(self, **options: Any) -> Scanned:
        (came,) = self.app.vaults.scan(scopes=[self.scope], **options)
        return came

    def rows(self) -> dict[str, Any]:
        (source,) = [one for one in self.app.documents.sources(scopes=["all"]) if str(one.scope) == self.scope]
        return self.app.store.mirrors.agreed(source.id)

    def ask(self, sql: str) -> list[Any]:
        """The first column of a question to the store's file, as no surface shows it."""
        store: Any = self.app.store
        with store._db.reading() as db:
            return [row[0] for row in db.execute(sql)]

    def revisions(self) -> int:
        (count,) = self.ask("SELECT count(*) FROM revisions")
        return int(count)

    def haystack(self) -> str:
        """Everything that is written anywhere: folder, memories, history, proposals, files that are gone."""
        texts = [data.decode("utf-8", "replace") for data in self.files().values()]
        for sql in (
            "SELECT coalesce(before, '') FROM revisions",
            "SELECT title || char(10) || description || char(10) || content FROM memories",
            "SELECT detail FROM proposals",
            "SELECT text FROM mirror_removed",
            "SELECT lines FROM mirror_lines",
        ):
            texts += self.ask(sql)
        return "\n".join(texts)

    def disagreements(self, passed: Collection[str] = ()) -> list[str]:
        """What folder and store do not say alike, of what nobody has to decide first and was not `passed` over."""
        rows, memories = self.rows(), self.memories()
        wrong = []
        for path, row in rows.items():
            if not row.tied or row.clash is not None or row.held or path in passed:
                continue
            one = said(self.read(path), path)
            if row.memory_id not in memories:
                wrong.append(f"{path}: no memory")
            elif not one.held and one.differs(memories[row.memory_id]):
                wrong.append(f"{path}: {one.differs(memories[row.memory_id])}")
        tied = [row.memory_id for row in rows.values() if row.tied]
        wrong += [f"twice: {one}" for one in set(tied) if tied.count(one) > 1]
        wrong += [f"no file: {one}" for one in memories if one not in tied]
        wrong += [f"no row: {one}" for one in self.files() if one.endswith(".md") and one not in rows]
        return wrong

    def dead_lines(self) -> list[str]:
        """Lines of the index that lead to no file."""
        files = {path_key(path) for path in self.files()}
        entries = [line.entry for line in parse_index(self.index().decode()).entries]
        return [one.target for one in entries if one is not None and path_key(target_key(one.target)) not in files]

    def close(self) -> None:
        self.app.close()


def burn(monkeypatch: Any, vault: Vault) -> None:
    """Make every effect of a reconcile a place at which the process may end: `vault.fuse` counts them down."""

    def tick() -> None:
        if vault.fuse is not None:
            vault.fuse -= 1
            if vault.fuse < 0:
                vault.fuse = None
                raise Crash

    def around(real: Any) -> Any:
        def wrapped(*args: Any, **options: Any) -> Any:
            tick()
            came = real(*args, **options)
            tick()
            return came

        return wrapped

    real_link = Reconcile._link

    def link(self: Reconcile, tx: Any) -> Any:
        tick()
        mentions = real_link(self, tx)
        tick()
        return mentions

    rooms = ((mirror_give, ("write_file", "move_file", "remove_file")), (vault_pages, ("write_file",)))
    for room, name in ((room, name) for room, names in rooms for name in names):
        monkeypatch.setattr(room, name, around(getattr(room, name)))
    monkeypatch.setattr(Reconcile, "_link", link)
