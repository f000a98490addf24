"""Letting the memories of a file in, one at a time: what is new is added, what is here is met by the mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import Conflict
from zapomni.exchange.entries import ImportMode, Item, Problem
from zapomni.exchange.plain import UNREADABLE, why
from zapomni.model import PAGE_LIMIT, Draft, Memory, Origin, Trust, Verb
from zapomni.services.find import everything_in
from zapomni.services.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from zapomni.model import Actor, Scope
    from zapomni.services.context import Context
    from zapomni.store.base import Tx
    from zapomni.text.indexed import Indexed

_DRAFT: Final = Draft.__struct_fields__
_COUNTS: Final = ("imported", "updated", "skipped", "duplicates", "deleted", "redactions")


class Ready(Struct, frozen=True, kw_only=True):
    """An item that the first half of the gateway let through; `warnings` name what was changed in it."""

    item: Item
    values: Draft
    indexed: Indexed
    redactions: int
    warnings: tuple[str, ...]


def ready_of(item: Item) -> Ready | Problem:
    """Clean, check and redact an item; what cannot be kept is a problem of its line."""
    try:
        prepared = prepare(item.draft)
        indexed = prepared.indexed
    except UNREADABLE as error:
        own_id, reason = item.carried.get("id"), why(error)
        return Problem(line=item.line, reason=f"item {own_id}: {reason}" if own_id else reason)
    values: Draft = prepared.values
    return Ready(
        item=item,
        values=values,
        indexed=indexed,
        redactions=len(prepared.redactions),
        warnings=prepared.warnings,
    )


class Admission:
    """Decides on each memory and counts; `ids` tells under which id each ref of the file is known here."""

    def __init__(self, context: Context, actor: Actor, mode: ImportMode, run_in: Callable[[Tx], str]) -> None:
        self.counts = dict.fromkeys(_COUNTS, 0)
        self.refused: list[Problem] = []
        self.bad: list[Problem] = []
        self.ids: dict[str, str] = {}
        self._context, self._actor, self._mode, self._run_in = context, actor, mode, run_in
        self._own: set[str] = set()
        self._scopes: set[Scope] = set()

    def admit(self, tx: Tx, ready: Ready) -> None:
        """Bring one memory in, or count why not."""
        item, scope = ready.item, ready.values.scope
        assert scope is not None  # every reader sets one
        alive = item.carried.get("deleted_at") is None
        rejection = tx.rejection(scope, ready.indexed.digest) if alive else None
        if rejection is not None:
            reason = f"refused before by {rejection.actor}: {rejection.reason}"
            self.refused.append(Problem(line=item.line, reason=reason))
            return
        self._scopes.add(scope)
        found = self._found(tx, ready)
        twin = tx.find_digest(scope, ready.indexed.digest) if found is None and alive else None
        try:
            if found is not None:
                self._meet(tx, ready, found)
                self._own_up(item, found.id)
            elif twin is not None and self._is_same(item, twin):
                self.counts["duplicates"] += 1
                self._own_up(item, twin.id)
            else:
                self._add(tx, ready)
        except Conflict as error:
            if self._mode is ImportMode.REPLACE:
                raise
            self.bad.append(Problem(line=item.line, reason=error.message))

    def delete_others(self, tx: Tx) -> None:
        """Delete, recoverably, every memory of the scopes of the file that the file does not hold."""
        where = everything_in(tuple(self._scopes))
        others: list[str] = []
        cursor: str | None = None
        while self._scopes:
            page = self._context.store.page(where, PAGE_LIMIT, cursor)
            others += [memory.id for memory in page.memories if memory.id not in self._own]
            cursor = page.next
            if cursor is None:
                break
        for memory_id in others:
            before = tx.get(memory_id)
            if before is not None:
                now = self._context.clock()
                after = before.gone(now)
                tx.put(before, after, verb=Verb.DELETE, actor=self._actor, at=now, run=self._run_in(tx))
                self.counts["deleted"] += 1

    def _found(self, tx: Tx, ready: Ready) -> Memory | None:
        """Return the memory here that is the same record: by its id, else by its key."""
        own_id, scope = ready.item.carried.get("id"), ready.values.scope
        found = tx.get(own_id) if own_id else None
        if found is None and ready.values.key and scope is not None:
            found = tx.find_key(scope, ready.values.key)
        return found

    def _is_same(self, item: Item, twin: Memory) -> bool:
        """Tell whether an item is left out for a twin; records of ours are kept apart as they were in their store."""
        if not item.exact:
            return True
        return self._mode is not ImportMode.REPLACE and twin.id not in self._own

    def _own_up(self, item: Item, memory_id: str) -> None:
        self._own.add(memory_id)
        if item.ref and item.ref != memory_id:
            self.ids.setdefault(item.ref, memory_id)

    def _add(self, tx: Tx, ready: Ready) -> None:
        now = self._context.clock()
        memory = self._memory(ready, now)
        run, indexed = self._run_in(tx), ready.indexed
        tx.put(None, memory, verb=Verb.CREATE, actor=self._actor, at=now, run=run, indexed=indexed)
        self.counts["imported"] += 1
        self.counts["redactions"] += ready.redactions
        self._own_up(ready.item, memory.id)

    def _meet(self, tx: Tx, ready: Ready, found: Memory) -> None:
        now = self._context.clock()
        after = self._over(ready, found, now)
        if after is None:
            self.counts["skipped"] += 1
            return
        tx.put(found, after, verb=_verb(found, after), actor=self._actor, at=now, run=self._run_in(tx))
        self.counts["updated"] += 1
        self.counts["redactions"] += ready.redactions

    def _over(self, ready: Ready, found: Memory, now: datetime) -> Memory | None:
        """Return what an existing memory becomes, None when it stays as it is."""
        carried = ready.item.carried
        if self._mode is ImportMode.SKIP or (self._mode is ImportMode.MERGE and not _is_newer(ready.item, found)):
            return None
        kept = {name: getattr(found, name) for name in ("created_at", "accessed_at", "access_count", "trust", "origin")}
        values = {name: getattr(ready.values, name) for name in _DRAFT}
        after = replace(found, **{**kept, "updated_at": now, "deleted_at": None, **carried, **values, "id": found.id})
        after = replace(after, version=max(found.version + 1, carried.get("version", 1)))
        told = ("version", *(("updated_at",) if "updated_at" not in carried else ()))
        if replace(after, **{name: getattr(found, name) for name in told}) == found:
            return None
        return after

    def _memory(self, ready: Ready, now: datetime) -> Memory:
        carried: dict[str, Any] = dict(ready.item.carried)
        created = carried.setdefault("created_at", carried.get("updated_at", now))
        carried.setdefault("updated_at", created)
        carried.setdefault("origin", Origin.IMPORT)
        carried.setdefault("trust", Trust.CONFIRMED)
        carried.setdefault("id", "")
        carried["id"] = carried["id"] or self._context.new_id()
        return Memory(**carried, **{name: getattr(ready.values, name) for name in _DRAFT})


def _verb(before: Memory, after: Memory) -> Verb:
    if (before.deleted_at is None) == (after.deleted_at is None):
        return Verb.UPDATE
    return Verb.RESTORE if after.deleted_at is None else Verb.DELETE


def _is_newer(item: Item, found: Memory) -> bool:
    """Tell whether an item outdoes what is here.

    A record of ours by its version, then by its time; another one by its time. One that tells no time goes
    by the rule of the gateway that the same key means the same record, unless that was deleted since.
    """
    if item.exact:
        mine = (item.carried["version"], item.carried["updated_at"])
        return bool(mine > (found.version, found.updated_at))
    at = item.carried.get("updated_at", item.carried.get("created_at"))
    return bool(at > found.updated_at) if at is not None else found.deleted_at is None
