"""What happened to each file and its memory since they agreed, and what is to be done about it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from zapomni.errors import InvalidInput
from zapomni.services.mirror.look import read_said
from zapomni.services.mirror.plan import Act, Case, decide
from zapomni.services.mirror.says import said

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zapomni.model import Memory
    from zapomni.model.mirror import Agreed
    from zapomni.services.mirror.plan import Pairing, Seen
    from zapomni.services.mirror.says import Said
    from zapomni.services.mirror.state import Reconcile


class Judged(NamedTuple):
    """One file and its memory: what was agreed, both as they are now, what each said and says, and what to do.

    `file` is None when it is gone, `memory` when it was erased or belongs to another scope. `base` is what the file
    said when it was agreed, None when nobody knows any more; `now` what it says, None when it is no memory.
    """

    row: Agreed
    file: Seen | None
    memory: Memory | None
    base: Said | None
    now: Said | None
    act: Act


def judge(state: Reconcile, pairing: Pairing) -> list[Judged]:
    """Judge every file that is known, and every one that is gone; those of which nothing changed are counted alone."""
    both: list[tuple[Agreed, Seen | None]] = [(pair.row, pair.file) for pair in pairing.pairs]
    both += [(row, None) for row in pairing.gone]
    todo = [(row, file) for row, file in both if not _is_still(state, row, file)]
    state.counts["unchanged"] += len(both) - len(todo)
    memories = state.memories(row.memory_id for row, _ in todo if row.memory_id is not None)
    bases = _bases(state, [row.path for row, _ in todo])
    return [_judged(state, row, file, memories, bases) for row, file in todo]


def _is_still(state: Reconcile, row: Agreed, file: Seen | None) -> bool:
    """Tell whether neither a file nor its memory is another than was agreed."""
    standing = state.standing.get(row.memory_id or "")
    return (
        file is not None
        and standing is not None
        and (standing.version, standing.deleted) == (row.version, False)
        and (file.path, file.sha256, file.size, file.modified_ns) == (row.path, row.sha256, row.size, row.modified_ns)
        and row.clash is None
    )


def _bases(state: Reconcile, paths: Iterable[str]) -> dict[str, Said]:
    """Return what files said when they were agreed."""
    found: dict[str, Said] = {}
    for path, text in state.context.store.mirrors.texts(state.source.id, paths).items():
        with suppress(InvalidInput):
            found[path] = said(text, path)
    return found


def _judged(
    state: Reconcile,
    row: Agreed,
    file: Seen | None,
    memories: Mapping[str, Memory],
    bases: Mapping[str, Said],
) -> Judged:
    memory, base = memories.get(row.memory_id or ""), bases.get(row.path)
    alive = memory is not None and memory.deleted_at is None
    if file is None:
        changed = alive and _is_changed(row, memory, base)
        act = decide(Case(there=False, alive=alive, changed=changed))
        return Judged(row, None, memory, base, None, act)
    same = file.sha256 == row.sha256
    if not same:
        read_said(state.looked, file.path)
    now = state.looked.said.get(file.path) if not same else base
    usable = same or now is not None
    case = Case(
        there=True,
        alive=alive,
        edited=not same and (not alive or now is None or base is None or not now.says_as(base)),
        changed=alive and _is_changed(row, memory, base),
        alike=alive and _is_alike(row, memory, None if same and memory and memory.version == row.version else now),
        renewed=_is_renewed(row, file, memory),
        usable=usable,
        held=row.held or (now is not None and now.held),
    )
    return Judged(row, file, memory, base, now, decide(case))


def _is_changed(row: Agreed, memory: Memory | None, base: Said | None) -> bool:
    """Tell whether a memory says something else than was agreed, in what its file carries."""
    if memory is None or memory.version == row.version:
        return False
    return base is None or bool(base.differs(memory))


def _is_alike(row: Agreed, memory: Memory | None, now: Said | None) -> bool:
    if memory is None:
        return False
    return memory.version == row.version if now is None else not now.differs(memory)


def _is_renewed(row: Agreed, file: Seen, memory: Memory | None) -> bool:
    """Tell whether anything of what is agreed has to be written anew."""
    known = (row.path, row.sha256, row.size, row.modified_ns, row.version, row.clash)
    return known != (file.path, file.sha256, file.size, file.modified_ns, memory.version if memory else 0, None)
