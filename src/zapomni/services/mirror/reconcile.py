"""Sources in `mirror` mode: a folder of notes and the memories of a scope, kept in step both ways.

What was agreed last stands in the store, written with the memories in one transaction: a scan that is killed goes on
where it was. Files are read first; what then differs in a memory is written into its file, and into no other.
"""

from __future__ import annotations

from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from zapomni.errors import ZapomniError
from zapomni.model.document import SCANNED_ELSEWHERE, Scanned, Skipped, SourceStatus
from zapomni.services.documents.scan import GONE_FEWEST, GONE_SHARE, too_much
from zapomni.services.mirror.conflicts import name_clash, reopen, sides
from zapomni.services.mirror.give import GIVEN, give, make_files, move_files
from zapomni.services.mirror.judge import judge
from zapomni.services.mirror.look import LEAF, look, skipped, walked
from zapomni.services.mirror.plan import Act, Pair, Pairing, pair_up
from zapomni.services.mirror.state import Reconcile
from zapomni.services.mirror.take import TAKEN, admit_new, follow, take
from zapomni.services.vault.keep import Changes, keep_index
from zapomni.text.index_cut import INDEX

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zapomni.model import Actor
    from zapomni.model.document import Source
    from zapomni.services.context import Context
    from zapomni.services.mirror.judge import Judged
    from zapomni.settings import IndexSettings

    Progress = Callable[[int, int], None]

LOCK: Final = "mirror"
"""The lock of the one process that reconciles folders."""
_RENEWED: Final = frozenset({Act.AGREE, Act.WRITE, Act.TAKE})
_LAST: Final = frozenset({Act.DELETE, Act.FORGET})


def scan_mirror(
    context: Context,
    source: Source,
    *,
    actor: Actor,
    index: IndexSettings,
    rest_s: float = 0.0,
    accept_removals: bool = False,
    progress: Progress | None = None,
) -> Scanned:
    """Bring a folder and the memories of its scope to say the same, and say what that came to.

    What changes in memories is one run. A file that cannot be a memory, or cannot be written, costs nothing but
    itself. When too much is gone at once on either side, nothing is removed from the other and nothing is written.
    While another process does this, that is the answer's `problem`.
    """
    with context.store.worker_lock(LOCK) as mine:
        if not mine:
            return Scanned(source=source, problem=SCANNED_ELSEWHERE)
        try:
            scanned = _reconcile(context, source, actor, index, rest_s, progress, accept_removals=accept_removals)
        except ZapomniError as error:
            scanned = Scanned(source=source, problem=error.message)
        at = context.clock()
        context.store.documents.mark_scanned(source.id, at, scanned.problem)
        return replace(scanned, source=replace(source, scanned_at=at, problem=scanned.problem))


def mirrored_status(context: Context, source: Source) -> SourceStatus:
    """Return how many files of a source are memories; `skipped` names those that are none and those that wait."""
    rows = context.store.mirrors.agreed(source.id).values()
    named = [Skipped(path=row.path, reason=row.problem) for row in rows if row.problem not in {None, LEAF}]
    named += [Skipped(path=row.path, reason="both sides were edited") for row in rows if row.clash is not None]
    with suppress(ZapomniError):  # a folder that is away has its problem beside it
        named += walked(source).skipped
    return SourceStatus(
        source=source,
        documents=sum(row.tied for row in rows),
        chunks=0,
        waiting=0,
        skipped=tuple(sorted(named, key=attrgetter("path"))),
    )


def _reconcile(
    context: Context,
    source: Source,
    actor: Actor,
    index: IndexSettings,
    rest_s: float,
    progress: Progress | None,
    *,
    accept_removals: bool,
) -> Scanned:
    mirrors = context.store.mirrors
    standing, rows = mirrors.standing(source.scope), mirrors.agreed(source.id)
    looked = look(source, rows, clock=context.clock, rest_s=rest_s, progress=progress)
    state = Reconcile(context, source, looked, rows, standing, actor)
    _settle_page(state, index)
    reopen(state)
    pairing = _followed(state, pair_up(state.rows, looked.seen.values(), looked.hides))
    judged = judge(state, pairing)
    take(state, [one for one in judged if one.act in TAKEN - _LAST and not _is_named(state, one)])
    admit_new(state, pairing.new)
    left = [one for one in judged if one.row.path in state.rows]
    problem = None if accept_removals else _too_much(state, left)
    if problem is None:
        take(state, [one for one in left if one.act in _LAST])
        give(state, [one for one in left if one.act in GIVEN])
        move_files(state, [one for one in left if one.act in _RENEWED])
        make_files(state)
    _forget_others(state)
    _name_left(state, judged)
    _keep_page(state, index)
    return Scanned(
        source=source,
        read=looked.read,
        excluded=looked.walk.excluded,
        skipped=tuple(sorted([*state.skipped, *skipped(looked)], key=attrgetter("path"))),
        notes=tuple(state.notes),
        problem=problem,
        waits=None,
        **state.counts,
    )


def _followed(state: Reconcile, pairing: Pairing) -> Pairing:
    """Let what is agreed follow the files that moved, before anything else."""
    away = [pair for pair in pairing.pairs if pair.row.path != pair.file.path]
    rows = follow(state, away)
    pairs = tuple(Pair(rows.get(pair.row.path, pair.row), pair.file) for pair in pairing.pairs)
    return replace(pairing, pairs=pairs)


def _is_named(state: Reconcile, one: Judged) -> bool:
    """Tell whether these are two sides that wait for a person already, and name them again."""
    if one.act is not Act.CLASH or one.file is None or one.memory is None:
        return False
    if one.row.clash != sides(one.file, one.memory):
        return False
    name_clash(state, one.file.path, one.memory)
    return True


def _too_much(state: Reconcile, judged: Sequence[Judged]) -> str | None:
    """Say why nothing is removed when so many files, or so many memories of files, are gone at once."""
    known = sum(row.tied for row in state.rows.values())
    lost = sum(one.act is Act.DELETE for one in judged)
    if problem := too_much(lost, known, state.looked.walk):
        return problem
    dropped = sum(one.act is Act.DROP for one in judged)
    if dropped >= GONE_FEWEST and dropped >= GONE_SHARE * known:
        return f"{dropped} of {known} memories are gone; no file was removed, for that may be a mistake"
    return None


def _settle_page(state: Reconcile, index: IndexSettings) -> None:
    """Let the index follow what a scan that was killed had agreed on; the line of a file that is there by now stays."""
    owed = state.context.store.mirrors.owed(state.source.id)
    came = {to for moves in owed.values() for to in moves.moved.values()}
    still = {
        step: replace(moves, gone={p: one for p, one in moves.gone.items() if p in came or not state.is_there(p)})
        for step, moves in owed.items()
    }
    if still:
        keep_index(state.context, state.source, index, Changes(owed=still))


def _keep_page(state: Reconcile, index: IndexSettings) -> None:
    """Let the index of the folder follow its files."""
    owed = state.context.store.mirrors.owed(state.source.id)
    kept = keep_index(state.context, state.source, index, Changes(owed=owed, made=state.made, edited=state.edited))
    state.notes += [Skipped(path=INDEX, reason=warning) for warning in kept.warnings]


def _forget_others(state: Reconcile) -> None:
    """Forget what was kept of files that were no memories and are gone."""
    gone = [path for path, row in state.rows.items() if not row.tied and not state.is_there(path)]
    if gone:
        with state.writing() as tx:
            state.forget(tx, gone)


def _name_left(state: Reconcile, judged: Sequence[Judged]) -> None:
    """Name the files that stay as they are although their memory is another."""
    for one in judged:
        if one.act is Act.LEAVE and one.file is not None:
            broken = state.looked.broken.get(one.file.path)
            reason = broken or "it holds a secret, so what changed in its memory is not written into it"
            state.skip(one.file.path, reason)
