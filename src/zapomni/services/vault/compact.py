"""Compacting a mirrored folder in two passes, as proposals: lines that are too long, then copies of one note.

Nothing is written before a person accepts it; then it is one run, and `undo --run` takes it back. A long line is cut at
a word and what it said goes whole into the body, so that nothing is lost and no model is asked. Of notes that say the
same one stays; one that others link to is never merged away (features LC-14, LC-15).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from zapomni.errors import Conflict
from zapomni.files.tree import Tree
from zapomni.model import Patch, Verb
from zapomni.model.mirror import Agreed
from zapomni.model.proposal import ProposalKind
from zapomni.services.find import everything_in
from zapomni.services.mirror.says import said
from zapomni.services.outdate import outdate
from zapomni.services.prepare import prepare
from zapomni.services.remember import entry_of, new_memory
from zapomni.services.review.inbox import STOOD, living, propose
from zapomni.services.revise import change
from zapomni.services.vault.pages import card_of, mark
from zapomni.services.vault.report import duplicates_of, parents_of
from zapomni.text.fold import fold
from zapomni.text.index_page import LINE_LIMIT, parse_index, target_key
from zapomni.text.notes import parse_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zapomni.model import Actor, Memory
    from zapomni.model.document import Source
    from zapomni.model.proposal import Proposal
    from zapomni.services.context import Context
    from zapomni.services.review.inbox import Decision
    from zapomni.services.vault.folder import Folder
    from zapomni.text.index_page import Line

_REMEDY: Final = "Reject the proposal; `zapomni vault compact` makes a new one"


class Shortening(NamedTuple):
    """A memory whose line is too long: what its description becomes, what goes into its body, and the old line."""

    memory: Memory
    path: str
    length: int
    description: str
    moved: tuple[str, ...]
    line: str


class Merging(NamedTuple):
    """Notes that say the same: the one that stays with its memory, and the files that go."""

    memory: Memory
    keep: str
    drop: tuple[str, ...]


class Compaction(Struct, frozen=True, kw_only=True):
    """What a compaction came to: what it would do, the proposals that are new, and the parents it left alone."""

    source: Source
    shorten: tuple[Shortening, ...]
    merge: tuple[Merging, ...]
    spared: tuple[str, ...]
    proposals: tuple[Proposal, ...] = ()


def compaction(context: Context, source: Source, folder: Folder) -> Compaction:
    """Say what could be shortened and merged in a mirrored folder."""
    rows = context.store.mirrors.agreed(source.id)
    ids = {path: row.memory_id for path, row in rows.items() if row.memory_id}
    found = context.store.get(list(ids.values()), everything_in((source.scope,)))
    by_id = {memory.id: memory for memory in found}
    memories = {path: by_id[one] for path, one in ids.items() if one in by_id and rows[path].tied}
    parents = {path for path, _ in parents_of(folder.notes)}
    merges, spared = _merges(folder, memories, parents)
    shorten = tuple(_shortenings(folder, memories))
    return Compaction(source=source, shorten=shorten, merge=tuple(merges), spared=tuple(spared))


def file_proposals(context: Context, found: Compaction, folder: Folder, *, actor: Actor) -> Compaction:
    """Put what was found into the inbox, what is open there already or was rejected left out.

    Each keeps how the notes and their lines in the index stand now: undoing it brings the lines back too.
    """
    marks = {note.path: note.sha256 for note in folder.notes}
    lines = {key: _written(line) for key, line in _lines(folder).items()}
    told = [(*_told_shortening(one), [one.path]) for one in found.shorten]
    told += [(*rest, list(one.drop)) for one, rest in zip(found.merge, _told_merges(found, marks), strict=True)]
    filed: list[Proposal | None] = []
    with context.store.write() as tx:
        for kind, memories, reason, detail, paths in told:
            stood = [
                {"line": lines[target_key(path)], "sha256": marks[path]} for path in paths if target_key(path) in lines
            ]
            filed.append(
                propose(
                    context,
                    tx,
                    kind,
                    scope=found.source.scope,
                    memories=memories,
                    reason=reason,
                    detail=detail | ({STOOD: stood} if stood else {}),
                    actor=actor,
                )
            )
    return replace(found, proposals=tuple(one for one in filed if one is not None))


# --- finding ----------------------------------------------------------------------------------------------
def _shortenings(folder: Folder, memories: Mapping[str, Memory]) -> Iterator[Shortening]:
    """Yield the memories whose description or line in the index is longer than a line may be, the longest first."""
    lines = _lines(folder)
    found = []
    for path, memory in memories.items():
        line = lines.get(target_key(path))
        written = _written(line)
        length = max(len(written), len(memory.description))
        if length > LINE_LIMIT:
            short = card_of(path, memory).entry.hook if len(memory.description) > LINE_LIMIT else memory.description
            told = [memory.description if short != memory.description else ""]
            told += [line.entry.hook] if line is not None and line.entry and len(written) > LINE_LIMIT else []
            moved = tuple(dict.fromkeys(one for one in told if one and not _holds(memory.content, one)))
            found.append(Shortening(memory, path, length, short, moved, written if len(written) > LINE_LIMIT else ""))
    yield from sorted(found, key=lambda one: (-one.length, one.path))


def _lines(folder: Folder) -> dict[str, Line]:
    """Return the line of each file that has one in the index."""
    every = (line for text in folder.pages.values() for line in parse_index(text).entries)
    return {target_key(line.entry.target): line for line in every if line.entry}


def _written(line: Line | None) -> str:
    return line.words if line is not None else ""


def _merges(folder: Folder, memories: Mapping[str, Memory], parents: set[str]) -> tuple[list[Merging], list[str]]:
    merges: list[Merging] = []
    spared: list[str] = []
    for group in duplicates_of(folder.notes):
        known = sorted((path for path in group if path in memories), key=lambda path: (path not in parents, path))
        if not known:
            continue
        keep = known[0]
        spared += [path for path in group if path in parents and path != keep]
        drop = tuple(path for path in group if path != keep and path not in parents)
        if drop:
            merges.append(Merging(memories[keep], keep, drop))
    return merges, spared


def _holds(body: str, text: str) -> bool:
    return " ".join(fold(text).split()) in " ".join(fold(body).split())


# --- telling ----------------------------------------------------------------------------------------------
def _told_shortening(one: Shortening) -> tuple[ProposalKind, list[str], str, dict[str, Any]]:
    words = "its words go into the body" if one.moved else "the body says the rest already"
    reason = f"{one.path}: {one.length} characters in its line, {LINE_LIMIT} are read well; {words}"
    detail = {"from": one.memory.description, "description": one.description, "moved": [*one.moved], "line": one.line}
    return ProposalKind.SHORTEN, [one.memory.id], reason, detail


def _told_merges(
    found: Compaction, marks: Mapping[str, str]
) -> Iterator[tuple[ProposalKind, list[str], str, dict[str, Any]]]:
    for one in found.merge:
        drop = [{"path": path, "sha256": marks[path]} for path in one.drop]
        detail = {"source": found.source.id, "root": found.source.root, "keep": one.keep, "drop": drop}
        reason = f"{', '.join(one.drop)} say{'s' if len(drop) == 1 else ''} the same as {one.keep}, which stays"
        yield ProposalKind.MERGE, [one.memory.id], reason, detail


# --- doing ------------------------------------------------------------------------------------------------
def shorten(context: Context, proposal: Proposal, decision: Decision) -> None:
    """Cut a description at a word and put what it said into the body.

    Raises `NotFound` for a memory that is gone, `Conflict` when its description was changed since.
    """
    (memory,) = living(decision.tx, proposal)
    detail = proposal.detail
    if memory.description != detail["from"]:
        raise Conflict(f"the description of memory {memory.id} was changed since", remedy=_REMEDY)
    content = _with_lines(memory.content, detail["moved"])
    patch = prepare(Patch(description=str(detail["description"]), content=content))
    change(context, decision.tx, memory, patch, actor=decision.actor, run=decision.run)


def merge(context: Context, proposal: Proposal, decision: Decision) -> None:
    """Let one note stand for its copies, whose files go at the next scan, and keep what they were found by.

    Their tags come to those of the note, their descriptions into its body. Each copy becomes a deleted memory, so that
    undoing the run brings its file back. Raises `Conflict` for a copy that was changed since.
    """
    (memory,) = living(decision.tx, proposal)
    source_id, root = str(proposal.detail["source"]), str(proposal.detail["root"])
    rows = context.store.mirrors.agreed(source_id)
    found_by: list[str] = []
    tags = list(memory.tags)
    for path, sha256 in ((str(one["path"]), str(one["sha256"])) for one in proposal.detail["drop"]):
        text = _unchanged(root, path, sha256)
        note = parse_note(text)
        tags += note.tags or ()
        if note.description and note.description != memory.description:
            found_by.append(note.description)
        _drop(context, decision, source_id, rows.get(path), path, text, memory)
    content = _with_lines(memory.content, [one for one in found_by if not _holds(memory.content, one)])
    patch = prepare(Patch(content=content, tags=tuple(dict.fromkeys(tags))))
    change(context, decision.tx, memory, patch, actor=decision.actor, run=decision.run)


def _drop(
    context: Context,
    decision: Decision,
    source_id: str,
    row: Agreed | None,
    path: str,
    text: str,
    kept: Memory,
) -> None:
    """Delete the memory of a file; a copy that had none gets one first, by which the next scan removes its file."""
    now, tx = context.clock(), decision.tx
    memory = tx.get(row.memory_id or "") if row is not None and row.tied else None
    if memory is None:
        draft = replace(said(text, path).draft, scope=kept.scope)
        memory = new_memory(context, entry_of(context, draft, actor=decision.actor))
        tx.put(None, memory, verb=Verb.CREATE, actor=decision.actor, at=now)
        made = Agreed(path=path, sha256=mark(text), memory_id=memory.id, version=memory.version)
        tx.mirrors.agree(source_id, made, text)
    after = memory.gone(now)
    outdate(context, tx, memory, after, actor=decision.actor, at=now, run=decision.run)
    tx.put(memory, after, verb=Verb.DELETE, actor=decision.actor, at=now, run=decision.run)


def _with_lines(content: str, lines: Sequence[str]) -> str:
    return "\n\n".join((content.rstrip(), *lines)) if lines else content


def _unchanged(root: str, path: str, sha256: str) -> str:
    try:
        with Tree(root).open(path) as file:
            text = file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Conflict(
            f"{path} cannot be read any more ({getattr(error, 'strerror', None) or 'it is not UTF-8'})", remedy=_REMEDY
        ) from None
    if mark(text) != sha256:
        raise Conflict(f"{path} was changed since", remedy=_REMEDY)
    return text
