"""From memories to files: what a reconcile writes into the folder, and then what is agreed of it.

A file is written first and agreed on afterwards: after a crash between the two both sides say the same, which the next
reconcile finds out. A file that goes is kept in the store first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from zapomni.errors import InvalidInput, ZapomniError
from zapomni.files.writing import move_file, remove_file, write_file
from zapomni.model.mirror import Moves
from zapomni.services.mirror.look import read_said
from zapomni.services.mirror.plan import Act, Seen, free_path, path_key
from zapomni.services.mirror.says import folder_of, name_of, note_fields, note_of, said, topic_of
from zapomni.services.mirror.state import DONE, row_of
from zapomni.services.mirror.take import keep_text
from zapomni.text.notes import edited_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zapomni.model import Memory
    from zapomni.model.mirror import Agreed
    from zapomni.services.mirror.judge import Judged
    from zapomni.services.mirror.state import Reconcile

BATCH: Final = 100
"""Files that are written before what they say is agreed on in one transaction."""
GIVEN: Final = frozenset({Act.WRITE, Act.REWRITE, Act.DROP})
"""What is done by writing into the folder."""


_ROUNDS: Final = 2
"""A new body can bring another first heading, which is the title where no name says it: that is written then."""


class _Wish(NamedTuple):
    """A file that is to be written: its new text, and the bytes that it replaces, None for a new one."""

    path: str
    memory: Memory
    text: str
    was: str | None


def give(state: Reconcile, judged: Sequence[Judged]) -> None:
    """Write what memories say into their files, and remove the files whose memories are gone."""
    wishes = []
    for one in judged:
        if one.act is Act.WRITE and (wish := _edited(state, one)):
            wishes.append(wish)
        if one.act is Act.REWRITE and one.memory is not None:
            wishes.append(_again(state, one.memory, one.row))
    _write_all(state, wishes)
    _drop_all(state, [one.row for one in judged if one.act is Act.DROP])


def move_files(state: Reconcile, judged: Sequence[Judged]) -> None:
    """Move the files whose memories have another topic path than was agreed into its folder."""
    moved_to: list[tuple[Agreed, str]] = []
    for one in judged:
        row = state.rows.get(one.file.path) if one.file is not None else None
        to = _home_of(state, row, one.memory) if row is not None and one.memory is not None else None
        if row is not None and to is not None:
            try:
                move_file(state.looked.tree, row.path, to, was=row.sha256)
                moved_to.append((row, to))
            except ZapomniError as error:
                state.skip(row.path, error.message)
    if not moved_to:
        return
    texts = state.context.store.mirrors.texts(state.source.id, [row.path for row, _ in moved_to])
    moves = {row.path: to for row, to in moved_to}
    with state.writing() as tx:
        state.forget(tx, list(moves))
        for row, to in moved_to:
            state.agree(tx, replace(row, path=to), texts.get(row.path))
        state.owe(tx, DONE, Moves(moved=moves))
    state.counts["written"] += len(moved_to)
    state.edited = [moves.get(path, path) for path in state.edited]


def _home_of(state: Reconcile, row: Agreed, memory: Memory) -> str | None:
    """Return where the file of a memory belongs, None when it is there: a person may name folders at will."""
    folder, _, name = row.path.rpartition("/")
    wanted = folder_of(memory.path)
    if row.held or not row.tied or row.memory_id != memory.id or memory.path == topic_of(row.path) or wanted == folder:
        return None
    path = free_path(f"{wanted}/{name}".lstrip("/"), state.taken)
    state.taken.add(path_key(path))
    return path


def make_files(state: Reconcile) -> None:
    """Write a file for each memory of the scope that has none."""
    ids = [memory_id for memory_id, one in state.standing.items() if not one.deleted and memory_id not in state.paths]
    wanted = [memory_id for memory_id in ids if state.standing[memory_id].shown or memory_id in state.removed]
    for start in range(0, len(wanted), BATCH):
        found = state.memories(wanted[start : start + BATCH])
        lacking = [memory for memory in found.values() if memory.deleted_at is None]
        _write_all(state, [_made(state, memory) for memory in lacking])


def _edited(state: Reconcile, one: Judged) -> _Wish | None:
    """Return a file with what its memory says; one in which that cannot be written safely is named and stays."""
    assert one.file is not None
    assert one.memory is not None
    try:
        read_said(state.looked, one.file.path)
        text = _saying(state.looked.texts[one.file.path], one.file.path, one.memory)
        return _Wish(one.file.path, one.memory, text, one.file.sha256)
    except (InvalidInput, KeyError, OSError) as error:
        why = error.message if isinstance(error, InvalidInput) else "it cannot be read"
        state.skip(one.file.path, f"the change of memory {one.memory.id} was not written into it: {why}")
        return None


def _saying(text: str, path: str, memory: Memory) -> str:
    """Return a note with what a memory says, and nothing else changed.

    Raises `InvalidInput` when that cannot be written, or would be read back as something else: that would never end.
    """
    for _ in range(_ROUNDS):
        fields = said(text, path).wanted(memory)
        if not fields:
            return text
        text = edited_note(text, **note_fields(fields))
    one = said(text, path)
    if one.differs(memory) or one.held:
        raise InvalidInput("content", "it would be read as something else")
    return text


def _again(state: Reconcile, memory: Memory, row: Agreed) -> _Wish:
    """Return the file that a memory had, with what the memory says now."""
    if not state.holds(row):
        return _made(state, memory)
    kept = state.context.store.mirrors.texts(state.source.id, [row.path]).get(row.path)
    return _renewed(state, memory, row.path, None if row.held else kept)


def _made(state: Reconcile, memory: Memory) -> _Wish:
    """Return a new file for a memory, or the one that it had before it was deleted."""
    kept = state.context.store.mirrors.removed_file(state.source.id, memory.id)
    if kept is not None:
        return _renewed(state, memory, kept.path, kept.text)
    folder = folder_of(memory.path)
    return _renewed(state, memory, f"{folder}/{name_of(memory)}.md".lstrip("/"), None)


def _renewed(state: Reconcile, memory: Memory, wanted: str, kept: str | None) -> _Wish:
    path = free_path(wanted, state.taken)
    state.taken.add(path_key(path))
    text = None
    if kept is not None:
        try:
            text = _saying(kept, path, memory)
        except InvalidInput:
            text = None
    if text is None:
        text = note_of(memory, path.rpartition("/")[2].removesuffix(".md"))
    return _Wish(path, memory, text, None)


def _write_all(state: Reconcile, wishes: Sequence[_Wish]) -> None:
    for start in range(0, len(wishes), BATCH):
        written: list[tuple[_Wish, Seen]] = []
        for wish in wishes[start : start + BATCH]:
            try:
                written.append((wish, _written(state, wish)))
            except ZapomniError as error:
                state.skip(wish.path, error.message)
        _agree_on(state, written)


def _written(state: Reconcile, wish: _Wish) -> Seen:
    from hashlib import sha256

    data = wish.text.encode()
    info = write_file(state.looked.tree, wish.path, data, was=wish.was)
    state.counts["written"] += 1
    (state.made if wish.was is None else state.edited).append(wish.path)
    return Seen(path=wish.path, sha256=sha256(data).hexdigest(), size=info.st_size, modified_ns=info.st_mtime_ns)


def _agree_on(state: Reconcile, written: Iterable[tuple[_Wish, Seen]]) -> None:
    todo = list(written)
    if not todo:
        return
    with state.writing() as tx:
        for wish, file in todo:
            one = said(wish.text, wish.path)
            state.agree(tx, row_of(file, wish.memory, one), wish.text)
            tx.mirrors.let_go(state.source.id, wish.memory.id)


def _drop_all(state: Reconcile, rows: Sequence[Agreed]) -> None:
    """Remove the files of memories that are gone; what they say is kept before that."""
    if not rows:
        return
    with state.writing() as tx:
        for row in rows:
            keep_text(state, tx, row)
    gone: dict[str, str] = {}
    for row in rows:
        try:
            remove_file(state.looked.tree, row.path, was=row.sha256)
            gone[row.path] = row.memory_id or ""
        except ZapomniError as error:
            state.skip(row.path, error.message)
    state.counts["dropped"] += len(gone)
    if gone:
        with state.writing() as tx:
            state.forget(tx, gone)
            state.owe(tx, DONE, Moves(gone=gone))
