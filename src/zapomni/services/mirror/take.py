"""From files to memories: what a reconcile writes into the store, each file with what is agreed of it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from zapomni.errors import Conflict, InvalidInput, ZapomniError
from zapomni.model import Patch, Status, Verb
from zapomni.model.mirror import Agreed, Moves, Removed
from zapomni.services.ahead import Ahead
from zapomni.services.mirror.conflicts import clash, withdraw
from zapomni.services.mirror.look import drop_said, read_said
from zapomni.services.mirror.plan import Act
from zapomni.services.mirror.says import folder_of, said, topic_of
from zapomni.services.mirror.state import FOUND, moved, row_of
from zapomni.services.outdate import outdate
from zapomni.services.prepare import prepare
from zapomni.services.remember import Entry, admit
from zapomni.services.revise import change
from zapomni.text.fold import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zapomni.model import Memory
    from zapomni.services.mirror.judge import Judged
    from zapomni.services.mirror.plan import Pair, Seen
    from zapomni.services.mirror.says import Said
    from zapomni.services.mirror.state import Reconcile
    from zapomni.store.base import Tx

BATCH: Final = 500
"""Files a transaction: a kill loses at most these, and the next scan takes them again."""
_MEANWHILE: Final = "its memory was changed meanwhile; the next scan looks at it again"


def follow(state: Reconcile, pairs: Sequence[Pair]) -> dict[str, Agreed]:
    """Let what is agreed follow the files that are elsewhere now; return it by the path of before.

    What a memory has from the path of its file, its topic path and a title that stands nowhere else, follows too.
    """
    if not pairs:
        return {}
    texts = state.context.store.mirrors.texts(state.source.id, [pair.row.path for pair in pairs])
    followed: dict[str, Agreed] = {}
    over = {pair.file.path for pair in pairs} - {pair.row.path for pair in pairs}
    lost = [state.rows[path] for path in over if path in state.rows]
    with state.writing() as tx:
        for row in lost:
            keep_text(state, tx, row)
        state.forget(tx, [*over, *(pair.row.path for pair in pairs)])
        for row, file in pairs:
            text = texts.get(row.path)
            version = _follow_one(state, tx, row, file.path, text)
            followed[row.path] = replace(row, path=file.path, version=version, clash=None)  # a proposal names the path
            state.agree(tx, followed[row.path], text)
            state.counts["moved"] += 1
        gone = {row.path: row.memory_id for row in lost if row.tied and row.memory_id}
        state.owe(tx, FOUND, Moves(moved={before: row.path for before, row in followed.items()}, gone=gone))
    return followed


def _follow_one(state: Reconcile, tx: Tx, row: Agreed, path: str, text: str | None) -> int:
    """Bring what a memory has from the path of its file to the new one; return the version that is agreed then."""
    memory = tx.get(row.memory_id or "")
    if memory is None or memory.deleted_at is not None or memory.scope != state.source.scope:
        return row.version
    fields = _topic_followed(memory, row.path, path) | _title_followed(memory, row.path, path, text)
    after = _changed(state, tx, memory, fields)
    return after.version if memory.version == row.version else row.version


def _topic_followed(memory: Memory, before: str, path: str) -> dict[str, Any]:
    own = memory.path == topic_of(before) or folder_of(memory.path) == before.rpartition("/")[0]
    return {"path": topic_of(path)} if own and topic_of(path) != topic_of(before) else {}


def _title_followed(memory: Memory, before: str, path: str, text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    with suppress(InvalidInput):
        was, now = said(text, before).draft.title, said(text, path).draft.title
        return {"title": now} if was != now and memory.title == was else {}
    return {}


def take(state: Reconcile, judged: Sequence[Judged]) -> None:
    """Write what files say into their memories, a transaction for each `BATCH`; one that cannot be is named."""
    for start in range(0, len(judged), BATCH):
        with state.writing() as tx:
            for one in judged[start : start + BATCH]:
                path = one.file.path if one.file is not None else one.row.path
                try:
                    _TAKEN[one.act](state, tx, one)
                    if one.row.clash is not None and one.act is not Act.CLASH and one.row.memory_id is not None:
                        withdraw(state, tx, one.row.memory_id)
                except ZapomniError as error:
                    state.skip(path, error.message)


def _agree(state: Reconcile, tx: Tx, one: Judged) -> None:
    assert one.file is not None
    assert one.memory is not None
    row = moved(one.row, one.file, one.memory.version)
    text = state.looked.texts.get(one.file.path)
    if one.now is not None and text is not None:
        row = replace(row, links=one.now.note.links, held=one.now.held)
    state.agree(tx, replace(row, clash=None), text)
    state.counts["unchanged"] += 1


def _take(state: Reconcile, tx: Tx, one: Judged) -> None:
    assert one.file is not None
    assert one.now is not None
    current = _current(tx, one)
    fields = one.now.differs(current)
    if one.base is not None and "title" not in one.now.carried and current.title == one.base.draft.title:
        fields["title"] = one.now.draft.title  # of a note without a header it is its first heading
    after = _changed(state, tx, current, fields)
    state.agree(tx, row_of(one.file, after, one.now), state.looked.texts[one.file.path])
    state.counts["changed"] += 1


def _revive(state: Reconcile, tx: Tx, one: Judged) -> None:
    """Bring back a deleted memory whose file was edited since: nobody's newer words are lost with older ones."""
    assert one.file is not None
    assert one.now is not None
    deleted = tx.get(one.row.memory_id or "")
    if deleted is None or deleted.scope != state.source.scope:
        admit_file(state, tx, one.file, one.now)
        return
    after = revived(state, tx, deleted, one.now)
    state.agree(tx, row_of(one.file, after, one.now), state.looked.texts[one.file.path])
    state.note(one.file.path, f"memory {after.id} was deleted, but its file was edited: it is back")
    state.counts["changed"] += 1


def revived(state: Reconcile, tx: Tx, deleted: Memory, one: Said) -> Memory:
    """Return a deleted memory, undeleted and saying what a note says; raises `Refused` for refused content."""
    now = state.context.clock()
    after = replace(deleted, **one.differs(deleted), deleted_at=None, updated_at=now, version=deleted.version + 1)
    rejection = tx.rejection(after.scope, digest(after.content))
    if rejection is not None:
        raise Conflict(f"its text was refused before by {rejection.actor}: {rejection.reason}")
    tx.put(deleted, after, verb=Verb.RESTORE, actor=state.actor, at=now, run=state.run(tx))
    tx.mirrors.let_go(state.source.id, after.id)
    return after


def _clash(state: Reconcile, tx: Tx, one: Judged) -> None:
    assert one.file is not None
    assert one.now is not None
    clash(state, tx, one.row, one.file, one.now, _current(tx, one))


def _delete(state: Reconcile, tx: Tx, one: Judged) -> None:
    """Delete the memory whose file is gone; the file's words are kept, so that an undo brings both back."""
    if one.row.path not in state.rows:
        return  # another file took its place
    current = _current(tx, one)
    now = state.context.clock()
    after = current.gone(now)
    run = state.run(tx)
    outdate(state.context, tx, current, after, actor=state.actor, at=now, run=run)
    tx.put(current, after, verb=Verb.DELETE, actor=state.actor, at=now, run=run)
    _forget(state, tx, one)
    state.counts["removed"] += 1


def _forget(state: Reconcile, tx: Tx, one: Judged) -> None:
    """Keep the words of a file that is gone; of one that another was moved over, `follow` has done so."""
    state.owe(tx, FOUND, Moves(gone={one.row.path: one.row.memory_id or ""}))
    if state.holds(one.row):
        keep_text(state, tx, one.row)
        state.forget(tx, [one.row.path])


def keep_text(state: Reconcile, tx: Tx, row: Agreed) -> None:
    """Keep the text of a file that goes; one that holds secrets is not kept."""
    text = state.context.store.mirrors.texts(state.source.id, [row.path]).get(row.path)
    if text is not None and row.memory_id is not None and not row.held:
        tx.mirrors.keep(state.source.id, Removed(path=row.path, memory_id=row.memory_id, sha256=row.sha256, text=text))


_TAKEN: Final = {
    Act.AGREE: _agree,
    Act.TAKE: _take,
    Act.CLASH: _clash,
    Act.REVIVE: _revive,
    Act.DELETE: _delete,
    Act.FORGET: _forget,
}
TAKEN: Final = frozenset(_TAKEN)
"""What is done by writing into the store alone."""


def _current(tx: Tx, one: Judged) -> Memory:
    assert one.memory is not None
    current = tx.get(one.memory.id)
    if current is None or current.version != one.memory.version:
        raise Conflict(_MEANWHILE)
    return current


def _changed(state: Reconcile, tx: Tx, current: Memory, fields: dict[str, Any]) -> Memory:
    if not fields:
        return current
    outcome = change(state.context, tx, current, prepare(Patch(**fields)), actor=state.actor, run=state.run(tx))
    return outcome.memory or current


# --- new files ------------------------------------------------------------------------------------------
def admit_new(state: Reconcile, files: Iterable[Seen]) -> None:
    """Make memories of the files that are none yet; what is known of one that cannot be one spares the next look."""
    todo = [file for file in files if not _is_known(state, file)]
    ahead = Ahead(partial(_read_all, state), [todo[start : start + BATCH] for start in range(0, len(todo), BATCH)])
    for batch in ahead:
        with state.writing() as tx:
            tx.meanwhile(ahead.begin)
            for file, problem in batch:
                try:
                    _admit_one(state, tx, file, problem)
                except ZapomniError as error:
                    _pass_over(state, tx, file, error.message)
                drop_said(state.looked, file.path)


def _is_known(state: Reconcile, file: Seen) -> bool:
    """Tell whether a file is as it was when it was no memory; it is named again."""
    row = state.rows.get(file.path)
    if row is None or row.tied or row.sha256 != file.sha256 or row.problem is None:
        return False
    if row.memory_id is not None:
        twin = state.standing.get(row.memory_id)
        if twin is None or twin.deleted or twin.version != row.version:
            return False
    if (row.size, row.modified_ns) != (file.size, file.modified_ns) and row.modified_ns:
        return False
    state.skip(file.path, row.problem)
    return True


def _read_all(state: Reconcile, files: Iterable[Seen]) -> list[tuple[Seen, str | None]]:
    """Read what files say, with what the store will ask of it; return them with why one could not be read."""
    return [(file, _read_one(state, file.path)) for file in files]


def _read_one(state: Reconcile, path: str) -> str | None:
    try:
        read_said(state.looked, path)
    except OSError as error:
        return f"it cannot be read ({error.strerror or error})"
    if path in state.looked.said:
        _ = state.looked.said[path].prepared.indexed
    return None


def _admit_one(state: Reconcile, tx: Tx, file: Seen, problem: str | None) -> None:
    if problem is not None:
        state.skip(file.path, problem)
        return
    one = state.looked.said.get(file.path)
    if one is None:
        _pass_over(state, tx, file, state.looked.broken.get(file.path, "it cannot be read"))
        return
    if one.note.problem is not None:
        state.note(file.path, f"its header cannot be read at {one.note.problem}; it was read as text")
    known = _known_of(state, tx, file)
    if known is None:
        admit_file(state, tx, file, one)
    elif known.deleted_at is not None:
        after = revived(state, tx, known, one)
        state.agree(tx, row_of(file, after, one), state.looked.texts[file.path])
        state.counts["added"] += 1
    elif one.differs(known):
        blank = replace(row_of(file, known, one), sha256="", version=0, size=0, modified_ns=0)
        clash(state, tx, blank, file, one, known)  # nothing was agreed before
    else:
        state.agree(tx, row_of(file, known, one), state.looked.texts[file.path])
        state.counts["added"] += 1


def _known_of(state: Reconcile, tx: Tx, file: Seen) -> Memory | None:
    """Return the memory that a new file names, or whose gone file it is, of those without a file."""
    named = file.claims or state.returning.get(file.sha256)
    claimed = tx.get(named) if named else None
    if claimed is None or claimed.scope != state.source.scope or claimed.id in state.paths:
        return None
    return claimed


def admit_file(state: Reconcile, tx: Tx, file: Seen, one: Said) -> None:
    """Make a memory of a file, or tie it to the one that says the same; a second file of one memory is a copy."""
    entry = Entry(
        prepared=one.prepared,
        scope=state.source.scope,
        actor=state.actor,
        run=state.run(tx),
    )
    outcome = admit(state.context, tx, entry)
    memory = outcome.memory
    if memory is None:
        _pass_over(state, tx, file, "; ".join(outcome.warnings) or "it was refused")
        return
    if outcome.status is Status.DUPLICATE:
        holder = state.paths.get(memory.id)
        if holder is not None and state.is_there(holder):
            _pass_over(state, tx, file, f"it says the same as {holder}, whose memory stands for both", memory)
            return
        memory = _changed(state, tx, memory, one.differs(memory))
    state.agree(tx, row_of(file, memory, one), state.looked.texts[file.path])
    if one.held:
        state.note(file.path, "a secret was cut out of its memory; the file keeps it and is never written")
    state.counts["added"] += 1


def _pass_over(state: Reconcile, tx: Tx, file: Seen, reason: str, twin: Memory | None = None) -> None:
    """Name a file that is no memory, and keep that it is none."""
    state.skip(file.path, reason)
    row = Agreed(
        path=file.path,
        sha256=file.sha256,
        size=file.size,
        modified_ns=file.modified_ns,
        memory_id=twin.id if twin else None,
        version=twin.version if twin else 0,
        problem=reason,
    )
    if state.rows.get(file.path) != row:
        state.agree(tx, row, "")
